package kube

import (
	"fmt"
	"strings"
)

// Health reports whether an object is ready.
type Health struct {
	Ready bool
	// Reason describes what is missing; empty if Ready.
	Reason string
}

// HealthOf returns the health of a Deployment, CustomResourceDefinition or APIService from its status. Other objects are ready if
// they are not being deleted.
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

// deploymentHealth checks what kubectl rollout status waits for.
func deploymentHealth(o *Object) Health {
	wanted, found := ValueAt(o.Object, "spec", "replicas").(int64)
	if !found {
		wanted = 1
	}
	status := func(name string) int64 { return IntAt(o.Object, "status", name) }
	switch {
	case status("observedGeneration") < o.GetGeneration():
		return Health{Reason: "its newest generation is not observed yet"}
	case status("updatedReplicas") < wanted:
		return Health{Reason: fmt.Sprintf("%d of %d replicas are updated", status("updatedReplicas"), wanted)}
	case status("replicas") > status("updatedReplicas"):
		return Health{Reason: fmt.Sprintf("%d old replicas still exist", status("replicas")-status("updatedReplicas"))}
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

// Conditions returns the valid conditions of an object.
func Conditions(o *Object) []Condition {
	var conditions []Condition
	for _, item := range ListAt(o.Object, "status", "conditions") {
		if _, ok := item.(map[string]any); ok {
			conditions = append(conditions, Condition{
				StringAt(item, "type"), StringAt(item, "status"), StringAt(item, "reason"), StringAt(item, "message"),
			})
		}
	}
	return conditions
}
