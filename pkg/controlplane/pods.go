package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// nodeAddress is the address of the simulated node, at which nothing listens.
const nodeAddress = "10.0.0.1"

// jobDuration is the simulated duration of containers that exit.
const jobDuration = time.Second

// pod is the content of a pod that the simulated node uses.
type pod struct {
	Metadata struct {
		Name, Namespace, UID string
		DeletionTimestamp    *string
	}
	Spec struct {
		RestartPolicy              string
		HostNetwork                bool
		InitContainers, Containers []container
		ReadinessGates             []struct{ ConditionType string }
	}
	Status struct {
		Phase, PodIP string
		StartTime    string
		Conditions   []struct{ Type, Status string }
	}
}

type container struct {
	Name, Image   string
	RestartPolicy string
}

func (p *pod) path() string { return kube.PodPath(p.Metadata.Namespace, p.Metadata.Name) }

func (p *pod) condition(kind string) string {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}

// hasReadyGates reports whether the conditions of all readiness gates are true.
func (p *pod) hasReadyGates() bool {
	for _, gate := range p.Spec.ReadinessGates {
		if p.condition(gate.ConditionType) != "True" {
			return false
		}
	}
	return true
}

// sync updates the status of a pod like a kubelet. It ignores errors, as the pod's next event or the next list repeats it.
func (n *node) sync(ctx context.Context, p *pod) {
	switch {
	case p.Metadata.DeletionTimestamp != nil:
		// There are no containers to stop.
		_ = n.client.Do(ctx, http.MethodDelete, p.path(), "", fields{
			"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": fields{"uid": p.Metadata.UID},
		}, nil)
	case p.Status.Phase == "Succeeded", p.Status.Phase == "Failed":
	case p.Status.Phase != "Running" || p.hasReadyGates() != (p.condition("Ready") == "True"):
		status := n.running(p)
		if n.setStatus(ctx, p, status) == nil && p.Spec.RestartPolicy != "Always" {
			n.finishLater(ctx, p, status)
		}
	}
}

func (n *node) setStatus(ctx context.Context, p *pod, status fields) error {
	return n.client.Do(ctx, http.MethodPatch, p.path()+"/status", kube.MergePatch,
		fields{"metadata": fields{"uid": p.Metadata.UID}, "status": status}, nil)
}

// finishLater reports the containers of a Job's pod as completed after jobDuration.
func (n *node) finishLater(ctx context.Context, p *pod, status fields) {
	started := status["startTime"]
	n.working.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(jobDuration):
		}
		done := fields{"terminated": fields{"exitCode": 0, "reason": "Completed", "startedAt": started, "finishedAt": n.stamp()}}
		status["phase"] = "Succeeded"
		status["conditions"] = n.conditions(p, "False", "PodCompleted")
		status["containerStatuses"] = n.containers(p, p.Spec.Containers, done, false)
		_ = n.setStatus(ctx, p, status) // the pod may be deleted
	})
}

// running returns the status of a pod whose containers run.
func (n *node) running(p *pod) fields {
	address := p.Status.PodIP
	switch {
	case address != "":
	case p.Spec.HostNetwork:
		address = nodeAddress
	default:
		n.addresses++
		address = fmt.Sprintf("10.244.%d.%d", n.addresses/250%250, n.addresses%250+2)
	}
	started := p.Status.StartTime
	if started == "" {
		started = n.stamp()
	}
	ready, reason := "True", ""
	if !p.hasReadyGates() {
		ready, reason = "False", "ReadinessGatesNotReady"
	}
	running := fields{"running": fields{"startedAt": started}}
	var initial []fields
	for _, c := range p.Spec.InitContainers {
		state := running
		if c.RestartPolicy != "Always" { // otherwise it is a sidecar
			state = fields{"terminated": fields{"exitCode": 0, "reason": "Completed", "startedAt": started, "finishedAt": started}}
		}
		initial = append(initial, n.containers(p, []container{c}, state, true)...)
	}
	return fields{
		"phase": "Running", "startTime": started,
		"hostIP": nodeAddress, "hostIPs": []fields{{"ip": nodeAddress}},
		"podIP": address, "podIPs": []fields{{"ip": address}},
		"conditions":            n.conditions(p, ready, reason),
		"initContainerStatuses": initial,
		"containerStatuses":     n.containers(p, p.Spec.Containers, running, true),
	}
}

// conditions returns all conditions of a pod, including what others set, because a merge patch replaces the list.
func (n *node) conditions(p *pod, ready, reason string) []fields {
	own := []struct{ kind, status, reason string }{
		{"PodReadyToStartContainers", "True", ""}, {"Initialized", "True", ""}, {"PodScheduled", "True", ""},
		{"ContainersReady", "True", ""}, {"Ready", ready, reason},
	}
	if reason == "PodCompleted" {
		own[3].status, own[3].reason = "False", reason
	}
	var conditions []fields
	included := map[string]bool{}
	for _, c := range own {
		included[c.kind] = true
		condition := fields{"type": c.kind, "status": c.status, "lastTransitionTime": n.stamp()}
		if c.reason != "" {
			condition["reason"] = c.reason
		}
		conditions = append(conditions, condition)
	}
	for _, c := range p.Status.Conditions {
		if !included[c.Type] {
			conditions = append(conditions, fields{"type": c.Type, "status": c.Status, "lastTransitionTime": n.stamp()})
		}
	}
	return conditions
}

func (n *node) containers(p *pod, containers []container, state fields, ready bool) []fields {
	var statuses []fields
	for _, c := range containers {
		_, runs := state["running"]
		statuses = append(statuses, fields{
			"name": c.Name, "image": c.Image, "imageID": "simulated://" + c.Image,
			"containerID": "simulated://" + p.Metadata.UID + "/" + c.Name,
			"ready":       ready, "started": runs, "restartCount": 0, "state": state,
		})
	}
	return statuses
}
