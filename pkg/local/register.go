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

	"github.com/operon-sdk/operon/pkg/kube"
)

// effectTimeout bounds the wait for an API server to call new webhooks.
const effectTimeout = 20 * time.Second

// register points the cluster's webhooks at the manager, and removes those that lead nowhere any more.
func (s *Session) register(ctx context.Context) error {
	configured, err := webhooks(s.o.Root, s.o.Name, &endpoint{port: s.port, ca: s.ca})
	if err != nil {
		return err
	}
	stale := s.registered
	if !s.o.Webhooks {
		// A run that was killed may have left them in a cluster.
		stale, configured = append(stale, configured...), nil
	}
	for i, o := range configured {
		known := slices.ContainsFunc(s.registered, func(old *kube.Object) bool { return reflect.DeepEqual(old.Object, o.Object) })
		if !known {
			err = s.takeEffect(ctx, o, strconv.Itoa(i))
		}
		if err == nil {
			err = s.o.Cluster.Apply(ctx, o, "")
		}
		if err != nil {
			return fmt.Errorf("registering webhooks: %w", explain(err))
		}
	}
	for _, old := range stale {
		if slices.ContainsFunc(configured, func(o *kube.Object) bool { return kube.Name(o) == kube.Name(old) }) {
			continue
		}
		if err := s.o.Cluster.Delete(ctx, old, ""); err != nil && (s.o.Webhooks || !kube.IsForbidden(err)) {
			return fmt.Errorf("removing webhooks: %w", explain(err))
		}
	}
	s.registered = configured
	return nil
}

// takeEffect applies a webhook configuration and waits until the API server goes by it, which is a moment
// later. A webhook more shows that, which refuses objects of a label that nobody else uses: the server
// learns of all webhooks of a configuration at once.
func (s *Session) takeEffect(ctx context.Context, configuration *kube.Object, number string) error {
	const label, webhook = "run-local.operon/probe", "probe.run-local.operon"
	probed := configuration.DeepCopy()
	probed.Object["webhooks"] = append(list(probed.Object["webhooks"]), map[string]any{
		"name":           webhook,
		"clientConfig":   map[string]any{"url": "https://127.0.0.1:1/"}, // where nobody answers
		"failurePolicy":  "Fail",
		"objectSelector": map[string]any{"matchLabels": map[string]any{label: number}},
		"rules": []any{map[string]any{
			"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"configmaps"},
		}},
		"sideEffects": "None", "timeoutSeconds": int64(1), "admissionReviewVersions": []any{"v1"},
	})
	if err := s.o.Cluster.Apply(ctx, probed, ""); err != nil {
		return err
	}
	probe := &kube.Object{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	probe.SetName("run-local-probe")
	probe.SetLabels(map[string]string{label: number})
	path := "/api/v1/namespaces/" + s.o.Namespace + "/configmaps?dryRun=All"
	waiting, cancel := context.WithTimeout(ctx, effectTimeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := s.o.Cluster.Do(waiting, http.MethodPost, path, "", probe.Object, nil)
		if kube.IsStatus(err) && (strings.Contains(err.Error(), webhook) || !kube.IsServerError(err)) {
			return nil // it is in effect, or this user cannot tell
		}
		select {
		case <-waiting.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// Unregister removes from a cluster that stays what leads to this machine: the webhooks, and the
// conversion of the CRDs.
func (s *Session) Unregister(ctx context.Context) error {
	if s.ca == nil || s.o.Cluster == nil {
		return nil
	}
	var errs []error
	for _, o := range s.registered {
		errs = append(errs, s.o.Cluster.Delete(ctx, o, ""))
	}
	s.registered = nil
	definitions, err := crds(s.o.Root, nil)
	for _, crd := range definitions {
		if dig(crd.Object, "spec", "conversion") != nil {
			errs = append(errs, s.o.Cluster.Apply(ctx, crd, ""))
		}
	}
	return errors.Join(append(errs, err)...)
}
