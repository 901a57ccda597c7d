package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/kube"
)

// effectTimeout is the maximum time until an API server calls new webhooks.
const effectTimeout = 20 * time.Second

// register applies the webhook configurations of the manager, and removes stale ones.
func (r *runner) register(ctx context.Context) error {
	found, err := r.source().webhooks()
	if err != nil {
		return err
	}
	configured := configured(found, r.o.Config.ProjectName()+"-run-local-", &endpoint{port: r.port, ca: r.ca})
	if r.o.Debugger != nil {
		configured = patient(configured)
	}
	stale := r.registered
	if !r.serving {
		// A killed run may have left them in a cluster.
		stale, configured = append(stale, configured...), nil
	}
	for i, o := range configured {
		known := slices.ContainsFunc(r.registered, func(old *kube.Object) bool { return reflect.DeepEqual(old.Object, o.Object) })
		if !known {
			err = r.takeEffect(ctx, o, strconv.Itoa(i))
		}
		if err == nil {
			err = r.cluster.Apply(ctx, o, "")
		}
		if err != nil {
			return fmt.Errorf("registering webhooks: %w", explain(err))
		}
	}
	for _, old := range stale {
		if slices.ContainsFunc(configured, func(o *kube.Object) bool { return kube.Name(o) == kube.Name(old) }) {
			continue
		}
		if err := r.cluster.Delete(ctx, old, ""); err != nil && (r.serving || !kube.IsForbidden(err)) {
			return fmt.Errorf("removing webhooks: %w", explain(err))
		}
	}
	r.registered = configured
	return nil
}

// takeEffect applies a webhook configuration and waits until the API server uses it, which takes a moment. An additional webhook that
// rejects objects with a unique label shows that: the server loads all webhooks of a configuration at once.
func (r *runner) takeEffect(ctx context.Context, configuration *kube.Object, number string) error {
	const label, webhook = "run-local.operon/probe", "probe.run-local.operon"
	probed := configuration.DeepCopy()
	probed.Object["webhooks"] = append(kube.ListAt(probed.Object, "webhooks"), map[string]any{
		"name":           webhook,
		"clientConfig":   map[string]any{"url": "https://127.0.0.1:1/"}, // where nothing listens
		"failurePolicy":  "Fail",
		"objectSelector": map[string]any{"matchLabels": map[string]any{label: number}},
		"rules": []any{map[string]any{
			"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"configmaps"},
		}},
		"sideEffects": "None", "timeoutSeconds": int64(1), "admissionReviewVersions": []any{"v1"},
	})
	if err := r.cluster.Apply(ctx, probed, ""); err != nil {
		return err
	}
	probe := &kube.Object{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	probe.SetName("run-local-probe")
	probe.SetLabels(map[string]string{label: number})
	path := "/api/v1/namespaces/" + r.namespace + "/configmaps?dryRun=All"
	_ = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, effectTimeout, true, func(ctx context.Context) (bool, error) {
		err := r.cluster.Do(ctx, http.MethodPost, path, "", probe.Object, nil)
		// Either it is in effect, or this user cannot detect it.
		return kube.IsStatus(err) && (strings.Contains(err.Error(), webhook) || !kube.IsServerError(err)), nil
	})
	return ctx.Err()
}

// unregister removes the webhooks and the conversion of the CRDs from a cluster, as they refer to this machine.
func (r *runner) unregister(ctx context.Context) error {
	if r.ca == nil || r.namespace == "" {
		return nil
	}
	var errs []error
	for _, o := range r.registered {
		errs = append(errs, r.cluster.Delete(ctx, o, ""))
	}
	r.registered = nil
	definitions, err := r.source().crds()
	for _, crd := range converted(definitions, nil) {
		if kube.ValueAt(crd.Object, "spec", "conversion") != nil {
			errs = append(errs, r.cluster.Apply(ctx, crd, ""))
		}
	}
	return errors.Join(append(errs, err)...)
}
