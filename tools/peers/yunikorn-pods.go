// Reads pods as YuniKorn's shim reads them: one on each line of the input, as JSON, and for each a line with what the
// shim makes of it, as JSON: whose application it is, in which queue, which gang it belongs to and how large the gang is.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/apache/yunikorn-k8shim/pkg/admission/metadata"
	"github.com/apache/yunikorn-k8shim/pkg/cache"
	"github.com/apache/yunikorn-k8shim/pkg/common"
	"github.com/apache/yunikorn-k8shim/pkg/common/constants"
	"github.com/apache/yunikorn-k8shim/pkg/common/utils"
	"github.com/apache/yunikorn-k8shim/pkg/log"
	"github.com/apache/yunikorn-scheduler-interface/lib/go/si"
	v1 "k8s.io/api/core/v1"
)

const longestLine = 16 << 20

// Amounts in YuniKorn's own units: thousandths of a core, and whole units of all else.
type amounts map[string]int64

type group struct {
	Name         string            `json:"name"`
	Members      int32             `json:"members"`
	Each         amounts           `json:"each"`
	NodeSelector map[string]string `json:"nodeSelector"`
	Tolerations  []v1.Toleration   `json:"tolerations"`
	Placeholder  string            `json:"placeholder"`
}

type reading struct {
	Error           string   `json:"error,omitempty"`
	Application     string   `json:"application"`
	Queue           string   `json:"queue"`
	User            string   `json:"user"`
	Groups          []string `json:"groups"`
	UserInfoError   string   `json:"userInfoError,omitempty"`
	TaskGroup       string   `json:"taskGroup"`
	TaskGroups      []group  `json:"taskGroups"`
	TaskGroupsError string   `json:"taskGroupsError,omitempty"`
	TimeoutSeconds  int64    `json:"timeoutSeconds"`
	Style           string   `json:"style"`
	AllowPreemption string   `json:"allowPreemption"`
	Pod             amounts  `json:"pod"`
}

func counted(resource *si.Resource) amounts {
	result := amounts{}
	for name, quantity := range resource.GetResources() {
		result[name] = quantity.GetValue()
	}
	return result
}

func read(line []byte) reading {
	pod := &v1.Pod{}
	if err := json.Unmarshal(line, pod); err != nil {
		return reading{Error: err.Error()}
	}
	parameters := cache.GetSchedulingPolicyParam(pod)
	result := reading{
		Application:     utils.GetApplicationIDFromPod(pod),
		Queue:           utils.GetQueueNameFromPod(pod),
		TaskGroup:       utils.GetTaskGroupFromPodSpec(pod),
		TimeoutSeconds:  parameters.GetPlaceholderTimeout(),
		Style:           parameters.GetGangSchedulingStyle(),
		AllowPreemption: utils.GetPodAnnotationValue(pod, constants.AnnotationAllowPreemption),
		Pod:             counted(common.GetPodResource(pod)),
	}
	result.User, result.Groups = utils.GetUserFromPod(pod)
	if stated := pod.Annotations["yunikorn.apache.org/user.info"]; stated != "" {
		if err := (&metadata.UserGroupAnnotationHandler{}).IsAnnotationValid(stated); err != nil {
			result.UserInfoError = err.Error()
		}
	}
	groups, err := cache.GetTaskGroupsFromAnnotation(pod)
	if err != nil {
		result.TaskGroupsError = err.Error()
	}
	for _, one := range groups {
		result.TaskGroups = append(result.TaskGroups, group{
			Name:         one.Name,
			Members:      one.MinMember,
			Each:         counted(common.GetTGResource(one.MinResource, 1)),
			NodeSelector: one.NodeSelector,
			Tolerations:  one.Tolerations,
			Placeholder:  cache.GeneratePlaceholderName(one.Name, result.Application),
		})
	}
	return result
}

func main() {
	// Its log would be mixed with the answers.
	answers := os.Stdout
	os.Stdout = os.Stderr
	log.UpdateLoggingConfig(map[string]string{"log.level": "FATAL"})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		answer, err := json.Marshal(read(lines.Bytes()))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Fprintln(answers, string(answer))
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
