package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
)

// Plugins are the plugins that --plugins selected.
type Plugins struct {
	// Keys are the values of --plugins, and Findings what is wrong with them.
	Keys     []string
	Findings diag.Findings
	// Layout is the layout, or nil.
	Layout *layout.Facts
	// DeployImage makes create api scaffold a controller for an image.
	DeployImage bool
	// Grafana and AutoUpdate make init and edit add dashboards, and a workflow that upgrades the project.
	Grafana, AutoUpdate bool
	// Chart makes init and edit add a Helm chart that installs the operator.
	Chart bool
}

// Unknown reports whether the plugins are wrong, so that the layout is not known.
func (p Plugins) Unknown() bool { return p.Layout == nil && len(p.Findings) > 0 }

// ForGo reports whether the layout of Go projects is selected.
func (p Plugins) ForGo() bool { return p.Layout != nil && p.Layout.Runtime == nil }

// WithoutGo reports whether a layout without Go code is selected.
func (p Plugins) WithoutGo() bool { return p.Layout != nil && p.Layout.Runtime != nil }

// String returns the values of --plugins, separated by commas.
func (p Plugins) String() string { return strings.Join(p.Keys, ",") }

// CheckProject returns the findings for a command that changes the project, not its kinds.
func (p Plugins) CheckProject() diag.Findings {
	findings := slices.Clone(p.Findings)
	if p.DeployImage {
		findings.Add("--plugins", "deploy-image/v1-alpha", "belongs to 'operon create api', as does --image; leave it out here")
	}
	return findings
}

// CheckKinds returns the findings for a command that adds kinds and no optional plugins.
func (p Plugins) CheckKinds() diag.Findings {
	findings := slices.Clone(p.Findings)
	keys := p.Optional()
	if p.Chart {
		keys = append(keys, KeyOperatorChart)
	}
	for _, key := range keys {
		findings.Add("--plugins", key, "belongs to 'operon init' and 'operon edit'; leave it out here")
	}
	return findings
}

// Optional returns the keys of the selected plugins that init and edit add to a project of any layout, sorted. The chart isn't one of them: it
// is made from the project.
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

// ParsePlugins reads --plugins. Keys can be short (go/v4), full (go.kubebuilder.io/v4) and
// without version. Elements can contain several keys, separated by commas. more are layouts that layout.All does not contain.
func ParsePlugins(keys []string, more ...*layout.Facts) Plugins {
	var (
		plugins         = Plugins{Keys: keys}
		base, kustomize bool
		// parts are plugins that scaffold only a part of a project.
		parts []string
		// first is the key of the first layout.
		first string
	)
	known := append(layout.All(), more...)
	for _, element := range keys {
		for key := range strings.SplitSeq(element, ",") {
			key = strings.TrimSpace(key)
			if i := slices.IndexFunc(known, func(f *layout.Facts) bool { return slices.Contains(f.Keys, key) }); i >= 0 {
				switch {
				case plugins.Layout == nil:
					plugins.Layout, first = known[i], key
				case plugins.Layout != known[i]:
					plugins.Findings.Add("--plugins", key, "cannot be combined with "+first+"; a project has one layout")
				}
				continue
			}
			switch key {
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
			case "helm/v2-alpha", KeyOperatorChart, "helm.kubebuilder.io", "helm/v1-alpha", keyOperatorChartV1:
				plugins.Chart = true
			default:
				plugins.Findings = append(plugins.Findings, pluginFinding(key, known))
			}
		}
	}
	if plugins.Layout == nil && base && kustomize {
		plugins.Layout = known[0]
	}
	if plugins.Layout != nil {
		return plugins
	}
	for _, key := range parts {
		plugins.Findings = append(plugins.Findings, diag.Finding{
			Field: "--plugins", Value: key, Problem: "is only a part of the Go layout and is not supported alone", Suggestion: "go/v4",
		})
	}
	return plugins
}

// pluginFinding returns the problem of an unsupported plugin.
func pluginFinding(key string, known []*layout.Facts) diag.Finding {
	var all, short []string
	for _, f := range known {
		all, short = append(all, f.Short(), f.Key()), append(short, f.Short())
		if f.Runtime != nil {
			all = append(all, f.Family())
		}
	}
	supported := strings.Join(short, ", ") + ", deploy-image/v1-alpha, helm/v2-alpha, grafana/v1-alpha and autoupdate/v1-alpha are supported"
	f := diag.Finding{Field: "--plugins", Value: key}
	name, version, _ := strings.Cut(strings.ToLower(key), "/")
	family, _, _ := strings.Cut(name, ".")
	i := slices.IndexFunc(known, func(f *layout.Facts) bool { return f.Family() == family })
	switch {
	case key == "":
		f.Problem = "a plugin must not be empty; " + supported
	case family == "hybrid":
		f.Problem = "hybrid projects are Go projects to which 'operon create api' adds kinds with a chart"
		f.Suggestion = "go/v4"
	case family == "grafana", family == "autoupdate":
		f.Problem, f.Suggestion = fmt.Sprintf("version %s of the plugin is not supported, only v1-alpha is", version), family+"/v1-alpha"
	case family == "helm" && (name == "helm.kubebuilder.io" || strings.HasSuffix(version, "-alpha")):
		f.Problem, f.Suggestion = fmt.Sprintf("version %s of the plugin is not supported, only v2-alpha is", version), "helm/v2-alpha"
	case i >= 0 && (family != "go" || name == "go" || name == "go.kubebuilder.io"), name == "base.go.kubebuilder.io":
		of := known[max(i, 0)]
		_, current, _ := strings.Cut(of.Short(), "/")
		f.Problem, f.Suggestion = fmt.Sprintf("version %s of the %s layout is not supported, only %s is", version, of.Name, current), of.Short()
	case family == "quarkus", family == "java":
		f.Problem = fmt.Sprintf("%s projects are not supported; %s", family, supported)
	default:
		f.Problem = "plugin not found; " + supported
		f.Suggestion, _ = diag.Nearest(key, append(all, "deploy-image/v1-alpha", "helm/v2-alpha", "grafana/v1-alpha", "autoupdate/v1-alpha", keyImages, KeyOperatorChart, KeyGrafana, KeyAutoUpdate))
	}
	return f
}
