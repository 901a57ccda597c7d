package project

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// CheckLicense validates --license.
func CheckLicense(license string) diag.Findings {
	const field = "--license"
	switch license {
	case "apache2", "mit", "copyright", "none":
		return nil
	}
	problem := "must be apache2, mit or none, or copyright for the notice alone; for another license give its header with --license-file"
	plain := strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(license))
	switch plain {
	case "apache", "apache20", "apachev2", "apachelicense20", "asl2", "al2", "apl2":
		return one(field, license, problem, "apache2")
	case "mitlicense":
		return one(field, license, problem, "mit")
	case "", "no", "false", "off":
		return one(field, license, problem, "none")
	}
	near, _ := diag.Nearest(plain, []string{"apache2", "mit", "copyright", "none"})
	return one(field, license, problem, near)
}

// Plugins are the plugins that --plugins selected.
type Plugins struct {
	// DeployImage makes create api scaffold a controller for an image.
	DeployImage bool
}

// CheckPlugins validates --plugins and returns the selected plugins. Keys can be short (go/v4), full (go.kubebuilder.io/v4) and
// without version. Elements can contain several keys, separated by commas.
func CheckPlugins(keys []string) (Plugins, diag.Findings) {
	var (
		plugins                 Plugins
		findings                diag.Findings
		layout, base, kustomize bool
		// parts are plugins that scaffold only a part of a Go project.
		parts []string
	)
	for _, element := range keys {
		for key := range strings.SplitSeq(element, ",") {
			key = strings.TrimSpace(key)
			switch key {
			case "go/v4", LayoutGoV4, "go", "go.kubebuilder.io":
				layout = true
			case "base.go.kubebuilder.io/v4":
				base, parts = true, append(parts, key)
			case "kustomize.common.kubebuilder.io/v2", "kustomize/v2":
				kustomize, parts = true, append(parts, key)
			case keyManifests, "manifests/v2", keyScorecard, "scorecard/v2":
				parts = append(parts, key)
			case "deploy-image/v1-alpha", keyImages, "deploy-image", "deploy-image.go.kubebuilder.io":
				plugins.DeployImage = true
			default:
				findings = append(findings, pluginFinding(key))
			}
		}
	}
	if layout || base && kustomize {
		return plugins, findings
	}
	for _, key := range parts {
		findings = append(findings, diag.Finding{
			Field: "--plugins", Value: key, Problem: "is only a part of the Go layout and is not supported alone", Suggestion: "go/v4",
		})
	}
	return plugins, findings
}

// pluginFinding returns the problem of an unsupported plugin.
func pluginFinding(key string) diag.Finding {
	const supported = "go/v4 and deploy-image/v1-alpha are supported"
	f := diag.Finding{Field: "--plugins", Value: key}
	name, version, _ := strings.Cut(strings.ToLower(key), "/")
	switch short, _, _ := strings.Cut(name, "."); {
	case key == "":
		f.Problem = "a plugin must not be empty; " + supported
	case name == "go" || name == "go.kubebuilder.io" || name == "base.go.kubebuilder.io":
		f.Problem, f.Suggestion = fmt.Sprintf("version %s of the Go layout is not supported, only v4 is", version), "go/v4"
	case short == "grafana", short == "autoupdate", short == "helm" && (name == "helm.kubebuilder.io" || strings.HasSuffix(version, "-alpha")):
		f.Problem = fmt.Sprintf("the %s plugin of kubebuilder is not supported; add it with 'kubebuilder edit', which can read the project; %s", short, supported)
	case short == "helm", short == "ansible", short == "quarkus", short == "java":
		f.Problem = fmt.Sprintf("%s projects are not supported; %s", short, supported)
	default:
		f.Problem = "plugin not found; " + supported
		f.Suggestion, _ = diag.Nearest(key, []string{"go/v4", "deploy-image/v1-alpha", LayoutGoV4, keyImages})
	}
	return f
}

// CheckProjectVersion validates --project-version.
func CheckProjectVersion(version string) diag.Findings {
	if version == "" {
		return one("--project-version", "", required, ProjectVersion)
	}
	problem, hint := projectVersionProblem(version)
	if problem == "" {
		return nil
	}
	suggestion := ""
	if strings.Trim(version, "v. 0") == ProjectVersion {
		suggestion = ProjectVersion
	}
	return one("--project-version", version, problem+"; "+hint, suggestion)
}

// projectVersionProblem returns why a version of the PROJECT format is not supported, and what to do.
func projectVersionProblem(version string) (problem, hint string) {
	switch version {
	case ProjectVersion:
		return "", ""
	case "":
		return "the project version is missing", "use " + ProjectVersion
	case "1", "2":
		return "project version " + version + " is of kubebuilder v1 and v2, which current tools no longer read",
			"create a project of version 3 and move the API types and controllers over"
	case "3-alpha":
		return "project version 3-alpha was a preview of version 3",
			"convert the file with `operator-sdk alpha config-3alpha-to-3`"
	}
	return fmt.Sprintf("project version %q is unknown", version), "the only one in use is " + ProjectVersion
}
