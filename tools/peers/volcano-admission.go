// Asks Volcano's own webhooks about queues and PodGroups, and its scheduler how it reads pods. On each line of the input
// is a List as JSON; its objects are created one after the other, in a cluster that has nothing but Volcano's own queues.
// For each there is a line with the answer, as JSON: what was refused and why, and what the pods are to the scheduler.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admission/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"volcano.sh/apis/pkg/apis/scheduling/v1beta1"
	"volcano.sh/apis/pkg/client/clientset/versioned/fake"
	"volcano.sh/apis/pkg/client/informers/externalversions"
	"volcano.sh/volcano/cmd/webhook-manager/app/options"
	"volcano.sh/volcano/pkg/scheduler/api"
	_ "volcano.sh/volcano/pkg/webhooks/admission/podgroups/validate"
	_ "volcano.sh/volcano/pkg/webhooks/admission/pods/validate"
	_ "volcano.sh/volcano/pkg/webhooks/admission/queues/mutate"
	_ "volcano.sh/volcano/pkg/webhooks/admission/queues/validate"
	"volcano.sh/volcano/pkg/webhooks/router"
)

const (
	longestLine = 16 << 20
	paths       = "/queues/mutate,/queues/validate,/podgroups/validate,/pods/validate"
)

var resources = map[string]metav1.GroupVersionResource{
	"Queue":    {Group: v1beta1.GroupName, Version: "v1beta1", Resource: "queues"},
	"PodGroup": {Group: v1beta1.GroupName, Version: "v1beta1", Resource: "podgroups"},
	"Pod":      {Version: "v1", Resource: "pods"},
}

// What a pod is to the scheduler. CPU is in thousandths of a core.
type task struct {
	Pod         string             `json:"pod"`
	PodGroup    string             `json:"podGroup"`
	Role        string             `json:"role"`
	Preemptable bool               `json:"preemptable"`
	Requests    map[string]float64 `json:"requests"`
}

type answer struct {
	Refused []string `json:"refused"`
	Tasks   []task   `json:"tasks"`
}

type cluster struct {
	services map[string]*router.AdmissionService
	queues   cache.SharedIndexInformer
}

// A cluster as it is after Volcano's installation.
func newCluster() (*cluster, error) {
	informer := externalversions.NewSharedInformerFactory(fake.NewSimpleClientset(), 0).Scheduling().V1beta1().Queues()
	made := &cluster{services: map[string]*router.AdmissionService{}, queues: informer.Informer()}
	indexers := cache.Indexers{router.QueueParentIndexName: router.QueueParentIndexFunc}
	if err := made.queues.AddIndexers(indexers); err != nil {
		return nil, err
	}
	for name, parent := range map[string]string{"root": "", "default": "root"} {
		queue := &v1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta1.QueueSpec{Parent: parent}}
		if err := made.open(queue); err != nil {
			return nil, err
		}
	}
	usual := options.NewConfig()
	usual.AddFlags(pflag.NewFlagSet("usual", pflag.ContinueOnError))
	err := router.ForEachAdmission(&options.Config{EnabledAdmission: paths}, func(service *router.AdmissionService) error {
		if service.Config != nil {
			service.Config.SchedulerNames = usual.SchedulerNames
			service.Config.QueueLister = informer.Lister()
			service.Config.QueueInformer = made.queues
		}
		made.services[service.Path] = service
		return nil
	})
	return made, err
}

func (c *cluster) open(queue *v1beta1.Queue) error {
	queue.Status.State = v1beta1.QueueStateOpen
	return c.queues.GetIndexer().Add(queue)
}

// What the webhooks have against an object; nothing where it is taken.
func (c *cluster) create(kind string, raw []byte) string {
	resource, known := resources[kind]
	if !known {
		return ""
	}
	request := &admissionv1.AdmissionRequest{
		Operation: admissionv1.Create,
		Resource:  resource,
		Object:    runtime.RawExtension{Raw: raw},
	}
	for _, verb := range []string{"mutate", "validate"} {
		service, found := c.services[fmt.Sprintf("/%s/%s", resource.Resource, verb)]
		if !found {
			continue
		}
		if response := service.Func(admissionv1.AdmissionReview{Request: request}); !response.Allowed {
			return strings.Join(strings.Fields(response.Result.Message), " ")
		}
	}
	if kind == "Queue" {
		queue := &v1beta1.Queue{}
		if err := json.Unmarshal(raw, queue); err != nil {
			return err.Error()
		}
		if err := c.open(queue); err != nil {
			return err.Error()
		}
	}
	return ""
}

func scheduled(raw []byte) (task, error) {
	pod := &v1.Pod{}
	if err := json.Unmarshal(raw, pod); err != nil {
		return task{}, err
	}
	info := api.NewTaskInfo(pod)
	requests := map[string]float64{}
	for _, name := range info.Resreq.ResourceNames() {
		requests[string(name)] = info.Resreq.Get(name)
	}
	return task{pod.Name, string(info.Job), info.TaskRole, info.Preemptable, requests}, nil
}

func judge(line []byte) (answer, error) {
	result := answer{Refused: []string{}, Tasks: []task{}}
	given := struct{ Items []json.RawMessage }{}
	if err := json.Unmarshal(line, &given); err != nil {
		return result, err
	}
	here, err := newCluster()
	if err != nil {
		return result, err
	}
	for _, raw := range given.Items {
		object := metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(raw, &object); err != nil {
			return result, err
		}
		if why := here.create(object.Kind, raw); why != "" {
			result.Refused = append(result.Refused, fmt.Sprintf("%s %s: %s", object.Kind, object.Name, why))
		}
		if object.Kind == "Pod" {
			seen, err := scheduled(raw)
			if err != nil {
				return result, err
			}
			result.Tasks = append(result.Tasks, seen)
		}
	}
	return result, nil
}

func main() {
	klog.SetLogger(logr.Discard())
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		result, err := judge(lines.Bytes())
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(result)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
