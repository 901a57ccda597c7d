package local

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// TestReachContext expects the manager to use the cluster of the context that the user chose, not of the current one.
func TestReachContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"gitVersion": "v1.36.3"}`) }))
	t.Cleanup(server.Close)
	write(t, dir, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: other
contexts:
- {name: other, context: {cluster: other, user: u}}
- {name: staging, context: {cluster: staging, user: u, namespace: team}}
clusters:
- {name: other, cluster: {server: "http://127.0.0.1:1"}}
- {name: staging, cluster: {server: %q}}
users: [{name: u, user: {token: t}}]
`, server.URL))
	locator := kube.Locator{Kubeconfig: "kubeconfig", Context: "staging", Dir: dir, Progress: func(string) {}}
	r := &runner{o: Options{ControlPlane: PlaneAuto, Locator: locator}, workspace: &tempdir.Dir{Path: t.TempDir()}}
	if err := r.reach(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := kube.Load(filepath.SplitList(r.kubeconfig)...)
	if err != nil || client.URL != server.URL || client.Namespace != "team" {
		t.Errorf("the manager gets %+v, %v", client, err)
	}
}
