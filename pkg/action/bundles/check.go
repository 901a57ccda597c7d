package bundles

import (
	"strings"

	"github.com/blang/semver/v4"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// check validates the options before anything is read.
func (b *bundleRun) check(piped bool) diag.Findings {
	var findings diag.Findings
	if !b.Manifests && !b.Metadata {
		b.Manifests, b.Metadata = true, true
	}
	if problem := packageProblem(b.Package); problem != "" && b.Package != "" {
		findings.Add("--package", b.Package, problem)
	}
	if problem := VersionProblem(b.Version); problem != "" {
		findings.Add("--version", b.Version, problem)
	}
	for _, channel := range strings.Split(b.Channels, ",") {
		if problem := channelProblem(channel); problem != "" {
			findings.Add("--channels", b.Channels, problem)
		}
	}
	if problem := channelProblem(b.DefaultChannel); problem != "" && b.DefaultChannel != "" {
		findings.Add("--default-channel", b.DefaultChannel, problem)
	}
	findings = append(findings, b.Findings...)
	if !b.Manifests {
		return findings
	}
	return append(findings, b.checkSources(piped)...)
}

// checkSources validates the options for the source of the manifests.
func (b *bundleRun) checkSources(piped bool) diag.Findings {
	var findings diag.Findings
	if piped && (b.InputDir != "" || b.DeployDir != "" || b.CRDsDir != "") {
		findings.Add("stdin", "a pipe", "is given with --input-dir, --deploy-dir or --crds-dir; use one of them, and append </dev/null if a script passes its own input on")
	}
	if b.InputDir != "" && (b.DeployDir != "" || b.CRDsDir != "") {
		findings.Add("--input-dir", b.InputDir, "excludes --deploy-dir and --crds-dir")
	}
	if b.CRDsDir != "" && b.DeployDir == "" && b.InputDir == "" {
		findings.Add("--crds-dir", b.CRDsDir, "contains only CRDs; pass --deploy-dir, too")
	}
	return findings
}

// VersionProblem returns what prevents a text from being the version of a bundle, or empty. An empty version is valid.
func VersionProblem(version string) string {
	if version == "" {
		return ""
	}
	v, err := semver.Parse(version)
	switch {
	case strings.HasPrefix(version, "v"):
		return "must be a semantic version without v, such as 1.2.3"
	case err != nil:
		return "must be a semantic version such as 1.2.3: " + strings.ToLower(err.Error())
	case len(v.Build) > 0:
		return "has build metadata, which the name of a CSV cannot contain; leave out the part from + on"
	}
	return ""
}

// packageProblem returns what prevents a text from being the name of a package, or empty.
func packageProblem(name string) string {
	for _, finding := range project.CheckPackageName(name) {
		return finding.Problem
	}
	return ""
}

// channelProblem returns what prevents a text from being the name of a channel, or empty.
func channelProblem(channel string) string {
	switch {
	case channel == "":
		return "has an empty channel"
	case strings.ContainsAny(channel, " \t\r\n"):
		return "contains white space; separate channels only by commas"
	case strings.ContainsAny(channel, "\"'#:{}[]=$\\"):
		return "contains a character that channel names cannot have"
	}
	return ""
}
