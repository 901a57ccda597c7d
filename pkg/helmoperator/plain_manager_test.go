package helmoperator_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// recordingCache is the cache of a manager that records the kinds that are read through it.
type recordingCache struct {
	cache.Cache

	mu    sync.Mutex
	kinds []string
}

func (c *recordingCache) record(obj client.Object) error {
	gvk, err := apiutil.GVKForObject(obj, nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kinds = append(c.kinds, gvk.Kind)
	return err
}

func (c *recordingCache) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := c.record(obj); err != nil {
		return err
	}
	return c.Cache.Get(ctx, key, obj, opts...)
}

func (c *recordingCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	if err := c.record(obj); err != nil {
		return nil, err
	}
	return c.Cache.GetInformer(ctx, obj, opts...)
}

func (c *recordingCache) GetInformerForKind(context.Context, schema.GroupVersionKind, ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, fmt.Errorf("informers are requested by object")
}

func (c *recordingCache) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return fmt.Errorf("lists are not read from the cache of the manager")
}

// TestCacheOfManager checks that the cache of a manager of a Go project, with the defaults of controller-runtime, receives the custom
// resources only: informers of Secrets and ConfigMaps would keep all of the cluster in memory.
func TestCacheOfManager(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var recording *recordingCache
	change := func(o *manager.Options) {
		o.Cache = cache.Options{DefaultNamespaces: map[string]cache.Config{e.namespace: {}}}
		o.NewCache = func(config *rest.Config, options cache.Options) (cache.Cache, error) {
			inner, err := cache.New(config, options)
			recording = &recordingCache{Cache: inner}
			return recording, err
		}
	}
	templates := map[string]string{"configmap.yaml": configMap, "secret.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: '{{ .Release.Name }}'}, stringData: {a: b}}"}
	e.startWith(e.config, change, []helmoperator.Option{
		helmoperator.WithGroupVersionKind(e.gvk), helmoperator.WithChart(chart("app", "", templates)), helmoperator.WithNamespaces(e.namespace),
	})
	e.create("one", map[string]any{"text": "x"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.delete("one")
	recording.mu.Lock()
	defer recording.mu.Unlock()
	slices.Sort(recording.kinds)
	if got := slices.Compact(recording.kinds); !slices.Equal(got, []string{e.gvk.Kind}) {
		t.Errorf("the cache of the manager has %q", got)
	}
}
