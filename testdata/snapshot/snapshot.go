// Package snapshot finds out what changes in a cluster while a test does something.
package snapshot

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operon-sdk/operon/pkg/kube"
)

// A Snapshot maps objects of a cluster, such as "v1 configmap default/a", to what changes if anybody writes them. It leaves out what only
// Kubernetes itself has written, such as the pods of a Deployment.
type Snapshot map[string]string

// own has the beginnings of the field managers of Kubernetes' API server and controllers. They write objects by themselves at any time:
// priorities of requests, APIServices of new CRDs, conditions, leases.
var own = []string{
	"kube-apiserver", "kube-controller-manager", "kube-scheduler",
	"api-priority-and-fairness-", "clusterrole-aggregation-controller", "kubernetes-service-cidr-controller", "service-cidr-controller",
}

// nodesReport reports whether an entry can be a report of a node, which a simulated one makes as this program.
func nodesReport(o *kube.Object, subresource string) bool {
	switch o.GetKind() {
	case "Lease", "Node":
		return true
	case "Pod":
		return subresource == "status"
	}
	return false
}

// Take takes a snapshot. Writes of Kubernetes itself and of nodes don't count.
func Take(t *testing.T, cluster *kube.Client) Snapshot {
	t.Helper()
	resources, unserved, err := cluster.Resources(t.Context())
	if err != nil || len(unserved) > 0 {
		t.Fatal(err, unserved)
	}
	s := Snapshot{}
	for _, r := range resources {
		objects, err := cluster.ListNames(t.Context(), r, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if err := s.add(r.APIVersion+" "+kube.FullName(o), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func (s Snapshot) add(name string, o *kube.Object) error {
	var writes []any
	for _, entry := range o.GetManagedFields() {
		isOwn := slices.ContainsFunc(own, func(prefix string) bool { return strings.HasPrefix(entry.Manager, prefix) })
		if !isOwn && !nodesReport(o, entry.Subresource) {
			writes = append(writes, entry)
		}
	}
	if len(writes) == 0 {
		return nil
	}
	state, err := json.Marshal(append(writes, o.GetUID(), o.GetDeletionTimestamp()))
	s[name] = string(state)
	return err
}

// Changes compares a snapshot with a later one: "created v1 configmap default/a". The list is sorted by objects.
func (s Snapshot) Changes(later Snapshot) (changes []string) {
	for _, name := range sets.List(sets.KeySet(s).Union(sets.KeySet(later))) {
		before, existed := s[name]
		after, exists := later[name]
		switch {
		case !exists:
			changes = append(changes, "deleted "+name)
		case !existed:
			changes = append(changes, "created "+name)
		case before != after:
			changes = append(changes, "changed "+name+"\n  "+before+"\n  "+after)
		}
	}
	return changes
}
