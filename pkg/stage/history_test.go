package stage_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/testdata/apiserver"
)

func decodeOne(t *testing.T, text string) *kube.Object {
	t.Helper()
	objects, err := kube.Decode([]byte(text))
	if err != nil || len(objects) != 1 {
		t.Fatal(err, len(objects))
	}
	return objects[0]
}

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: apps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: apps, singular: app, kind: App, listKind: AppList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`

// TestHistory sees each change of all objects once, also of new kinds, and nothing where nothing changes.
func TestHistory(t *testing.T) {
	t.Parallel()
	client, _ := apiserver.Start(t)
	ctx := t.Context()
	h, err := stage.NewHistory(ctx, client, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if !hasObject(h, "Namespace default") {
		t.Errorf("objects that existed before are missing: %d objects", len(h.Objects()))
	}
	apply := func(text string) {
		t.Helper()
		if err := client.Apply(ctx, decodeOne(t, text), "default"); err != nil {
			t.Fatal(err)
		}
	}
	from := len(h.Changes(0))
	apply(crd)
	if err := client.WaitEstablished(ctx, "apps.example.com", time.Minute); err != nil {
		t.Fatal(err)
	}
	if err := h.Discover(ctx); err != nil {
		t.Fatal(err)
	}
	app := "{apiVersion: example.com/v1, kind: App, metadata: {name: one}, spec: {size: 1}}"
	apply(app)
	apply(app)
	apply(strings.Replace(app, "1}}", "2}}", 1))
	if err := client.Delete(ctx, decodeOne(t, app), "default"); err != nil {
		t.Fatal(err)
	}
	if err := h.Settle(ctx, stage.Settling{Quiet: time.Second, Limit: time.Minute}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range h.Changes(from) {
		if c.After.GetKind() == "App" {
			got = append(got, fmt.Sprintf("%d %t %t", kube.IntAt(c.After.Object, "spec", "size"), c.Before != nil, c.Deleted))
		}
	}
	if want := []string{"1 false false", "2 true false", "2 true true"}; !slices.Equal(got, want) {
		t.Errorf("changes %v", got)
	}
	if hasObject(h, "App one") {
		t.Error("the deleted object is there")
	}
}

func hasObject(h *stage.History, name string) bool {
	for _, o := range h.Objects() {
		if o.GetKind()+" "+o.GetName() == name {
			return true
		}
	}
	return false
}

// TestSettle waits while objects change, gives up with the last of them, and doesn't wait for heartbeats.
func TestSettle(t *testing.T) {
	t.Parallel()
	client, _ := apiserver.Start(t)
	h, err := stage.NewHistory(t.Context(), client, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	write := func(path, text string) {
		writing.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				o := decodeOne(t, strings.ReplaceAll(text, "N", fmt.Sprint(n)))
				if err := client.Do(ctx, http.MethodPost, path, "", o.Object, nil); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
	write("/apis/coordination.k8s.io/v1/namespaces/default/leases", "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: a-N}}")
	if err := h.Settle(t.Context(), stage.Settling{Quiet: time.Second, Limit: time.Minute}); err != nil {
		t.Errorf("with heartbeats: %v", err)
	}
	var unsettled *stage.UnsettledError
	err = h.Settle(t.Context(), stage.Settling{Quiet: 100 * time.Millisecond, Limit: time.Second, Busy: func() string { return "a pod starts" }})
	if !errors.As(err, &unsettled) || !strings.HasSuffix(err.Error(), "; a pod starts") {
		t.Errorf("with something that is busy: %v", err)
	}
	write("/api/v1/namespaces/default/configmaps", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a-N}}")
	err = h.Settle(t.Context(), stage.Settling{Quiet: time.Second, Limit: 3 * time.Second})
	if !errors.As(err, &unsettled) || unsettled.Last == nil || unsettled.Last.After.GetKind() != "ConfigMap" {
		t.Errorf("with writes: %v", err)
	}
	stop()
	writing.Wait()
	if err := h.Settle(t.Context(), stage.Settling{Quiet: time.Second, Limit: time.Minute}); err != nil {
		t.Errorf("after the writes: %v", err)
	}
}
