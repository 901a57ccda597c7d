//go:build unix

package runlocal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
)

// TestRunLocalConflicts changes, deletes and creates objects hundreds of times while both scaffolded controllers reconcile
// them. The resulting conflicts are not errors: the log contains none, and the status is right at the end.
func TestRunLocalConflicts(t *testing.T) {
	t.Parallel()
	dir := clitest.NewProject(t,
		"init --domain example.com --repo example.com/conflicts",
		"create api --group cache --version v1 --kind Plain --resource --controller",
		"create api --group cache --version v1 --kind Imaged --image memcached:1.6.39-alpine --run-as-user 1001",
	)
	p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded", "--samples")
	p.WaitFor("press Ctrl-C", 1)
	c := p.Cluster()
	client, err := kube.New([]byte(clitest.ReadFile(t, c.Kubeconfig)))
	if err != nil {
		t.Fatal(err)
	}

	const (
		plains      = "/apis/cache.example.com/v1/namespaces/default/plains"
		imageds     = "/apis/cache.example.com/v1/namespaces/default/imageds"
		deployments = "/apis/apps/v1/namespaces/default/deployments"
	)
	patch := func(name, format string) func(context.Context, int) error {
		return func(ctx context.Context, i int) error {
			return client.Do(ctx, http.MethodPatch, name, kube.MergePatch, json.RawMessage(strings.ReplaceAll(format, "N", fmt.Sprint(i%4))), nil)
		}
	}
	remove := func(name string) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error { return client.Do(ctx, http.MethodDelete, name, "", nil, nil) }
	}
	create := func(resource, manifest string) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error {
			return client.Do(ctx, http.MethodPost, resource, "", json.RawMessage(manifest), nil)
		}
	}
	const available = `jsonpath={.status.conditions[?(@.type=="Available")].`
	const labels = `{"metadata":{"labels":{"edit":"N"}}}`
	edits := []struct {
		interval time.Duration
		edit     func(context.Context, int) error
	}{
		{30 * time.Millisecond, patch(plains+"/plain-sample", `{"spec":{"foo":"N"}}`)},
		{20 * time.Millisecond, patch(plains+"/plain-sample", labels)},
		{50 * time.Millisecond, patch(plains+"/plain-sample/status", `{"status":{"conditions":[]}}`)},
		{300 * time.Millisecond, remove(plains + "/plain-sample")},
		{100 * time.Millisecond, create(plains, `{"apiVersion":"cache.example.com/v1","kind":"Plain","metadata":{"name":"plain-sample"},"spec":{}}`)},

		{30 * time.Millisecond, patch(imageds+"/imaged-sample", `{"spec":{"size":N}}`)},
		{20 * time.Millisecond, patch(imageds+"/imaged-sample", labels)},
		{50 * time.Millisecond, patch(imageds+"/imaged-sample/status", `{"status":{"conditions":[],"replicas":N}}`)},
		{700 * time.Millisecond, remove(imageds + "/imaged-sample")},
		{100 * time.Millisecond, create(imageds, `{"apiVersion":"cache.example.com/v1","kind":"Imaged","metadata":{"name":"imaged-sample"},"spec":{}}`)},

		{40 * time.Millisecond, patch(deployments+"/imaged-sample", `{"spec":{"replicas":N}}`)},
		{30 * time.Millisecond, patch(deployments+"/imaged-sample", labels)},
		{500 * time.Millisecond, remove(deployments + "/imaged-sample")},
	}
	// All edits go on until the rarest one has been made often enough, which takes about 20 seconds.
	wanted := int64(25)
	if *clitest.Thorough {
		wanted = 100
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var group sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(edits)))
	for i, e := range edits {
		group.Go(func() {
			done := int64(0)
			for n := 0; ctx.Err() == nil; n++ {
				switch err := e.edit(ctx, n); {
				case err == nil:
					if done++; done == wanted && left.Add(-1) == 0 {
						cancel()
					}
				case !kube.IsNotFound(err) && !kube.IsConflict(err) && ctx.Err() == nil:
					t.Errorf("edit %d: %v", i, err)
					cancel()
				}
				select {
				case <-ctx.Done():
				case <-time.After(e.interval):
				}
			}
			if done < wanted && !t.Failed() {
				t.Errorf("edit %d succeeded %d times, want at least %d", i, done, wanted)
			}
		})
	}
	group.Wait()

	// kubectl apply creates the object if it was deleted last.
	c.Must(`{"apiVersion":"cache.example.com/v1","kind":"Plain","metadata":{"name":"plain-sample"},"spec":{"foo":"last"}}`, "apply", "-f", "-")
	c.Must(`{"apiVersion":"cache.example.com/v1","kind":"Imaged","metadata":{"name":"imaged-sample"},"spec":{"size":2}}`, "apply", "-f", "-")
	c.Eventually("Unknown", "get", "plain/plain-sample", "-o", available+"status}")
	c.Eventually("2 of 2 pods are available", "get", "imaged/imaged-sample", "-o", available+"message}")

	p.Interrupt()
	p.MustEnd(0)
	for line := range strings.Lines(p.Output()) {
		if strings.Contains(line, "ERROR") {
			t.Fatalf("the log contains an error: %s", line)
		}
	}
}
