package helmoperator_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// crdChart writes a chart with a CRD and returns its directory and the name of the CRD.
func (e *env) crdChart() (dir, name string) {
	e.Helper()
	group := e.namespace + ".example.com"
	dir = e.TempDir()
	for file, content := range map[string]string{
		"Chart.yaml":        "apiVersion: v2\nname: app\nversion: 1.0.0\n",
		"templates/c.yaml":  configMap,
		"crds/gadgets.yaml": fmt.Sprintf(gadgetCRD, group),
	} {
		file = filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			e.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			e.Fatal(err)
		}
	}
	return dir, "gadgets." + group
}

const gadgetCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

// TestCRDWatch checks that a CRD of a chart that others change or delete is repaired at once, with the default for a chart in a
// directory, that it is left alone and reported if somebody else manages it, and that passes at rest don't read it.
func TestCRDWatch(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	dir, name := e.crdChart()
	var requests requests
	e.startWith(requests.wrap(e.config), nil, []helmoperator.Option{helmoperator.WithGroupVersionKind(e.gvk), helmoperator.WithChartPath(dir)})
	e.create("one", map[string]any{"text": "x"})
	e.create("two", map[string]any{"text": "x"})
	for _, resource := range []string{"one", "two"} {
		e.waitFor(resource, helmoperator.ConditionReady, "True/ObjectsReady")
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	read := func() error { return e.client.Get(e.Context(), client.ObjectKey{Name: name}, crd) }
	size := func() *apiextensionsv1.JSONSchemaProps {
		if size, ok := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["size"]; ok {
			return &size
		}
		return nil
	}
	change := func(do func()) {
		t.Helper()
		e.eventually("the CRD is changed", func() error { // its status changes at the same time
			if err := read(); err != nil {
				return err
			}
			do()
			return e.client.Update(e.Context(), crd)
		})
	}
	change(func() { delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "size") })
	repaired := func() error {
		if err := read(); err != nil || size() == nil {
			return errors.Join(err, errNotYet)
		}
		return nil
	}
	e.eventually("the CRD is repaired", repaired)
	if got := e.eventuallyEvents(helmoperator.EventDriftRepaired, 1); !strings.Contains(got[0], "CustomResourceDefinition/"+name) {
		t.Errorf("event %q", got)
	}
	if err := e.client.Delete(e.Context(), crd); err != nil {
		t.Fatal(err)
	}
	uid := crd.UID
	e.eventually("the CRD is restored", func() error {
		if err := read(); err != nil || crd.UID == uid {
			return errors.Join(err, errNotYet)
		}
		return nil
	})

	change(func() {
		crd.Labels = map[string]string{"olm.managed": "true"}
		delete(crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties, "size")
	})
	for _, resource := range []string{"one", "two"} {
		obj := e.waitFor(resource, helmoperator.ConditionCRDsUpToDate, "False/CRDsDiffer")
		if _, message := conditionOf(obj, helmoperator.ConditionCRDsUpToDate); !strings.Contains(message, "CRD "+name+" differs from the chart's, but belongs to an operator that OLM installed") {
			t.Errorf("message %q", message)
		}
		e.waitFor(resource, helmoperator.ConditionReady, "True/ObjectsReady")
	}
	if err := read(); err != nil || size() != nil {
		t.Errorf("the CRD was changed (%v)", err)
	}
	e.eventuallyEvents(helmoperator.EventCRDsDiffer, 2)
	change(func() { crd.Labels = nil })
	e.eventually("the CRD is repaired", repaired)
	for _, resource := range []string{"one", "two"} {
		e.waitFor(resource, helmoperator.ConditionCRDsUpToDate, "absent")
	}
	if got := e.revisions(); len(got) != 2 {
		t.Errorf("revisions %v, want no upgrade", got)
	}
}

// TestCRDsAtRest checks that passes without changes do not read the CRDs of a chart.
func TestCRDsAtRest(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	dir, _ := e.crdChart()
	var requests requests
	e.startWith(requests.wrap(e.config), nil, []helmoperator.Option{
		helmoperator.WithGroupVersionKind(e.gvk), helmoperator.WithReconcilePeriod(200 * time.Millisecond), helmoperator.WithChartPath(dir),
	})
	e.create("one", map[string]any{"text": "x"})
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	requests.take()
	var seen []string
	e.eventually("passes without other requests", func() error {
		seen = append(seen, requests.take()...)
		last := seen[max(0, len(seen)-20):]
		if others := slices.DeleteFunc(slices.Clone(last), func(r string) bool { return strings.Contains(r, "/secrets?") }); len(last) < 20 || len(others) > 0 {
			return fmt.Errorf("requests %q", others)
		}
		return nil
	})
	for _, r := range seen {
		if !strings.HasPrefix(r, http.MethodGet) {
			t.Errorf("a pass without changes sends %s", r)
		}
	}
}

// TestCRDSettings checks that invalid settings are refused.
func TestCRDSettings(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string]string{
		"CreateReplace": `crds "CreateReplace": must be create, createReplace or skip`, "create": "", "createReplace": "", "skip": "", "": "",
	} {
		_, err := helmoperator.New(helmoperator.WithCRDs(policy), helmoperator.WithChartPath("x"), helmoperator.WithGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "App"}))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", policy, err)
		}
	}
}
