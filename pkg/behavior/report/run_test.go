package report_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// start is when the made-up runs begin.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func typesUID(name string) types.UID { return types.UID("uid-" + name) }

func ownerReference(apiVersion, kind, name, uid string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: typesUID(uid)}}
}

// A maker makes an observation, as of an operator that makes a Deployment and a Service for a Memcached.
type maker struct {
	o       *behavior.Observation
	version int
	current map[string]*kube.Object
}

func seconds(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }

// request adds a request of the operator.
func (m *maker) request(at float64, verb, group, resource, name string, code int, change func(*gateway.Record)) gateway.Record {
	r := gateway.Record{Start: seconds(at), Duration: 4 * time.Millisecond, Code: code, ServerCode: code}
	r.Verb, r.Group, r.Version, r.Resource, r.Name = verb, group, "v1", resource, name
	if name != "" {
		r.Namespace = "default"
	}
	if change != nil {
		change(&r)
	}
	m.o.Requests = append(m.o.Requests, r)
	return r
}

// change adds a version of an object. ready is the status of its condition, or empty; owner is the API version, kind and name.
func (m *maker) change(at float64, apiVersion, kind, name, ready string, owner ...string) *stage.Change {
	m.version++
	o := kube.Named(apiVersion, kind, "default", name)
	o.SetUID(typesUID(kind + name + owner[len(owner)-1]))
	o.SetResourceVersion(fmt.Sprint(m.version))
	if len(owner) == 4 {
		o.SetOwnerReferences(ownerReference(owner[0], owner[1], owner[2], owner[3]))
	}
	if ready != "" {
		condition := "Ready"
		if kind != "Pod" {
			condition = "Available"
		}
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": condition, "status": ready, "reason": "MinimumReplicas", "message": "1 of 1 pods is ready"}}}
	}
	m.o.Changes = append(m.o.Changes, stage.Change{Time: seconds(at), Before: m.current[string(o.GetUID())], After: o})
	m.current[string(o.GetUID())] = o
	return &m.o.Changes[len(m.o.Changes)-1]
}

// remove deletes an object.
func (m *maker) remove(at float64, uid types.UID) {
	o := m.current[string(uid)]
	m.o.Changes = append(m.o.Changes, stage.Change{Time: seconds(at), Before: o, After: o, Deleted: true})
}

// write adds a write that has made a change, or none.
func (m *maker) write(at float64, verb, group, resource, name string, code int, c *stage.Change) {
	uid, version := types.UID("none"), "0"
	if c != nil {
		uid, version = c.After.GetUID(), c.After.GetResourceVersion()
	}
	r := m.request(at, verb, group, resource, name, code, func(r *gateway.Record) { r.UID, r.ResourceVersion = string(uid), version })
	m.o.Writes = append(m.o.Writes, stage.Write{Record: r, Change: c})
}

const memcached = "cache.example.com/v1alpha1"

// reconcile adds the Deployment of a Memcached, and what the controllers of Kubernetes make of it.
func (m *maker) reconcile(at float64, generation string) {
	m.request(at+0.05, "get", "apps", "deployments", "memcached-sample", 404, nil)
	m.write(at+0.1, "create", "apps", "deployments", "memcached-sample", 201, m.change(at+0.11, "apps/v1", "Deployment", "memcached-sample", "False", memcached, "Memcached", "memcached-sample", "Memcachedmemcached-samplecr"))
	uid := "Deploymentmemcached-sampleMemcachedmemcached-samplecr"
	m.change(at+0.3, "apps/v1", "ReplicaSet", "memcached-sample-"+generation, "", "apps/v1", "Deployment", "memcached-sample", uid)
	pod := "memcached-sample-" + generation + "-x7k2p"
	owner := []string{"apps/v1", "ReplicaSet", "memcached-sample-" + generation, "ReplicaSetmemcached-sample-" + generation + uid}
	m.change(at+0.5, "v1", "Pod", pod, "False", owner...)
	m.change(at+1.2, "v1", "Pod", pod, "True", owner...)
	m.change(at+1.3, "apps/v1", "Deployment", "memcached-sample", "True", memcached, "Memcached", "memcached-sample", "Memcachedmemcached-samplecr")
	m.write(at+1.4, "update", "cache.example.com", "memcacheds", "memcached-sample", 200, m.change(at+1.41, memcached, "Memcached", "memcached-sample", "True", "cr"))
	for i := range 3 {
		m.write(at+1.5+float64(i)/5, "update", "apps", "deployments", "memcached-sample", 200, nil)
	}
}

// memcachedRun returns a run of an operator that updates its Deployment without need and lacks the permission to list Secrets.
func memcachedRun() *behavior.Observation {
	m := &maker{o: &behavior.Observation{Grant: stage.Denial.Marker}, current: map[string]*kube.Object{}}
	for i, resource := range []string{"memcacheds", "deployments", "services", "pods"} {
		group := []string{"cache.example.com", "apps", "", ""}[i]
		m.request(0.3+float64(i)/20, "list", group, resource, "", 200, nil)
		m.request(0.4+float64(i)/20, "watch", group, resource, "", 200, nil)
	}
	for i := range 12 {
		m.request(0.6+float64(i)*3.1, "list", "", "secrets", "", 403, func(r *gateway.Record) {
			r.Reason, r.Message = "Forbidden", `secrets is forbidden: User "m" cannot list resource "secrets" in API group "" at the cluster scope`
		})
	}
	for i := range 20 {
		m.request(0.2+float64(i)*2, "update", "coordination.k8s.io", "leases", "lock", 200, nil)
	}
	m.change(3.1, memcached, "Memcached", "memcached-sample", "", "cr")
	m.change(3.15, memcached, "Memcached", "memcached-sample", "False", "cr")
	m.write(3.2, "create", "", "services", "memcached-sample", 201, m.change(3.21, "v1", "Service", "memcached-sample", "", memcached, "Memcached", "memcached-sample", "Memcachedmemcached-samplecr"))
	m.reconcile(3.3, "6c9f7d4b8")
	deployment, service := typesUID("Deploymentmemcached-sampleMemcachedmemcached-samplecr"), typesUID("Servicememcached-sampleMemcachedmemcached-samplecr")
	m.remove(14.05, deployment)
	m.change(14.1, memcached, "Memcached", "memcached-sample", "False", "cr")
	delete(m.current, string(deployment))
	m.reconcile(14.1, "6c9f7d4b8")
	m.request(14.12, "update", "cache.example.com", "memcacheds", "memcached-sample", 409, func(r *gateway.Record) { r.Reason = "Conflict" })
	m.remove(20.05, service)
	cr := typesUID("Memcachedmemcached-samplecr")
	m.remove(31.05, cr)
	m.remove(31.3, deployment)
	m.o.NotRepaired = []*kube.Object{m.current[string(service)]}
	for _, s := range []struct {
		name                string
		start, settled, end float64
	}{
		{"start of the operator", 0, 2.6, 3}, {"create memcached/memcached-sample", 3, 8, 14}, {"delete deployment default/memcached-sample by hand", 14, 18, 20},
		{"delete service default/memcached-sample by hand", 20, 0, 31}, {"delete memcached/memcached-sample", 31, 34, 37},
	} {
		step := behavior.Step{Name: s.name, Start: seconds(s.start), End: seconds(s.end)}
		if s.settled > 0 {
			step.Settled = seconds(s.settled)
		} else {
			step.Unsettled = &stage.UnsettledError{Limit: 11 * time.Second, Busy: "the controller memcached is at work"}
		}
		m.o.Steps = append(m.o.Steps, step)
	}
	return m.o
}
