package helmoperator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// documented returns the example of a watches.yaml in docs/helm.md that contains a text, for the kind and a chart of a test.
func (e *env) documented(contains, chart string) string {
	e.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "helm.md"))
	if err != nil {
		e.Fatal(err)
	}
	for _, match := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if example := match[1]; strings.HasPrefix(example, "- group: ") && strings.Contains(example, contains) {
			for key, value := range map[string]string{"group": e.gvk.Group, "version": e.gvk.Version, "kind": e.gvk.Kind, "chart": chart} {
				example = regexp.MustCompile("(?m)^([- ] "+key+": ).*").ReplaceAllString(example, "${1}"+value)
			}
			return example
		}
	}
	e.Fatalf("docs/helm.md has no example with %q", contains)
	return ""
}

// TestDocumentedRemediation retries as the example of docs/helm.md says.
func TestDocumentedRemediation(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"chart/Chart.yaml": "{apiVersion: v2, name: app, version: 1.0.0}", "chart/values.yaml": "{text: a, fail: false}",
		"chart/templates/configmap.yaml": configMap, "chart/templates/job.yaml": failingHook,
		"watches.yaml": e.documented("upgrade: {retries: 2", filepath.ToSlash(filepath.Join(dir, "chart"))),
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	reconcilers, err := helmoperator.LoadWatches(filepath.Join(dir, "watches.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &transport{}
	e.startAll(c.wrap(e.config), nil, reconcilers...)
	obj := e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.patch(obj, "spec: {text: b, fail: true}")
	e.eventually("the retries have failed", func() error {
		obj, err := e.resource("one")
		if _, message := conditionOf(obj, helmoperator.ConditionReleaseFailed); err == nil && !strings.Contains(message, "not tried again") {
			err = fmt.Errorf("status %v", obj.Object["status"])
		}
		return err
	})
	if got := c.jobs.Load(); got != 3 {
		t.Errorf("the job ran %d times, want 3", got)
	}
	if config, err := e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "a" {
		t.Errorf("%v %v, want a rollback", err, config)
	}
}
