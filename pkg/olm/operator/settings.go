package operator

import (
	"encoding/json"
	"fmt"

	"github.com/operon-sdk/operon/pkg/kube"
)

// podSettings applies the settings to the registry's pod.
func (r *run) podSettings(deployment *kube.Object) {
	s := r.Serving
	pod := kube.ValueAt(deployment.Object, "spec", "template", "spec").(map[string]any)
	if r.anyUser {
		delete(pod["securityContext"].(map[string]any), "runAsUser")
	}
	lists := []string{"containers", "initContainers"}
	for _, list := range lists {
		items, _ := pod[list].([]any)
		for _, item := range items {
			container := item.(map[string]any)
			if s.Legacy {
				delete(container, "securityContext")
			}
			if len(s.Env) > 0 {
				container["env"] = envOf(s.Env)
			}
		}
	}
	if s.Legacy {
		delete(pod, "securityContext")
	}
	if s.ServiceAccount != "" {
		pod["serviceAccountName"] = s.ServiceAccount
	}
	if s.PullSecret != "" {
		pod["imagePullSecrets"] = []any{map[string]any{"name": s.PullSecret}}
	}
	if len(s.NodeSelector) > 0 {
		pod["nodeSelector"] = selectorOf(s.NodeSelector)
	}
}

// catalogSettings sets the address of the catalog, and how OLM pulls the bundle.
func (r *run) catalogSettings(catalog *kube.Object) {
	s := r.Serving
	if s.CatalogImage != "" {
		setAt(catalog, s.CatalogImage, "spec", "image")
	} else {
		setAt(catalog, fmt.Sprintf("%s.%s.svc:%d", r.registryName(), r.Namespace, grpcPort), "spec", "address")
		if r.Bundle.Image != "" {
			// operator-sdk reads this to upgrade the operator.
			injected, err := json.Marshal([]map[string]string{{"imageTag": r.Bundle.Image, "mode": "replaces"}})
			if err == nil {
				catalog.SetAnnotations(map[string]string{
					"operators.operatorframework.io/index-image":      s.IndexImage,
					"operators.operatorframework.io/injected-bundles": string(injected),
				})
			}
		}
	}
	if s.PullSecret != "" {
		setAt(catalog, []any{s.PullSecret}, "spec", "secrets")
	}
	if len(s.NodeSelector) > 0 {
		setAt(catalog, selectorOf(s.NodeSelector), "spec", "grpcPodConfig", "nodeSelector")
	}
}

// operatorConfig returns the settings of the Subscription for the operator's pods.
func (r *run) operatorConfig() map[string]any {
	config := map[string]any{}
	if len(r.Serving.NodeSelector) > 0 {
		config["nodeSelector"] = selectorOf(r.Serving.NodeSelector)
	}
	if len(r.Serving.Env) > 0 {
		config["env"] = envOf(r.Serving.Env)
	}
	return config
}

func envOf(list []EnvVar) []any {
	var items []any
	for _, v := range list {
		items = append(items, map[string]any{"name": v.Name, "value": v.Value})
	}
	return items
}

func selectorOf(labels map[string]string) map[string]any {
	selector := map[string]any{}
	for key, value := range labels {
		selector[key] = value
	}
	return selector
}

// anySlice returns strings as they are in unstructured objects.
func anySlice(list []string) []any {
	var items []any
	for _, item := range list {
		items = append(items, item)
	}
	return items
}
