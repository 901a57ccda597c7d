//go:build unix

package deploy

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/testdata/snapshot"
)

const (
	namespace = "memcached-operator-system"
	manager   = "memcached-operator-controller-manager"
	crdName   = "memcacheds.cache.example.com"
	image     = "example.com/memcached-operator:v1"

	establishTime = time.Minute
)

// A cluster is a control plane, and a copy of a golden project that is deployed to it.
type cluster struct {
	*clitest.WorkloadCluster
	dir string
}

// operon runs a command in the project and fails the test unless it ends with code.
func (c *cluster) operon(t *testing.T, code int, args ...string) (out, errOut string) {
	t.Helper()
	return c.operonAs(t, c.Plane.KubeconfigPath(), code, args...)
}

func (c *cluster) operonAs(t *testing.T, kubeconfig string, code int, args ...string) (out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	env := &cmd.Env{In: strings.NewReader(""), Out: &o, Err: &e, Dir: c.dir, FS: afero.NewOsFs(), Now: time.Now, Environ: []string{"KUBECONFIG=" + kubeconfig}}
	begin := time.Now()
	if got := cmd.Main(c.Context(), env, append([]string{"operon"}, args...)); got != code {
		t.Fatalf("%s ends with %d, want %d\n%s%s", strings.Join(args, " "), got, code, o.String(), e.String())
	}
	t.Logf("%s: %s", strings.Join(args, " "), time.Since(begin).Round(time.Millisecond))
	return o.String(), e.String()
}

// atTerminal runs a command with a user who answers.
func (c *cluster) atTerminal(t *testing.T, answer bool, code int, args ...string) string {
	t.Helper()
	var out clitest.Buffer
	env := &cmd.Env{In: strings.NewReader(""), Out: &out, Err: &out, Dir: c.dir, FS: afero.NewOsFs(), Now: time.Now,
		Environ: []string{"KUBECONFIG=" + c.Plane.KubeconfigPath()}, InTerminal: true, OutTerminal: true, ErrTerminal: true, Prompter: prompter(answer)}
	if got := cmd.Main(c.Context(), env, append([]string{"operon"}, args...)); got != code {
		t.Fatalf("%s ends with %d, want %d\n%s", strings.Join(args, " "), got, code, out.String())
	}
	return out.String()
}

// patiently runs a command with longer and longer timeouts until its output contains want: on a busy machine, it takes longer to get there.
func patiently(want string, run func(timeout string) string) (text string) {
	for timeout := 4 * time.Second; ; timeout *= 4 {
		if text = run(timeout.String()); strings.Contains(text, want) || timeout > 4*time.Minute {
			return text
		}
	}
}

type prompter bool

func (p prompter) Confirm(string, bool) (bool, error) { return bool(p), nil }
func (p prompter) Input(cmd.Question) (string, error) { return "", nil }

// unchanged checks that a function writes no object.
func (c *cluster) unchanged(t *testing.T, run func()) {
	t.Helper()
	before := snapshot.Take(t, c.Client)
	run()
	if changes := before.Changes(snapshot.Take(t, c.Client)); len(changes) > 0 {
		t.Errorf("the cluster has changed:\n%s", strings.Join(changes, "\n"))
	}
}

// exists checks whether an object exists.
func (c *cluster) exists(t *testing.T, want bool, apiVersion, kind, namespace, name string) {
	t.Helper()
	if got := c.Get(t, apiVersion, kind, namespace, name) != nil; got != want {
		t.Errorf("%s %s/%s exists: %t, want %t", kind, namespace, name, got, want)
	}
}

// applyAs applies a manifest as another field manager.
func (c *cluster) applyAs(t *testing.T, manager, manifest string) {
	t.Helper()
	for _, o := range decode(t, manifest) {
		path, err := c.Client.Path(c.Context(), o, "default")
		if err == nil {
			err = c.Client.Do(c.Context(), http.MethodPatch, path+"?force=true&fieldManager="+manager, kube.ApplyPatch, o.Object, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// createAs creates the objects of a manifest as a field manager without server-side apply.
func (c *cluster) createAs(t *testing.T, manager, manifest string) {
	t.Helper()
	for _, o := range decode(t, manifest) {
		path, err := c.Client.Path(c.Context(), o, "default")
		if err == nil {
			err = c.Client.Do(c.Context(), http.MethodPost, strings.TrimSuffix(path, "/"+o.GetName())+"?fieldManager="+manager, "", o.Object, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// patchJSON changes fields of an object, as kubectl patch --type json.
func (c *cluster) patchJSON(t *testing.T, o *kube.Object, patch string) {
	t.Helper()
	path, err := c.Client.Path(c.Context(), o, o.GetNamespace())
	if err == nil {
		err = c.Client.Do(c.Context(), http.MethodPatch, path, "application/json-patch+json", json.RawMessage(patch), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func decode(t *testing.T, manifest string) []*kube.Object {
	t.Helper()
	objects, err := kube.Decode([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// position returns where a text is in others, which must contain it.
func position(t *testing.T, text, part string) int {
	t.Helper()
	at := strings.Index(text, part)
	if at < 0 {
		t.Fatalf("no %q in\n%s", part, text)
	}
	return at
}

// caBundle returns the CA of the API server in base64.
func (c *cluster) caBundle() string { return base64.StdEncoding.EncodeToString(c.Plane.CAData) }

// failPods makes the node accept no pods, and reports pods with an image as ones that can't pull it, until stop is called.
func (c *cluster) failPods(t *testing.T, image string) (stop func()) {
	t.Helper()
	node := kube.Named("v1", "Node", "", controlplane.NodeName)
	c.Patch(t, node, "", `{"spec":{"unschedulable":true}}`)
	ctx, cancel := context.WithCancel(c.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		status := map[string]any{"status": map[string]any{"containerStatuses": []any{map[string]any{
			"name": "manager", "image": image, "imageID": "", "ready": false, "restartCount": 0,
			"state": map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff", "message": "manifest unknown"}},
		}}}}
		for kube.Pause(ctx) {
			pods, err := c.Client.List(ctx, kube.Pods(), namespace, nil)
			if err != nil {
				continue
			}
			for _, pod := range pods {
				if containers := kube.ListAt(pod.Object, "spec", "containers"); len(containers) == 1 && kube.StringAt(containers[0], "image") == image {
					_ = c.Client.Do(ctx, http.MethodPatch, kube.PodPath(namespace, pod.GetName())+"/status", kube.MergePatch, status, nil)
				}
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
		c.Patch(t, node, "", `{"spec":{"unschedulable":null}}`)
	}
}
