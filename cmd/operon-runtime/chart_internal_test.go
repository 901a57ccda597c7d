package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// encode returns a request as JSON.
func encode(t *testing.T, request any) string {
	t.Helper()
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestChart fetches a chart and renders it, as operon does. The commands change the default logger, so it is not parallel.
func TestChart(t *testing.T) {
	code, out, errOut := runCommand(t, encode(t, helmchart.FetchRequest{Protocol: helmchart.Protocol, Starter: "memcached"}), "operon-runtime", "chart", "fetch")
	var fetched helmchart.FetchAnswer
	if err := json.Unmarshal([]byte(out), &fetched); code != exitOK || errOut != "" || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, errOut)
	}
	if fetched.Chart.Name != "memcached" || len(fetched.Files["values.yaml"]) == 0 {
		t.Errorf("%+v", fetched.Chart)
	}
	// Helm logs that a value cannot be merged; nothing of it is on stderr.
	request := helmchart.RenderRequest{
		Protocol: helmchart.Protocol, Files: fetched.Files, ReleaseName: "demo", Namespace: "default",
		Values: []map[string]any{{"image": "s3cret"}, {"replicaCount": 3}},
	}
	code, out, errOut = runCommand(t, encode(t, request), "operon-runtime", "chart", "render")
	var rendered helmchart.RenderAnswer
	if err := json.Unmarshal([]byte(out), &rendered); code != exitOK || errOut != "" || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, errOut)
	}
	if len(rendered.Renderings) != 2 || !strings.HasPrefix(rendered.Renderings[0].Error, "memcached/templates/deployment.yaml:") ||
		rendered.Renderings[1].Error != "" || len(rendered.Renderings[1].Objects) < 3 {
		t.Errorf("%+v", rendered)
	}
	var kinds []string
	for _, object := range rendered.Renderings[1].Objects {
		kinds = append(kinds, object.Object["kind"].(string))
		if object.Object["kind"] == "Deployment" && object.Object["spec"].(map[string]any)["replicas"] != 3.0 {
			t.Errorf("%v", object.Object)
		}
	}
	if got := strings.Join(kinds, " "); got != "ServiceAccount Service Deployment Pod" {
		t.Errorf("kinds: %s", got)
	}
}

// TestChartErrors checks that errors are one line on stderr. It is not parallel, as TestChart.
func TestChartErrors(t *testing.T) {
	for command, test := range map[string]struct {
		request any
		want    string
	}{
		"fetch":  {helmchart.FetchRequest{Protocol: helmchart.Protocol, Chart: "./none"}, "error: ./none: no such file or directory\n"},
		"render": {helmchart.RenderRequest{Protocol: helmchart.Protocol, ReleaseName: "a", Files: helmchart.Files{"Chart.yaml": []byte("a: [\n")}}, "error: Chart.yaml: error converting YAML to JSON: yaml: line 1: did not find expected node content\n"},
	} {
		code, out, errOut := runCommand(t, encode(t, test.request), "operon-runtime", "chart", command)
		if code != exitFailed || out != "" || errOut != test.want {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q; want %q", command, code, out, errOut, test.want)
		}
	}
}
