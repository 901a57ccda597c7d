package behavior

import (
	"slices"
	"testing"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// TestHandChangeOf checks which field of an object is changed: one that the operator has set.
func TestHandChangeOf(t *testing.T) {
	t.Parallel()
	managers := managersOf([]gateway.Record{
		{Request: gateway.Request{Verb: "update", Resource: "pods"}, ServerCode: 200, UserAgent: "manager/v1 (linux)"},
		{Request: gateway.Request{Verb: "patch", Resource: "pods", FieldManager: "applier"}, ServerCode: 200, UserAgent: "manager/v1 (linux)"},
		{Request: gateway.Request{Verb: "patch", Resource: "pods", FieldManager: "denied"}, ServerCode: 403},
		{Request: gateway.Request{Verb: "get", Resource: "pods"}, ServerCode: 200, UserAgent: "reader"},
	})
	const image = `{"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}}}}}}}`
	managed := func(manager, fields string) string {
		return "managedFields: [{manager: other, fieldsV1: {'f:spec': {}}}, {manager: " + manager + ", fieldsV1: " + fields + "}]"
	}
	workload := func(kind, managedFields string) string {
		return "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: one, " + managedFields + "}, spec: {replicas: 3, template: {spec: {containers: [{name: web, image: a}, {name: side, image: b}]}}}}"
	}
	config := func(managedFields string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, " + managedFields + "}, data: {a: '1', b.c: '2'}}"
	}
	for name, test := range map[string]struct{ object, want string }{
		"image":                         {workload("Deployment", managed("manager", image)), "spec.template.spec.containers[0].image"},
		"image that is applied":         {workload("StatefulSet", managed("applier", image)), "spec.template.spec.containers[0].image"},
		"image of somebody else":        {workload("Deployment", managed("other", image)), ""},
		"image of a refused write":      {workload("Deployment", managed("denied", image)), ""},
		"another kind":                  {workload("ReplicaSet", managed("manager", image)), ""},
		"no containers":                 {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: one, " + managed("manager", image) + "}}", ""},
		"first value":                   {config(managed("manager", "{'f:data': {'f:a': {}, 'f:b.c': {}}}")), "data.a"},
		"value":                         {config(managed("manager", "{'f:data': {'f:b.c': {}}}")), "data.b.c"},
		"values of a reader":            {config(managed("reader", "{'f:data': {'f:a': {}}}")), ""},
		"labels":                        {config(managed("manager", "{'f:metadata': {'f:labels': {'f:a': {}}}}")), ""},
		"fields that can't be read":     {config(managed("manager", "[]")), ""},
		"a kind without such a field":   {"{apiVersion: v1, kind: Service, metadata: {name: one, " + managed("manager", "{'f:spec': {}}") + "}}", ""},
		"the kind of another API group": {"{apiVersion: a.b/v1, kind: ConfigMap, metadata: {name: one, " + managed("manager", "{'f:data': {'f:a': {}}}") + "}, data: {a: '1'}}", ""},
	} {
		objects, err := kube.Decode([]byte(test.object))
		if err != nil {
			t.Fatal(err)
		}
		if change, _ := handChangeOf(objects[0], managers); change.Field != test.want {
			t.Errorf("%s: %q, want %q", name, change.Field, test.want)
		}
	}
}

// TestOutcome checks when a change by hand stands: what counts is the last version of the object, or of the one in its place.
func TestOutcome(t *testing.T) {
	t.Parallel()
	version := func(uid, value string) *kube.Object {
		return decode(t, "metadata: {name: one, uid: "+uid+", managedFields: [{manager: m, fieldsV1: {'f:data': {'f:a': {}}}}]}, data: {a: "+value+"}")[0]
	}
	change, ok := handChangeOf(version("u", "right"), map[string]bool{"m": true})
	if !ok {
		t.Fatal("no change")
	}
	right, wrong := stage.Change{After: version("u", "right")}, stage.Change{After: version("u", byHand)}
	deleted := stage.Change{After: version("u", byHand), Deleted: true}
	other := stage.Change{After: decode(t, "metadata: {name: two}")[0]}
	for name, test := range map[string]struct {
		changes     []stage.Change
		made, stays bool
	}{
		"not seen yet":        {[]stage.Change{other, right}, false, false},
		"stays":               {[]stage.Change{wrong, other}, true, true},
		"undone":              {[]stage.Change{wrong, right}, true, false},
		"set to another":      {[]stage.Change{wrong, {After: version("u", "new")}}, true, false},
		"deleted":             {[]stage.Change{wrong, deleted}, true, false},
		"made again":          {[]stage.Change{wrong, deleted, {After: version("v", "right")}}, true, false},
		"undone, and changed": {[]stage.Change{wrong, right, wrong}, true, true},
	} {
		if made, stays := change.outcome(test.changes); made != test.made || stays != test.stays {
			t.Errorf("%s: made %t, stays %t", name, made, stays)
		}
	}
}

// TestImagePatch checks that a change of an image keeps the rest of the list.
func TestImagePatch(t *testing.T) {
	t.Parallel()
	objects, err := kube.Decode([]byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: one}, spec: {template: {spec: {containers: [{name: web, image: a}, {name: side, image: b}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	fields := []map[string]any{{"f:spec": map[string]any{"f:template": map[string]any{"f:spec": map[string]any{"f:containers": map[string]any{`k:{"name":"web"}`: map[string]any{"f:image": map[string]any{}}}}}}}}
	change, ok := imageChange(objects[0], fields)
	var got []string
	for _, c := range kube.ListAt(change.patch, "spec", "template", "spec", "containers") {
		got = append(got, kube.StringAt(c, "name")+" "+kube.StringAt(c, "image"))
	}
	if want := []string{"web " + byHand, "side b"}; !ok || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if value := change.value(objects[0]); value != "a" {
		t.Errorf("the object itself has the image %v", value)
	}
}
