// Kubernetes' own decoders behind a pipe: one JSON question a line, one answer a line.
//
// A question is either a body ("json", "yaml", "protobuf") of some kind, or a seed ("fill") from which an object of
// that kind is made. The answer shows the object as the API server would after storing it, in JSON and in protobuf,
// or the words with which the body is refused.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/randfill"
)

type question struct {
	How     string `json:"how"`
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
	Body    []byte `json:"body"`
	Seed    int64  `json:"seed"`
}

type answer struct {
	Object   json.RawMessage `json:"object,omitempty"`
	Protobuf []byte          `json:"protobuf,omitempty"`
	Error    string          `json:"error,omitempty"`
	Strict   []string        `json:"strict,omitempty"`
}

func fill(object runtime.Object, seed int64) {
	filler := randfill.NewWithSeed(seed).NilChance(0.5).NumElements(1, 2).MaxDepth(12).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			texts := []string{"1", "500m", "1Gi", "1500Mi", "2e3", "100", "3k", "0", "7n"}
			*q = resource.MustParse(texts[c.Intn(len(texts))])
		},
		func(t *metav1.Time, c randfill.Continue) {
			*t = metav1.Time{Time: time.Unix(c.Int63n(4_000_000_000), 0)}
		},
		func(t *metav1.MicroTime, c randfill.Continue) {
			*t = metav1.MicroTime{Time: time.Unix(c.Int63n(4_000_000_000), c.Int63n(1_000_000)*1000)}
		},
		func(i *intstr.IntOrString, c randfill.Continue) {
			if *i = intstr.FromInt32(int32(c.Intn(100)) - 50); c.Bool() {
				*i = intstr.FromString("10%")
			}
		},
		func(f *metav1.FieldsV1, c randfill.Continue) { f.Raw = []byte(`{"f:metadata":{"f:name":{}}}`) },
		func(r *runtime.RawExtension, c randfill.Continue) {
			r.Raw = []byte(`{"apiVersion":"v1","kind":"ConfigMap","n":[1,2.5,null]}`)
		},
		func(j *apiextensions.JSON, c randfill.Continue) {
			texts := []string{`{"a":[1,"b"]}`, `3`, `"x"`, `false`}
			j.Raw = []byte(texts[c.Intn(len(texts))])
		},
		func(s *apiextensions.JSONSchemaPropsOrBool, c randfill.Continue) {
			if s.Allows = c.Bool(); s.Allows && c.Bool() {
				s.Schema = &apiextensions.JSONSchemaProps{Type: c.String(0)}
			}
		},
		func(s *apiextensions.JSONSchemaPropsOrArray, c randfill.Continue) {
			if s.Schema = nil; c.Bool() {
				s.Schema = &apiextensions.JSONSchemaProps{Type: c.String(0)}
			} else {
				s.JSONSchemas = []apiextensions.JSONSchemaProps{{Type: "string"}, {Nullable: true}}
			}
		},
		func(s *apiextensions.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			if s.Property = nil; c.Bool() {
				s.Property = []string{c.String(0), "b"}
			} else {
				s.Schema = &apiextensions.JSONSchemaProps{Type: "object"}
			}
		},
	)
	filler.Fill(object)
}

func answerTo(asked question) answer {
	kind := schema.GroupVersionKind{Group: asked.Group, Version: asked.Version, Kind: asked.Kind}
	asProtobuf := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	options := jsonserializer.SerializerOptions{Strict: true, Yaml: asked.How == "yaml"}
	read := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, options)
	write := jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, jsonserializer.SerializerOptions{})
	var given answer
	var object runtime.Object
	var err error
	switch asked.How {
	case "fill":
		object, err = scheme.Scheme.New(kind)
		if err == nil {
			fill(object, asked.Seed)
		}
	case "protobuf":
		object, _, err = asProtobuf.Decode(asked.Body, &kind, nil)
	default:
		object, _, err = read.Decode(asked.Body, &kind, nil)
	}
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, each := range strict.Errors() {
			given.Strict = append(given.Strict, each.Error())
		}
	} else if err != nil {
		return answer{Error: err.Error()}
	}
	object.GetObjectKind().SetGroupVersionKind(kind)
	var stored, shown bytes.Buffer
	if err := asProtobuf.Encode(object, &stored); err != nil {
		return answer{Error: "encode: " + err.Error()}
	}
	loaded, _, err := asProtobuf.Decode(stored.Bytes(), &kind, nil)
	if err != nil {
		return answer{Error: "load: " + err.Error()}
	}
	loaded.GetObjectKind().SetGroupVersionKind(kind)
	if err := write.Encode(loaded, &shown); err != nil {
		return answer{Error: "encode: " + err.Error()}
	}
	given.Object, given.Protobuf = shown.Bytes(), stored.Bytes()
	return given
}

func main() {
	apiextensions.AddToScheme(scheme.Scheme)
	apiregistration.AddToScheme(scheme.Scheme)
	lines := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			out.Encode(answer{Error: "question: " + err.Error()})
			continue
		}
		out.Encode(answerTo(asked))
	}
}
