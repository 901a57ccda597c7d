package chart

import (
	"context"
	"path"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/operatorchart"
)

// LintOptions are the options of Lint.
type LintOptions struct {
	Namespace string
	Values    helmchart.ValueOptions
	// KubeVersions are versions of Kubernetes; none are the newest three that are known.
	KubeVersions []string
	// Strict makes errors of warnings.
	Strict bool
}

// A Linted chart has been checked.
type Linted struct {
	// Errors, Warnings and Notes are sorted. Their files begin with the name of the source.
	Errors, Warnings, Notes diag.Findings
	// KubeVersions are the versions that the objects were checked for.
	KubeVersions []string
}

// Lint checks a chart as 'helm lint' does, and its objects for versions of Kubernetes.
func Lint(ctx context.Context, charts helmchart.Runtime, src *Source, o LintOptions) (*Linted, error) {
	answer, err := charts.Lint(ctx, helmchart.LintRequest{
		Files: src.Files, Namespace: o.Namespace, Values: o.Values, KubeVersions: o.KubeVersions,
	})
	if err != nil {
		return nil, err
	}
	result := &Linted{KubeVersions: answer.KubeVersions}
	add := func(f diag.Finding) {
		switch {
		case f.Severity == diag.Note:
			result.Notes = append(result.Notes, f)
		case f.Severity == diag.Warning && !o.Strict:
			result.Warnings = append(result.Warnings, f)
		default:
			f.Severity = diag.Error
			result.Errors = append(result.Errors, f)
		}
	}
	if problem := sizeProblem(operatorchart.Files(src.Files)); problem != "" {
		add(diag.Finding{
			Severity: diag.Warning, Rule: "release-size", Position: diag.Position{File: src.Name},
			Problem: problem, Fix: "move its largest files, such as CRDs, to another chart",
		})
	}
	for _, f := range answer.Findings {
		f.File = path.Join(src.Name, f.File)
		add(f)
	}
	return result, nil
}

// CheckVersion returns a finding unless the value of a flag is empty or a semantic version.
func CheckVersion(flag, version string) diag.Findings {
	if version == "" || semver.IsValid("v"+strings.TrimPrefix(version, "v")) {
		return nil
	}
	return diag.Findings{{Field: flag, Value: version, Problem: "must be a semantic version (MAJOR.MINOR.PATCH)"}}
}

// CheckKubeVersions returns findings about the values of a flag that aren't versions of Kubernetes.
func CheckKubeVersions(flag string, versions ...string) (findings diag.Findings) {
	for _, version := range versions {
		if v := "v" + strings.TrimPrefix(version, "v"); semver.Major(v) != "v1" || v == "v1" {
			findings.Add(flag, version, "must be a version of Kubernetes, such as 1.36")
		}
	}
	return findings
}
