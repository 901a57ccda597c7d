package main

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ansibleFlavor is the runtime of Ansible operators.
func ansibleFlavor() *flavor {
	return &flavor{
		name: "ansible", operator: "ansible-operator", kind: "AnsibleApp", plural: "ansibleapps",
		objectKinds: [][2]string{{"v1", "ConfigMap"}},
		check:       checkRun,
	}
}

// checkRun returns what differs from the expectation of a resource.
func checkRun(s *snapshot, r *resource) []string {
	obj, objects := s.resources[r.name], s.objects[r.name]
	if r.deleted {
		return checkGone(obj, objects, 0)
	}
	if obj == nil {
		return []string{"doesn't exist"}
	}
	status := "True"
	if r.spec.Fail {
		status = "False"
	}
	problems := checkReady(obj, status)
	if reason := readCondition(obj, "Ready")["reason"]; r.spec.Fail && reason != "Failed" {
		problems = append(problems, fmt.Sprintf("hasn't failed yet: conditions %s", describeConditions(obj)))
	}
	config := objects["ConfigMap "+r.name]
	if config == nil || len(objects) != 1 {
		return append(problems, fmt.Sprintf("has the objects %q", slices.Sorted(maps.Keys(objects))))
	}
	if want := map[string]any{"tag": r.good.Tag, "message": r.good.Message}; !equal(config.Object["data"], want) {
		problems = append(problems, fmt.Sprintf("the ConfigMap has %v, want %v", config.Object["data"], want))
	}
	if !isOwner(obj, config) {
		problems = append(problems, fmt.Sprintf("the ConfigMap has the owners %v", config.GetOwnerReferences()))
	}
	return problems
}

func isOwner(owner, obj *unstructured.Unstructured) bool {
	for _, reference := range obj.GetOwnerReferences() {
		if reference.UID == owner.GetUID() {
			return true
		}
	}
	return false
}
