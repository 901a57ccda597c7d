package helmchart

import (
	"context"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A ValuesFile is a file of the user with values.
type ValuesFile struct {
	// Name is the name of the file, for errors.
	Name string `json:"name"`
	Text []byte `json:"text"`
}

// ValueOptions are the values that a user sets, as for Helm. They override the defaults of a chart.
type ValueOptions struct {
	// Files override the files before them.
	Files []ValuesFile `json:"files,omitempty"`
	// Set are assignments such as a.b=1,c=2, and SetString ones whose values are strings. They override Files.
	Set       []string `json:"set,omitempty"`
	SetString []string `json:"setString,omitempty"`
}

// A LintRequest asks for the problems of a chart.
type LintRequest struct {
	Protocol  int          `json:"protocol"`
	Files     Files        `json:"files"`
	Namespace string       `json:"namespace"`
	Values    ValueOptions `json:"values"`
	// KubeVersions are the versions of Kubernetes that the objects must be valid for, such as 1.36; none are the newest three that are known.
	KubeVersions []string `json:"kubeVersions,omitempty"`
}

// A LintAnswer has the problems of a chart.
type LintAnswer struct {
	Chart Metadata `json:"chart"`
	// Findings are sorted. Their files are relative to the chart.
	Findings diag.Findings `json:"findings,omitempty"`
	// KubeVersions are the versions that the objects were compared with.
	KubeVersions []string `json:"kubeVersions"`
}

// A TemplateRequest asks for the manifests of a chart.
type TemplateRequest struct {
	Protocol int   `json:"protocol"`
	Files    Files `json:"files"`
	// ReleaseName and Namespace identify the release.
	ReleaseName string       `json:"releaseName"`
	Namespace   string       `json:"namespace"`
	Values      ValueOptions `json:"values"`
	// KubeVersion and APIVersions are what templates find in .Capabilities; without, the defaults of Helm.
	KubeVersion string   `json:"kubeVersion,omitempty"`
	APIVersions []string `json:"apiVersions,omitempty"`
	// ShowOnly are patterns of the templates to render, relative to the chart; none are all.
	ShowOnly    []string `json:"showOnly,omitempty"`
	IncludeCRDs bool     `json:"includeCRDs,omitempty"`
	NoHooks     bool     `json:"noHooks,omitempty"`
}

// A TemplateAnswer has the manifests of a chart.
type TemplateAnswer struct {
	// Manifests is what 'helm template' prints.
	Manifests string `json:"manifests"`
}

// A PackageRequest asks for the archive of a chart.
type PackageRequest struct {
	Protocol int   `json:"protocol"`
	Files    Files `json:"files"`
	// Version and AppVersion replace those in Chart.yaml, unless they are empty.
	Version    string `json:"version,omitempty"`
	AppVersion string `json:"appVersion,omitempty"`
	// Time is the time of all files.
	Time time.Time `json:"time"`
	// Sign asks for a provenance file, or is nil.
	Sign *SigningKey `json:"sign,omitempty"`
}

// A SigningKey is a private OpenPGP key of the user.
type SigningKey struct {
	// Keyring is the path of a file with private keys, and Name a part of the name of one.
	Keyring    string `json:"keyring"`
	Name       string `json:"name"`
	Passphrase string `json:"passphrase,omitempty"`
}

// A PackageAnswer has the archive of a chart.
type PackageAnswer struct {
	// Name is the name of the file: NAME-VERSION.tgz.
	Name    string `json:"name"`
	Archive []byte `json:"archive"`
	// Provenance is the content of the provenance file, or nil.
	Provenance []byte `json:"provenance,omitempty"`
}

// A DescribeRequest asks for what a registry stores besides the archive of a chart.
type DescribeRequest struct {
	Protocol int    `json:"protocol"`
	Archive  []byte `json:"archive"`
}

// A DescribeAnswer describes the archive of a chart for a registry.
type DescribeAnswer struct {
	Chart Metadata `json:"chart"`
	// Config is Chart.yaml as JSON, and Annotations are those of the manifest, which Helm sets.
	Config      []byte            `json:"config"`
	Annotations map[string]string `json:"annotations"`
}

// Lint returns the problems of a chart. The protocol of the request is set here.
func (r Runtime) Lint(ctx context.Context, request LintRequest) (*LintAnswer, error) {
	request.Protocol = Protocol
	return ask[LintAnswer](ctx, r, "checking the chart", "lint", request)
}

// Template returns the manifests of a chart. The protocol of the request is set here.
func (r Runtime) Template(ctx context.Context, request TemplateRequest) (*TemplateAnswer, error) {
	request.Protocol = Protocol
	return ask[TemplateAnswer](ctx, r, "rendering the chart", "template", request)
}

// Package returns the archive of a chart. The protocol of the request is set here.
func (r Runtime) Package(ctx context.Context, request PackageRequest) (*PackageAnswer, error) {
	request.Protocol = Protocol
	return ask[PackageAnswer](ctx, r, "packaging the chart", "package", request)
}

// Describe describes the archive of a chart. The protocol of the request is set here.
func (r Runtime) Describe(ctx context.Context, request DescribeRequest) (*DescribeAnswer, error) {
	request.Protocol = Protocol
	return ask[DescribeAnswer](ctx, r, "reading the chart", "describe", request)
}

// ask sends a request and returns the answer.
func ask[Answer any](ctx context.Context, r Runtime, description, command string, request any) (*Answer, error) {
	answer := new(Answer)
	if err := r.call(ctx, description, command, request, answer); err != nil {
		return nil, err
	}
	return answer, nil
}
