package source

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// lintedVersions is the number of versions of Kubernetes that a chart is checked for by default, as many as are supported upstream.
const lintedVersions = 3

// Lint checks a chart as 'helm lint' does, and the objects that it renders against versions of Kubernetes.
func Lint(ctx context.Context, request helmchart.LintRequest) (*helmchart.LintAnswer, error) {
	loaded, err := loadChart(request.Files)
	if err != nil {
		return nil, err
	}
	versions, err := kubeVersions(request.KubeVersions)
	if err != nil {
		return nil, err
	}
	values, err := userValues(request.Values)
	if err != nil {
		return nil, err
	}
	l := &linter{chart: loaded, files: request.Files, namespace: cmp.Or(request.Namespace, "default"), limits: &limits{time: maxRenderTime, memory: maxRenderMemory}}
	if err := l.helm(ctx, values); err != nil {
		return nil, err
	}
	if !l.failed && loaded.Metadata.Type != "library" {
		if err := l.objects(ctx, values, versions); err != nil {
			return nil, err
		}
	}
	return &helmchart.LintAnswer{Chart: metadata(loaded), Findings: l.findings.Distinct().Sort(), KubeVersions: versions}, nil
}

// kubeVersions returns the versions to check a chart for as 1.MINOR.
func kubeVersions(given []string) ([]string, error) {
	newest := minorOf(kubernetesVersion)
	if len(given) == 0 {
		var versions []string
		for minor := newest - lintedVersions + 1; minor <= newest; minor++ {
			versions = append(versions, fmt.Sprintf("1.%d", minor))
		}
		return versions, nil
	}
	var versions []string
	for _, version := range given {
		minor := minorOf(version)
		switch {
		case minor == 0:
			return nil, fmt.Errorf("--kube-version %q: must be a version of Kubernetes, such as 1.%d", version, newest)
		case minor > newest:
			return nil, fmt.Errorf("--kube-version %q: the newest version that is known is 1.%d", version, newest)
		}
		versions = append(versions, fmt.Sprintf("1.%d", minor))
	}
	return versions, nil
}

// A linter collects the problems of a chart.
type linter struct {
	chart     *chart.Chart
	files     helmchart.Files
	namespace string
	limits    *limits
	findings  diag.Findings
	// failed is true if the chart can't be rendered.
	failed bool
}

// deprecation matches the warnings of Helm about old kinds, which the check of the versions replaces.
var deprecation = lazyregexp.New(` is deprecated in v\d+\.\d+\+`)

// helm adds the problems that Helm finds in the chart.
func (l *linter) helm(ctx context.Context, values map[string]any) error {
	temp, err := tempdir.New("", "operon-chart")
	if err != nil {
		return err
	}
	defer func() { _ = temp.Remove() }()
	dir := filepath.Join(temp.Path, l.chart.Name())
	for _, name := range sortedKeys(l.files) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("%s: %w", name, withoutPath(err))
		}
		if err := os.WriteFile(file, l.files[name], 0o600); err != nil {
			return fmt.Errorf("%s: %w", name, withoutPath(err))
		}
	}
	values, err = exactNumbers(values) // Helm changes them
	if err != nil {
		return err
	}
	done := make(chan struct{})
	var result support.Linter
	go func() {
		defer close(done)
		result = lint.RunAll(dir, values, l.namespace, lint.WithSkipSchemaValidation(externalReference(l.chart) != ""))
	}()
	if err := l.limits.wait(ctx, done); err != nil {
		return err
	}
	for _, message := range result.Messages {
		l.message(dir, message)
	}
	// Values that violate the chart's own schema are reported twice.
	own := func(f diag.Finding) bool { return f.File == valuesFile && f.Severity == diag.Error }
	if slices.ContainsFunc(l.findings, own) {
		l.findings = slices.DeleteFunc(l.findings, func(f diag.Finding) bool { return f.File == "templates" && schemaViolation.MatchString(f.Problem) })
	}
	return nil
}

// schemaViolation matches the error of values that violate the schema of a chart.
var schemaViolation = lazyregexp.New(`^values don't meet the specifications of the schema`)

// message adds a message of Helm.
func (l *linter) message(dir string, m support.Message) {
	text := m.Err.Error()
	if deprecation.MatchString(text) {
		return
	}
	f := diag.Finding{Severity: diag.Note, Rule: "helm-lint", Position: diag.Position{File: filepath.ToSlash(m.Path)}}
	switch m.Severity {
	case support.ErrorSev, support.UnknownSev:
		f.Severity = diag.Error
	case support.WarningSev:
		f.Severity = diag.Warning
	}
	if m.Path == dir || m.Path == "" {
		f.File = chartFile
	}
	if f.File == "templates/" || strings.HasPrefix(f.File, "templates/") {
		l.failed = l.failed || f.Severity == diag.Error
		f.Problem = templateError(m.Err)
		l.place(&f)
	} else if problems := strings.Split("\n"+strings.TrimSpace(text), "\n- "); f.File == valuesFile && len(problems) > 1 {
		for _, problem := range problems[1:] { // violations of the schema
			f.Problem = oneLine(problem)
			l.findings = append(l.findings, f)
		}
		return
	} else {
		f.Problem = oneLine(text)
	}
	f.Problem = strings.ReplaceAll(strings.ReplaceAll(f.Problem, dir+string(filepath.Separator), ""), dir, l.chart.Name())
	f.File = strings.TrimSuffix(f.File, "/")
	l.findings = append(l.findings, f)
}

// inTemplate matches the start of an error in a template: its path, without the name of the chart, and the line.
var inTemplate = lazyregexp.New(`^[^/\s:]+/([^\s:]+)(?::(\d+))?: (.*)$`)

// place moves the path of a template and the line from the problem to the position.
func (l *linter) place(f *diag.Finding) {
	m := inTemplate.FindStringSubmatch(f.Problem)
	if m == nil || l.files[m[1]] == nil {
		return
	}
	f.Position, f.Problem = diag.Position{File: m[1]}, m[3]
	if _, err := fmt.Sscan(m[2], &f.Line); err != nil {
		f.Line = 0
	}
}
