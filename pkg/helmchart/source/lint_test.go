package source

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
)

const lintedChart = `
-- Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0
icon: https://example.com/icon.svg
-- values.yaml --
budget: policy/v1
replicas: 1
-- values.schema.json --
{"type": "object", "properties": {"replicas": {"type": "integer"}, "budget": {"type": "string"}}}
-- templates/budget.yaml --
apiVersion: {{ .Values.budget }}
kind: PodDisruptionBudget
metadata:
  name: web
spec:
  maxUnavailable: 1
-- templates/pod.yaml --
apiVersion: v1
kind: Pod
metadata:
  name: web
spec:
  {{- with .Values.extra }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  containers:
  - name: web
    image: web:{{ .Values.replicas }}
{{- if semverCompare "<1.36-0" .Capabilities.KubeVersion.Version }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: old
dta: {}
{{- end }}
{{- if .Values.fail }}{{ .Values.fail.really.deep }}{{ end }}
-- templates/custom.yaml --
apiVersion: example.com/v1
kind: Web
metadata:
  name: web
anything: 1
`

// TestLint checks which findings charts have.
func TestLint(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, old, replacement string
		set, versions          []string
		want                   []string
	}{
		{name: "clean", old: "dta: {}", replacement: "data: {}"},
		{name: "one version", versions: []string{"1.36", "v1.37.0"}},
		{name: "unknown field in a version", want: []string{"error templates/pod.yaml:18 [unknown-field] ConfigMap old dta is not a field of ConfigMap (Kubernetes 1.35); did you mean data?"}},
		{name: "new field", old: "dta: {}", set: []string{"extra.schedulingGroup.podGroupName=a,extra.hostNetwrk=true"}, want: []string{
			"error templates/pod.yaml [unknown-field] Pod web spec.hostNetwrk is not a field of PodSpec; did you mean hostNetwork?",
			"error templates/pod.yaml [unknown-field] Pod web spec.schedulingGroup needs Kubernetes 1.36 or later (Kubernetes 1.35)",
		}},
		{name: "removed", old: "dta: {}", set: []string{"budget=policy/v1beta1"}, want: []string{
			"error templates/budget.yaml [removed-api] policy/v1beta1 PodDisruptionBudget was removed in Kubernetes 1.25; use policy/v1 PodDisruptionBudget",
		}},
		{name: "deprecated", versions: []string{"1.24"}, set: []string{"budget=policy/v1beta1"}, old: "dta: {}", want: []string{
			"warning templates/budget.yaml [deprecated-api] policy/v1beta1 PodDisruptionBudget is deprecated and will be removed in Kubernetes 1.25; use policy/v1 PodDisruptionBudget",
		}},
		{name: "no such version of a kind", set: []string{"budget=policy/v3"}, old: "dta: {}", want: []string{
			"error templates/budget.yaml [removed-api] Kubernetes has no policy/v3 PodDisruptionBudget; use policy/v1",
		}},
		{name: "written in the template", old: "apiVersion: {{ .Values.budget }}", replacement: "apiVersion: policy/v1beta1", versions: []string{"1.37"}, want: []string{
			"error templates/budget.yaml:1 [removed-api] policy/v1beta1 PodDisruptionBudget was removed in Kubernetes 1.25; use policy/v1 PodDisruptionBudget",
		}},
		{name: "template", old: "dta: {}", set: []string{"fail=true"}, want: []string{
			"error templates/pod.yaml:20 [helm-lint] <.Values.fail.really.deep>: can't evaluate field really in type interface {}",
		}},
		{name: "schema", old: "dta: {}", set: []string{"replicas=many,budget=1"}, want: []string{
			"error values.yaml [helm-lint] at '/budget': got number, want string",
			"error values.yaml [helm-lint] at '/replicas': got string, want integer",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := lintedChart
			if test.old != "" {
				text = strings.Replace(text, test.old, test.replacement, 1)
			}
			answer, err := Lint(t.Context(), helmchart.LintRequest{Files: chartOf(text), KubeVersions: test.versions, Values: helmchart.ValueOptions{Set: test.set}})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := lines(answer.Findings), strings.Join(test.want, "\n"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
	for version, want := range map[string]string{"2.0": "must be a version of Kubernetes", "1.99": "the newest version that is known is 1.37"} {
		_, err := Lint(t.Context(), helmchart.LintRequest{Files: chartOf(lintedChart), KubeVersions: []string{version}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", version, err, want)
		}
	}
}

func lines(findings diag.Findings) string {
	var all []string
	for _, f := range findings {
		all = append(all, string(f.Severity)+" "+f.Position.String()+" ["+f.Rule+"] "+f.Message())
	}
	return strings.Join(all, "\n")
}
