package stage

import (
	"fmt"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/kube"
)

// TestPending waits for what controllers always do, and not for what may stay so.
func TestPending(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		"{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {nodeName: node}, status: {phase: Pending}}":                                                                        "pod a is starting or stopping",
		"{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {schedulerName: default-scheduler}, status: {phase: Pending}}":                                                      "pod a is starting or stopping",
		"{kind: Pod, apiVersion: v1, metadata: {name: a}, status: {phase: Pending}}":                                                                                                "",
		"{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {schedulerName: other}, status: {phase: Pending}}":                                                                  "",
		"{kind: Pod, apiVersion: v1, metadata: {name: a}, spec: {schedulerName: default-scheduler}, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False'}]}}": "",
		"{kind: Pod, apiVersion: v1, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}":                                                                               "pod a is starting or stopping",
		"{kind: Pod, apiVersion: v1, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/f]}}":                                                  "",
		"{kind: Namespace, apiVersion: v1, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z'}}":                                                                         "namespace a is being deleted",
		"{kind: Deployment, apiVersion: apps/v1, metadata: {name: a, generation: 2}, status: {observedGeneration: 1}}":                                                              "deployment a has changed, and its controller has not seen it",
		"{kind: Deployment, apiVersion: apps/v1, metadata: {name: a, generation: 1}, status: {}}":                                                                                   "deployment a has changed, and its controller has not seen it",
		"{kind: DaemonSet, apiVersion: apps/v1, metadata: {name: a, generation: 1, deletionTimestamp: '2026-01-01T00:00:00Z'}}":                                                     "",
		"{kind: ControllerRevision, apiVersion: apps/v1, metadata: {name: a, generation: 1}}":                                                                                       "",
		"{kind: Deployment, apiVersion: apps/v1, metadata: {name: a, generation: 2}, status: {observedGeneration: 2}}":                                                              "",
		"{kind: App, apiVersion: example.com/v1, metadata: {name: a, generation: 2}, status: {observedGeneration: 1}}":                                                              "",
		"{kind: Secret, apiVersion: v1, metadata: {name: a, ownerReferences: [{kind: App, name: b, uid: gone}]}}":                                                                   "secret a waits for the garbage collector, since App b is gone",
		"{kind: Secret, apiVersion: v1, metadata: {name: a, ownerReferences: [{kind: App, name: b, uid: gone}, {kind: App, name: c, uid: exists}]}}":                                "",
		"{kind: Secret, apiVersion: v1, metadata: {name: a, deletionTimestamp: '2026-01-01T00:00:00Z', ownerReferences: [{kind: App, uid: gone}]}}":                                 "",
	} {
		o := parse(t, object)
		h := &History{current: map[string]*kube.Object{"object": o, "exists": {}}}
		if got := h.pending(&Settling{}); got != want {
			t.Errorf("%s: got %q, want %q", object, got, want)
		}
	}
}

// TestPendingReadiness waits until workloads report how many of their pods are ready.
func TestPendingReadiness(t *testing.T) {
	t.Parallel()
	const (
		set   = "{kind: ReplicaSet, apiVersion: apps/v1, metadata: {name: set, uid: set, generation: 1, ownerReferences: [{kind: Deployment, uid: app, controller: true}]}, status: {observedGeneration: 1, readyReplicas: %d}}"
		app   = "{kind: Deployment, apiVersion: apps/v1, metadata: {name: app, uid: app, generation: 1}, status: {observedGeneration: 1, readyReplicas: %d}}"
		agent = "{kind: DaemonSet, apiVersion: apps/v1, metadata: {name: agent, uid: agent, generation: 1}, status: {observedGeneration: 1, numberReady: %d}}"
		pod   = "{kind: Pod, apiVersion: v1, metadata: {name: pod, uid: pod, ownerReferences: [{kind: Set, uid: %s, controller: true}]}, status: {phase: %s, conditions: [{type: Ready, status: '%s'}]}}"
		ended = "{kind: Pod, apiVersion: v1, metadata: {name: ended, uid: ended, deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [example.com/f], ownerReferences: [{kind: Set, uid: set, controller: true}]}, status: {phase: Running}}"
	)
	for name, test := range map[string]struct {
		objects []string
		want    string
	}{
		"reported":                {[]string{fmt.Sprintf(app, 1), fmt.Sprintf(set, 1), fmt.Sprintf(pod, "set", "Running", "True")}, ""},
		"not by the set":          {[]string{fmt.Sprintf(app, 0), fmt.Sprintf(set, 0), fmt.Sprintf(pod, "set", "Running", "True")}, "replicaset set reports 0 ready pods, but has 1"},
		"not by the deployment":   {[]string{fmt.Sprintf(app, 0), fmt.Sprintf(set, 1), fmt.Sprintf(pod, "set", "Running", "True")}, "deployment app reports 0 ready pods, but has 1"},
		"gone":                    {[]string{fmt.Sprintf(app, 1), fmt.Sprintf(set, 1)}, "replicaset set reports 1 ready pod, but has 0"},
		"not ready":               {[]string{fmt.Sprintf(app, 0), fmt.Sprintf(set, 0), fmt.Sprintf(pod, "set", "Running", "False")}, ""},
		"failed":                  {[]string{fmt.Sprintf(app, 0), fmt.Sprintf(set, 0), fmt.Sprintf(pod, "set", "Failed", "True")}, ""},
		"of somebody else":        {[]string{fmt.Sprintf(app, 0), fmt.Sprintf(set, 0), fmt.Sprintf(pod, "other", "Running", "True")}, ""},
		"one waits for finalizer": {[]string{fmt.Sprintf(app, 1), fmt.Sprintf(set, 1), ended}, ""},
		"daemon set":              {[]string{fmt.Sprintf(agent, 0), fmt.Sprintf(pod, "agent", "Running", "True")}, "daemonset agent reports 0 ready pods, but has 1"},
	} {
		h := &History{current: map[string]*kube.Object{"app": {}, "agent": {}, "other": {}}}
		for _, object := range test.objects {
			o := parse(t, object)
			h.current[string(o.GetUID())] = o
		}
		if got := h.pending(&Settling{}); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func parse(t *testing.T, object string) *kube.Object {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	o := &kube.Object{}
	if err := o.UnmarshalJSON(data); err != nil {
		t.Fatal(err)
	}
	return o
}
