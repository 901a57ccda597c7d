package operator

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operon-sdk/operon/pkg/olm"
)

// TestUpgradeAwaitsCertificate checks that an upgrade is not over before OLM has made the new version's certificate.
func TestUpgradeAwaitsCertificate(t *testing.T) {
	t.Parallel()
	const group = "/apis/operators.coreos.com/v1alpha1"
	// What OLM goes through: each state lasts for two looks at the ClusterServiceVersion.
	states := []struct{ phase, owner string }{
		{"Installing", "former"}, {"Succeeded", "former"}, {"Succeeded", ""}, {"Pending", ""}, {"InstallReady", "new"}, {"Succeeded", "new"},
	}
	var mutex sync.Mutex
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		state := states[min(looks/2, len(states)-1)]
		switch r.URL.Path {
		case group:
			fmt.Fprint(w, `{"resources": [{"name": "clusterserviceversions", "kind": "ClusterServiceVersion", "namespaced": true}]}`)
		case "/api/v1":
			fmt.Fprint(w, `{"resources": [{"name": "secrets", "kind": "Secret", "namespaced": true}]}`)
		case group + "/namespaces/mem/clusterserviceversions/p.v2":
			looks++
			fmt.Fprintf(w, `{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
				"metadata": {"name": "p.v2", "namespace": "mem", "uid": "new"},
				"spec": {"webhookdefinitions": [{"deploymentName": "manager"}]}, "status": {"phase": %q}}`, state.phase)
		case "/api/v1/namespaces/mem/secrets/manager-service-cert":
			if state.owner == "" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprintf(w, `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "manager-service-cert", "namespace": "mem",
				"ownerReferences": [{"apiVersion": "v1", "kind": "C", "name": "c", "uid": %q}]}}`, state.owner)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	follow := func(former string) []string {
		mutex.Lock()
		looks = 0
		mutex.Unlock()
		var messages []string
		r := &run{subscription: "sub", former: former, RunOptions: RunOptions{Client: clientOf(t, server), Namespace: "mem", Bundle: Bundle{Package: "p", CSV: "p.v2"},
			Reporter: olm.Reporter{Progress: func(e olm.Event) {
				messages = append(messages, strings.TrimPrefix(e.Message, `  Found ClusterServiceVersion "mem/p.v2" `))
			}}}}
		if err := r.follow(t.Context()); err != nil {
			t.Error(err)
		}
		return messages
	}
	const waiting = "waiting for OLM to renew the certificate of the operator's webhooks"
	want := []string{"phase: Installing", waiting, "phase: Pending", "phase: InstallReady", "phase: Succeeded"}
	if messages := follow("p.v1"); !slices.Equal(messages, want) {
		t.Errorf("messages of an upgrade: %q, want %q", messages, want)
	}
	want = []string{"phase: Installing", "phase: Succeeded"}
	if messages := follow(""); !slices.Equal(messages, want) {
		t.Errorf("messages of a run: %q, want %q", messages, want)
	}
}
