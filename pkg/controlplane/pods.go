package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
)

// nodeAddress is the simulated node's. Nothing listens there.
const nodeAddress = "10.0.0.1"

// jobDuration is how long the containers of a pod that is to end seem to work.
const jobDuration = time.Second

// pod is what the simulated node reads of a pod.
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

func (p *pod) path() string {
	return "/api/v1/namespaces/" + url.PathEscape(p.Metadata.Namespace) + "/pods/" + url.PathEscape(p.Metadata.Name)
}

func (p *pod) condition(kind string) string {
	for _, c := range p.Status.Conditions {
		if c.Type == kind {
			return c.Status
		}
	}
	return ""
}

// gatesOpen tells whether all that others must say before the pod is ready has been said.
func (p *pod) gatesOpen() bool {
	for _, gate := range p.Spec.ReadinessGates {
		if p.condition(gate.ConditionType) != "True" {
			return false
		}
	}
	return true
}

// sync does for one pod what a kubelet would. What fails is done again at the pod's next event or
// the next list.
func (n *node) sync(ctx context.Context, p *pod) {
	switch {
	case p.Metadata.DeletionTimestamp != nil:
		// Containers would be stopped now; without any, the pod can go at once.
		_ = n.client.Do(ctx, http.MethodDelete, p.path(), "", fields{
			"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0, "preconditions": fields{"uid": p.Metadata.UID},
		}, nil)
	case p.Status.Phase == "Succeeded", p.Status.Phase == "Failed":
	case p.Status.Phase != "Running" || p.gatesOpen() != (p.condition("Ready") == "True"):
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

// finishLater lets the containers of a Job's pod succeed after a moment.
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
		_ = n.setStatus(ctx, p, status) // a pod that has been deleted needs none
	})
}

// running is the status of a pod whose containers all run.
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
	if !p.gatesOpen() {
		ready, reason = "False", "ReadinessGatesNotReady"
	}
	running := fields{"running": fields{"startedAt": started}}
	var initial []fields
	for _, c := range p.Spec.InitContainers {
		state := running
		if c.RestartPolicy != "Always" { // else it is a sidecar
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

// conditions are a pod's. A merge patch replaces all of them, so those of others are kept.
func (n *node) conditions(p *pod, ready, reason string) []fields {
	own := []struct{ kind, status, reason string }{
		{"PodReadyToStartContainers", "True", ""}, {"Initialized", "True", ""}, {"PodScheduled", "True", ""},
		{"ContainersReady", "True", ""}, {"Ready", ready, reason},
	}
	if reason == "PodCompleted" {
		own[3].status, own[3].reason = "False", reason
	}
	var conditions []fields
	seen := map[string]bool{}
	for _, c := range own {
		seen[c.kind] = true
		condition := fields{"type": c.kind, "status": c.status, "lastTransitionTime": n.stamp()}
		if c.reason != "" {
			condition["reason"] = c.reason
		}
		conditions = append(conditions, condition)
	}
	for _, c := range p.Status.Conditions {
		if !seen[c.Type] {
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
