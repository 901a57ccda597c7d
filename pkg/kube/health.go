package kube

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Health tells whether an object has become what it is to be.
type Health struct {
	Ready bool
	// Reason says what is missing, in a few words.
	Reason string
}

// HealthOf reads the health from the status of a Deployment, CustomResourceDefinition, APIService or
// Namespace. Objects of other kinds are healthy by being there.
func HealthOf(o *Object) Health {
	if stamp := o.GetDeletionTimestamp(); stamp != nil {
		return Health{Reason: "is being deleted"}
	}
	switch o.GetKind() {
	case "Deployment":
		return deploymentHealth(o)
	case "CustomResourceDefinition":
		return conditionHealth(o, "Established")
	case "APIService":
		return conditionHealth(o, "Available")
	}
	return Health{Ready: true}
}

// deploymentHealth is what `kubectl rollout status` waits for.
func deploymentHealth(o *Object) Health {
	number := func(fields ...string) int64 {
		n, _, _ := unstructured.NestedInt64(o.Object, fields...) // what is missing is 0
		return n
	}
	wanted, found, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !found {
		wanted = 1
	}
	status := func(name string) int64 { return number("status", name) }
	switch {
	case status("observedGeneration") < o.GetGeneration():
		return Health{Reason: "its newest version has not been looked at yet"}
	case status("updatedReplicas") < wanted:
		return Health{Reason: fmt.Sprintf("%d of %d replicas are updated", status("updatedReplicas"), wanted)}
	case status("replicas") > status("updatedReplicas"):
		return Health{Reason: fmt.Sprintf("%d old replicas are still there", status("replicas")-status("updatedReplicas"))}
	case status("availableReplicas") < wanted:
		return Health{Reason: fmt.Sprintf("%d of %d updated replicas are available", status("availableReplicas"), wanted)}
	}
	return Health{Ready: true}
}

func conditionHealth(o *Object, kind string) Health {
	for _, c := range Conditions(o) {
		if c.Type != kind {
			continue
		}
		if c.Status == "True" {
			return Health{Ready: true}
		}
		return Health{Reason: c.text()}
	}
	return Health{Reason: "has no condition " + kind + " yet"}
}

// Condition is one entry of an object's status.conditions.
type Condition struct{ Type, Status, Reason, Message string }

func (c Condition) text() string {
	text := strings.TrimSpace(c.Message)
	switch {
	case text == "":
		return c.Reason
	case c.Reason == "":
		return text
	}
	return c.Reason + ": " + text
}

// Conditions are an object's, as far as they can be read.
func Conditions(o *Object) []Condition {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	var conditions []Condition
	for _, item := range list {
		fields, ok := item.(map[string]any)
		if !ok {
			continue
		}
		text := func(key string) string { s, _ := fields[key].(string); return s }
		conditions = append(conditions, Condition{text("type"), text("status"), text("reason"), text("message")})
	}
	return conditions
}
