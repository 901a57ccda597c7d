package helmoperator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/helmoperator"
	"github.com/operon-sdk/operon/testdata/documented"
)

// documented returns the example of a watches.yaml in docs/helm.md that contains a text, for the kind and a chart of a test.
func (e *env) documented(contains, chart string) string {
	e.Helper()
	example := documented.Example(e.T, "helm.md", "- group: ", contains)
	for key, value := range map[string]string{"group": e.gvk.Group, "version": e.gvk.Version, "kind": e.gvk.Kind, "chart": chart} {
		example = regexp.MustCompile("(?m)^([- ] "+key+": ).*").ReplaceAllString(example, "${1}"+value)
	}
	return example
}

// startDocumented starts an operator with an example of docs/helm.md that contains a text, and a chart with templates.
func (e *env) startDocumented(c *transport, contains, values string, templates map[string]string) {
	e.Helper()
	e.startReplaced(c, strings.NewReplacer(), contains, values, templates)
}

// startReplaced is startDocumented with replacements in the example. The operator runs until the test ends or the returned function is called.
func (e *env) startReplaced(c *transport, replace *strings.Replacer, contains, values string, templates map[string]string) func() {
	e.Helper()
	dir := e.TempDir()
	files := map[string]string{
		"chart/Chart.yaml": "{apiVersion: v2, name: app, version: 1.0.0}", "chart/values.yaml": values,
		"watches.yaml": replace.Replace(e.documented(contains, filepath.ToSlash(filepath.Join(dir, "chart")))),
	}
	for name, template := range templates {
		files["chart/templates/"+name] = template
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			e.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			e.Fatal(err)
		}
	}
	reconcilers, err := helmoperator.LoadWatches(filepath.Join(dir, "watches.yaml"), nil)
	if err != nil {
		e.Fatal(err)
	}
	return e.startAll(c.wrap(e.config), nil, reconcilers...)
}

// TestDocumentedDrift ignores fields as the example of docs/helm.md says.
func TestDocumentedDrift(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.startDocumented(&transport{}, "driftDetection:", "{text: a, replicas: 1}", map[string]string{"configmap.yaml": configMap, "deployment.yaml": scalable})
	e.create("one", nil)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err != nil {
		t.Fatal(err)
	}
	obj, err := e.get("apps/v1", "Deployment", "one")
	if err != nil {
		t.Fatal(err)
	}
	e.patch(config, "data: {text: changed}")
	e.patch(obj, `spec: {replicas: 3, template: {spec: {containers: [{name: main, image: "example.com/other"}]}}}`)
	e.waitReplicas("one", 1)
	if obj, err = e.get("apps/v1", "Deployment", "one"); err != nil || !strings.Contains(fmt.Sprint(obj.Object["spec"]), "example.com/other") {
		t.Errorf("the image was repaired: %v (%v)", obj.Object["spec"], err)
	}
	if config, err = e.get("v1", "ConfigMap", "one-config"); err != nil || text(config) != "changed" {
		t.Errorf("the ConfigMap was repaired: %v (%v)", config.Object["data"], err)
	}
}

// TestDocumentedRemediation retries as the example of docs/helm.md says.
func TestDocumentedRemediation(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	c := &transport{}
	e.startDocumented(c, "upgrade: {retries: 2", "{text: a, fail: false}", map[string]string{"configmap.yaml": configMap, "job.yaml": failingHook})
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
