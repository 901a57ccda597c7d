package operatorchart

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// findManager returns the Deployment of the manager.
func findManager(objects []manifest.Object) (manifest.Object, bool) {
	var all []manifest.Object
	for _, o := range objects {
		if o.Kind() == "Deployment" && o.Group() == "apps" {
			all = append(all, o)
		}
	}
	for _, isManager := range []func(manifest.Object) bool{
		func(o manifest.Object) bool { return labels(o)["control-plane"] == "controller-manager" },
		func(o manifest.Object) bool { return labels(o)["control-plane"] != nil },
		func(o manifest.Object) bool {
			return slices.ContainsFunc(containers(o), func(c map[string]any) bool { return c["name"] == "manager" })
		},
		func(manifest.Object) bool { return len(all) == 1 },
		func(o manifest.Object) bool { return strings.HasSuffix(o.Name(), "controller-manager") },
	} {
		if i := slices.IndexFunc(all, isManager); i >= 0 {
			return all[i], true
		}
	}
	return manifest.Object{}, false
}

func labels(o manifest.Object) map[string]any { return manifest.MapAt(o.Fields, "metadata", "labels") }

// containers returns the containers of a Deployment, or nil if one of them is no mapping.
func containers(deployment manifest.Object) []map[string]any {
	var all []map[string]any
	for _, c := range listAt(deployment.Fields, "spec", "template", "spec", "containers") {
		fields, ok := c.(map[string]any)
		if !ok {
			return nil
		}
		all = append(all, fields)
	}
	return all
}

// managerContainer returns the index of the manager among the containers of its Deployment.
func managerContainer(deployment manifest.Object) int {
	return max(0, slices.IndexFunc(containers(deployment), func(c map[string]any) bool { return c["name"] == "manager" }))
}

// inferPrefix returns the prefix of the names of a kustomization's objects, with its hyphen, or "".
func inferPrefix(deployment manifest.Object, objects []manifest.Object) string {
	name := deployment.Name()
	if prefix, ok := strings.CutSuffix(name, "controller-manager"); ok {
		return prefix
	}
	for i := strings.LastIndexByte(name, '-'); i > 0; i = strings.LastIndexByte(name[:i], '-') {
		others := 0
		for _, o := range objects {
			switch o.Kind() {
			case "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding":
				if others++; !strings.HasPrefix(o.Name(), name[:i+1]) {
					others = -len(objects)
				}
			}
		}
		if others > 0 {
			return name[:i+1]
		}
	}
	return ""
}

// webhookServices returns the names of the services that webhooks and conversions call.
func webhookServices(objects []manifest.Object) []string {
	var all []string
	add := func(config any) {
		if name := textAt(config, "clientConfig", "service", "name"); name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, o := range objects {
		for _, webhook := range listAt(o.Fields, "webhooks") {
			add(webhook)
		}
		if o.Kind() == "CustomResourceDefinition" {
			add(valueAt(o.Fields, "spec", "conversion", "webhook"))
		}
	}
	return all
}

// isMetricsService reports whether a Service is the one of the manager's metrics.
func isMetricsService(o manifest.Object) bool {
	return o.Kind() == "Service" && strings.Contains(o.Name(), "metrics")
}

// onlyResources reports whether all rules of a role are about some resources.
func onlyResources(o manifest.Object, resources ...string) bool {
	rules := listAt(o.Fields, "rules")
	for _, rule := range rules {
		for _, resource := range listAt(rule, "resources") {
			if text, _ := resource.(string); !slices.Contains(resources, text) {
				return false
			}
		}
		if len(listAt(rule, "resources")) == 0 {
			return false
		}
	}
	return len(rules) > 0
}

// readsMetrics reports whether a role grants nothing but to read metrics.
func readsMetrics(o manifest.Object) bool {
	rules := listAt(o.Fields, "rules")
	return len(rules) == 1 && slices.Contains(listAt(rules[0], "nonResourceURLs"), any("/metrics"))
}

// helperRole returns for whom a role is that the operator doesn't need itself: admin, edit or view. It is "" for other roles.
func helperRole(o manifest.Object, bound map[string]bool) string {
	if o.Kind() != "ClusterRole" || bound[o.Name()] {
		return ""
	}
	for _, kind := range [][2]string{{"-admin-role", "admin"}, {"-editor-role", "edit"}, {"-viewer-role", "view"}} {
		if strings.HasSuffix(o.Name(), kind[0]) {
			return kind[1]
		}
	}
	return ""
}

// valueAt returns the value at a path of fields below v, or nil.
func valueAt(v any, path ...string) any {
	for _, key := range path {
		fields, _ := v.(map[string]any)
		v = fields[key]
	}
	return v
}

func listAt(v any, path ...string) []any {
	list, _ := valueAt(v, path...).([]any)
	return list
}

func textAt(v any, path ...string) string {
	text, _ := valueAt(v, path...).(string)
	return text
}
