package helmoperator_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/helmoperator"
)

// waitMessage waits until the condition Ready of a resource has the reason DependencyNotReady and a message.
func (e *env) waitMessage(name, want string) *unstructured.Unstructured {
	e.Helper()
	var obj *unstructured.Unstructured
	e.eventually("the message of "+name, func() (err error) {
		obj, err = e.resource(name)
		got, message := conditionOf(obj, helmoperator.ConditionReady)
		if err == nil && (got != "False/DependencyNotReady" || message != want) {
			err = fmt.Errorf("got %s (%s), want %s", got, message, want)
		}
		return err
	})
	return obj
}

// setReady writes the condition Ready of an object of others.
func (e *env) setReady(obj *unstructured.Unstructured, status, reason string, generation int64) {
	e.Helper()
	e.patch(obj.DeepCopy(), fmt.Sprintf("status: {conditions: [{type: Ready, status: '%s', reason: %s, observedGeneration: %d}]}", status, reason, generation), "status")
}

// TestDocumentedDependsOn executes the example of dependsOn in docs/helm.md: a release waits for objects, whose kind may not exist yet, and
// continues with their events. A deployed release is repaired meanwhile, and a deletion doesn't wait.
func TestDocumentedDependsOn(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var requests atomic.Int32
	c := &transport{intercept: func(r *http.Request) int {
		if !r.URL.Query().Has("watch") && !strings.Contains(r.URL.Path, "/leases/") {
			requests.Add(1)
		}
		return 0
	}}
	group := e.namespace + ".example.com"
	database := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Database"}
	replace := strings.NewReplacer("db.example.com", group, "name: web-cache", "name: "+e.namespace)
	start := func() func() {
		return e.startReplaced(c, replace, "dependsOn:", "{text: a}", map[string]string{"configmap.yaml": configMap})
	}
	stop := start()
	e.create("one", map[string]any{"database": "main"})
	e.waitMessage("one", "dependsOn: Database "+e.namespace+"/main does not exist: the kind Database."+group+" is not installed")
	e.createCRD(database)
	absent := "dependsOn: Database " + e.namespace + "/main does not exist"
	e.waitMessage("one", absent)
	if _, err := e.get("v1", "ConfigMap", "one-config"); err == nil {
		t.Error("the release was installed")
	}
	create := func(name string) *unstructured.Unstructured {
		t.Helper()
		return e.apply(fmt.Sprintf("{apiVersion: %s/v1, kind: Database, metadata: {namespace: %s, name: %s}, spec: {}}", group, e.namespace, name))
	}
	db := create("main")
	notReady := "dependsOn: Database " + e.namespace + "/main is not ready: "
	obj := e.waitMessage("one", notReady+"it has no status yet")
	if len(obj.GetFinalizers()) > 0 {
		t.Errorf("finalizers %v before the installation", obj.GetFinalizers())
	}
	e.setReady(db, "False", "Starting", 1)
	e.waitMessage("one", notReady+"Starting")
	// At rest, and while what changes doesn't matter, nothing is requested but the changed object.
	quiet := func(most int32) {
		t.Helper()
		before, obj := requests.Load(), e.waitMessage("one", notReady+"Starting")
		for i := range 3 {
			create(fmt.Sprintf("unrelated-%d", before*10+int32(i)))
			e.patch(db.DeepCopy(), fmt.Sprintf("metadata: {labels: {a: v%d}}", before*10+int32(i)))
		}
		time.Sleep(time.Second) // for what must not happen
		if got := requests.Load() - before; got > most {
			t.Errorf("%d requests", got)
		}
		if after, err := e.resource("one"); err != nil || after.GetResourceVersion() != obj.GetResourceVersion() {
			t.Errorf("the resource was written: %v", err)
		}
	}
	quiet(3)
	// Neither a restart nor another generation begins another wait.
	stop()
	stop = start()
	obj, _ = e.resource("one")
	e.patch(obj, "spec: {text: b}")
	e.waitMessage("one", notReady+"Starting")
	e.patch(obj, "metadata: {annotations: {helm.sdk.operatorframework.io/paused: 'true'}}")
	e.waitFor("one", helmoperator.ConditionPaused, "True/PausedByAnnotation")
	e.patch(obj, "metadata: {annotations: {helm.sdk.operatorframework.io/paused: null}}")
	e.waitFor("one", helmoperator.ConditionPaused, "absent")
	e.setReady(db, "True", "Running", 0)
	e.waitMessage("one", "dependsOn: Database "+e.namespace+"/main is not ready: its condition Ready is about an older generation")
	if _, err := e.get("v1", "ConfigMap", "one-config"); err == nil {
		t.Error("the release was installed")
	}
	e.setReady(db, "True", "Running", 1)
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	if got, _ := e.counts(helmoperator.ReasonDependencyNotReady, "one"); got != 1 {
		t.Errorf("%d events", got)
	}
	// The optional dependency is cluster-scoped. It does nothing before the next change.
	e.apply("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + e.namespace + ", finalizers: [example.com/test]}}")
	role := &unstructured.Unstructured{}
	role.SetAPIVersion("rbac.authorization.k8s.io/v1")
	role.SetKind("ClusterRole")
	role.SetName(e.namespace)
	if err := e.client.Delete(t.Context(), role); err != nil {
		t.Fatal(err)
	}
	e.repaired("b", "True/ObjectsReady")
	e.patch(obj, "spec: {text: c}")
	e.waitMessage("one", "dependsOn: ClusterRole "+e.namespace+" is being deleted")
	e.repaired("b", "False/DependencyNotReady")
	e.patch(role, "metadata: {finalizers: null}")
	e.waitFor("one", helmoperator.ConditionReady, "True/ObjectsReady")
	e.repaired("c", "True/ObjectsReady")
	if err := e.client.Delete(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	e.repaired("c", "True/ObjectsReady")
	e.patch(obj, "spec: {text: d}")
	e.waitMessage("one", absent)
	e.patch(obj, "spec: {database: null}")
	e.waitMessage("one", "dependsOn: spec.database, the name of a Database, is not set")
	e.patch(obj, "spec: {database: a/../b}")
	e.waitMessage("one", "dependsOn: spec.database must be the name of a Database")
	e.delete("one")
	e.waitGone("v1", "ConfigMap", "one-config")
	e.create("two", nil)
	e.waitMessage("two", "dependsOn: spec.database, the name of a Database, is not set")
	e.delete("two")
	stop()
}

// repaired deletes the ConfigMap of release one, and waits until it is repaired with a text. Ready stays as it is.
func (e *env) repaired(want, ready string) {
	e.Helper()
	config, err := e.get("v1", "ConfigMap", "one-config")
	if err == nil {
		err = e.client.Delete(e.Context(), config)
	}
	if err != nil {
		e.Fatal(err)
	}
	e.eventually("the ConfigMap is repaired", func() error {
		config, err := e.get("v1", "ConfigMap", "one-config")
		if err == nil && text(config) != want {
			err = fmt.Errorf("text %q", text(config))
		}
		return err
	})
	e.waitFor("one", helmoperator.ConditionReady, ready)
}

// TestDependencyCycle says that resources wait for each other, until one of them doesn't.
func TestDependencyCycle(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.start(helmoperator.WithChart(chart("app", "{text: a}", map[string]string{"configmap.yaml": configMap})),
		helmoperator.WithDependsOn(dependson.Dependency{GroupVersionKind: e.gvk, NameFrom: "spec.after.name"}))
	after := func(names ...string) map[string]any {
		list := []any{}
		for _, name := range names {
			list = append(list, map[string]any{"name": name})
		}
		return map[string]any{"after": list}
	}
	named := func(names ...string) string {
		var list []string
		for _, name := range names {
			list = append(list, e.gvk.Kind+" "+e.namespace+"/"+name)
		}
		return strings.Join(list, " → ")
	}
	const forever = "; these resources wait for each other, forever unless a dependency changes: "
	waiting := func(name string) string {
		return "dependsOn: " + e.gvk.Kind + " " + e.namespace + "/" + name + " is not ready: DependencyNotReady"
	}
	one := e.create("one", after("two"))
	e.waitMessage("one", "dependsOn: "+e.gvk.Kind+" "+e.namespace+"/two does not exist")
	e.create("two", after("three"))
	e.waitMessage("one", waiting("two"))
	e.create("three", after("one"))
	e.waitMessage("one", waiting("two")+forever+named("one", "two", "three", "one"))
	e.waitMessage("two", waiting("three")+forever+named("two", "three", "one", "two"))
	e.waitMessage("three", waiting("one")+forever+named("three", "one", "two", "three"))
	e.patch(one, "spec: {after: [{name: one}]}")
	e.waitMessage("one", waiting("one")+"; the resource depends on itself, and waits forever unless that changes")
	e.waitMessage("three", waiting("one"))
	e.patch(one, "spec: {after: []}")
	for _, name := range []string{"one", "two", "three"} {
		e.waitFor(name, helmoperator.ConditionReady, "True/ObjectsReady")
	}
}
