package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Plugins are the plugins that --plugins selected.
type Plugins struct {
	// Go, Helm and Ansible report whether the layout of such projects is among them.
	Go, Helm, Ansible bool
	// DeployImage makes create api scaffold a controller for an image.
	DeployImage bool
	// Grafana and AutoUpdate make init and edit add dashboards, and a workflow that upgrades the project.
	Grafana, AutoUpdate bool
}

// Optional returns the keys of the selected plugins that init and edit add to a project of any layout, sorted.
func (p Plugins) Optional() []string {
	var keys []string
	if p.AutoUpdate {
		keys = append(keys, KeyAutoUpdate)
	}
	if p.Grafana {
		keys = append(keys, KeyGrafana)
	}
	return keys
}

// CheckPlugins validates --plugins and returns the selected plugins. Keys can be short (go/v4), full (go.kubebuilder.io/v4) and
// without version. Elements can contain several keys, separated by commas.
func CheckPlugins(keys []string) (Plugins, diag.Findings) {
	var (
		plugins         Plugins
		findings        diag.Findings
		base, kustomize bool
		// parts are plugins that scaffold only a part of a project.
		parts []string
		// layouts are the given layouts.
		layouts []string
	)
	for _, element := range keys {
		for key := range strings.SplitSeq(element, ",") {
			key = strings.TrimSpace(key)
			switch key {
			case "go/v4", LayoutGoV4, "go", "go.kubebuilder.io":
				plugins.Go, layouts = true, append(layouts, key)
			case "helm/v1", LayoutHelmV1, "helm", "helm.sdk.operatorframework.io":
				plugins.Helm, layouts = true, append(layouts, key)
			case "ansible/v1", LayoutAnsibleV1, "ansible", "ansible.sdk.operatorframework.io":
				plugins.Ansible, layouts = true, append(layouts, key)
			case "base.go.kubebuilder.io/v4":
				base, parts = true, append(parts, key)
			case "kustomize.common.kubebuilder.io/v2", "kustomize/v2":
				kustomize, parts = true, append(parts, key)
			case keyManifests, "manifests/v2", keyScorecard, "scorecard/v2":
				parts = append(parts, key)
			case "deploy-image/v1-alpha", keyImages, "deploy-image", "deploy-image.go.kubebuilder.io":
				plugins.DeployImage = true
			case "grafana/v1-alpha", KeyGrafana, "grafana", "grafana.kubebuilder.io":
				plugins.Grafana = true
			case "autoupdate/v1-alpha", KeyAutoUpdate, "autoupdate", "autoupdate.kubebuilder.io":
				plugins.AutoUpdate = true
			default:
				findings = append(findings, pluginFinding(key))
			}
		}
	}
	if other := slices.IndexFunc(layouts, func(key string) bool { return layoutName(key) != layoutName(layouts[0]) }); other > 0 {
		findings = append(findings, diag.Finding{
			Field: "--plugins", Value: layouts[other], Problem: "cannot be combined with " + layouts[0] + "; a project has one layout",
		})
	}
	if len(layouts) > 0 || base && kustomize {
		plugins.Go = plugins.Go || base && kustomize
		return plugins, findings
	}
	for _, key := range parts {
		findings = append(findings, diag.Finding{
			Field: "--plugins", Value: key, Problem: "is only a part of the Go layout and is not supported alone", Suggestion: "go/v4",
		})
	}
	return plugins, findings
}

// layoutName returns the first part of the name of a layout's plugin: go, helm or ansible.
func layoutName(key string) string {
	name, _, _ := strings.Cut(key, "/")
	name, _, _ = strings.Cut(name, ".")
	return name
}

// pluginFinding returns the problem of an unsupported plugin.
func pluginFinding(key string) diag.Finding {
	const supported = "go/v4, helm/v1, ansible/v1, deploy-image/v1-alpha, grafana/v1-alpha and autoupdate/v1-alpha are supported"
	f := diag.Finding{Field: "--plugins", Value: key}
	name, version, _ := strings.Cut(strings.ToLower(key), "/")
	switch short, _, _ := strings.Cut(name, "."); {
	case key == "":
		f.Problem = "a plugin must not be empty; " + supported
	case name == "go" || name == "go.kubebuilder.io" || name == "base.go.kubebuilder.io":
		f.Problem, f.Suggestion = fmt.Sprintf("version %s of the Go layout is not supported, only v4 is", version), "go/v4"
	case short == "hybrid":
		f.Problem = "hybrid projects are Go projects to which 'create api' adds kinds with a chart"
		f.Suggestion = "go/v4"
	case short == "grafana", short == "autoupdate":
		f.Problem, f.Suggestion = fmt.Sprintf("version %s of the plugin is not supported, only v1-alpha is", version), short+"/v1-alpha"
	case short == "helm" && (name == "helm.kubebuilder.io" || strings.HasSuffix(version, "-alpha")):
		f.Problem = fmt.Sprintf("the %s plugin of kubebuilder is not supported; add it with 'kubebuilder edit', which can read the project; %s", short, supported)
	case short == "helm":
		f.Problem, f.Suggestion = fmt.Sprintf("version %s of the Helm layout is not supported, only v1 is", version), "helm/v1"
	case short == "ansible":
		f.Problem, f.Suggestion = fmt.Sprintf("version %s of the Ansible layout is not supported, only v1 is", version), "ansible/v1"
	case short == "quarkus", short == "java":
		f.Problem = fmt.Sprintf("%s projects are not supported; %s", short, supported)
	default:
		f.Problem = "plugin not found; " + supported
		f.Suggestion, _ = diag.Nearest(key, []string{"go/v4", "helm/v1", "ansible/v1", "helm", "ansible", "deploy-image/v1-alpha", "grafana/v1-alpha", "autoupdate/v1-alpha",
			LayoutGoV4, LayoutHelmV1, LayoutAnsibleV1, keyImages, KeyGrafana, KeyAutoUpdate})
	}
	return f
}
