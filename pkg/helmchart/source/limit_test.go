package source

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

const limitVariable = "OPERON_TEST_LIMIT"

// TestRenderLimits renders templates that need more time or memory than they may, each in a process, which ends with them.
func TestRenderLimits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ template, want string }{
		"loop":     {"{{range untilStep 0 2000000000 1}}{{end}}", "needs more than 300 MiB"},
		"repeat":   {`{{repeat 10000000000 "x"}}`, "needs more than 300 MiB"},
		"included": {`{{include "demo.loop" .}}`, "needs more than 300 MiB"},
		"time":     {"{{range until 1000}}{{range until 1000}}{{range until 1000}}{{range until 1000}}{{end}}{{end}}{{end}}{{end}}", "takes more than 2s"},
	}
	if name := os.Getenv(limitVariable); name != "" {
		fmt.Println(renderLimited(t, tests[name].template))
		os.Exit(0)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRenderLimits$")
			c.Env = append(os.Environ(), limitVariable+"="+name)
			out, err := c.CombinedOutput()
			if want := "demo/templates/hostile.yaml: rendering " + test.want; err != nil || !strings.HasPrefix(string(out), want) {
				t.Errorf("got %s, %v, want %s", out, err, want)
			}
		})
	}
}

func renderLimited(t *testing.T, template string) error {
	_, err := render(t.Context(), helmchart.RenderRequest{ReleaseName: "demo", Values: []map[string]any{{}}, Files: helmchart.Files{
		"Chart.yaml":             []byte("apiVersion: v2\nname: demo\nversion: 1.0.0\n"),
		"templates/_helpers.tpl": []byte(`{{define "demo.loop"}}{{range until 2000000000}}{{end}}{{end}}`),
		"templates/a.yaml":       []byte("a: b\n"),
		"templates/hostile.yaml": []byte(template),
		"templates/z.yaml":       []byte("a: b\n"),
	}}, &limits{time: limitOf(template), memory: 300 << 20})
	return err
}

// limitOf returns a time that a machine under load exceeds only in the test of the time.
func limitOf(template string) time.Duration {
	if strings.HasPrefix(template, "{{range until 1000}}") {
		return 2 * time.Second
	}
	return time.Minute
}
