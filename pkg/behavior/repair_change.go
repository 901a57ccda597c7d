package behavior

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// byHand is the value of a field that was changed by hand.
const byHand = "changed-by-hand"

// A HandChange is a change by hand of a field that the operator has set.
type HandChange struct {
	Object *kube.Object
	// Field is the path of the field.
	Field string

	patch map[string]any
	value func(*kube.Object) any
}

// changeByHand changes a field of each object that the operator has made, and records the changes that it leaves as they are. An object
// is changed after the one before is repaired: otherwise, the watch of one could hide that another isn't watched. An operator that isn't at
// rest is left alone: it isn't known when it would have repaired the object.
func (r *run) changeByHand(ctx context.Context) error {
	var changes []HandChange
	managers := managersOf(r.o.Requests())
	for _, object := range r.repairable() {
		if change, ok := handChangeOf(object, managers); ok {
			changes = append(changes, change)
		}
	}
	if len(changes) == 0 || r.lastStep().Unsettled != nil {
		return nil
	}
	return r.stepByHand(ctx, "change by hand what the operator made", func() error {
		for _, change := range changes {
			if err := r.change(ctx, change); err != nil {
				var unsettled *stage.UnsettledError
				if errors.As(err, &unsettled) {
					return nil // the step says so
				}
				return err
			}
		}
		return nil
	})
}

// change makes a change, and waits until it is undone or the operator has settled.
func (r *run) change(ctx context.Context, change HandChange) error {
	from := len(r.history.Changes(0))
	if err := r.o.Client.Patch(ctx, change.Object, change.patch); err != nil {
		if kube.IsStatus(err) {
			return nil // an immutable object, or one that a webhook protects
		}
		return err
	}
	settling, stays := r.settling, false
	settling.Done = func() bool {
		var made bool
		made, stays = change.outcome(r.history.Changes(from))
		return made && !stays
	}
	if err := r.history.Settle(ctx, settling); err != nil {
		return err
	}
	if stays {
		r.observed.NotCorrected = append(r.observed.NotCorrected, change)
	}
	return nil
}

// outcome reports whether changes of objects contain the change, and whether it still stands after them.
func (c HandChange) outcome(changes []stage.Change) (made, stays bool) {
	for _, change := range changes {
		if isSame(change.After, c.Object) {
			stays = !change.Deleted && c.value(change.After) == byHand
			made = made || stays
		}
	}
	return made, stays
}

// managersOf returns the managers of the fields that the operator has set.
func managersOf(requests []gateway.Record) map[string]bool {
	managers := map[string]bool{}
	for _, r := range requests {
		if r.Done() {
			managers[r.Manager()] = true
		}
	}
	return managers
}

// handChangeOf returns a change of an object in a field that one of the managers has set: the image of a workload's first container, or a
// value of a ConfigMap. The number of replicas is no such field: the API server sets a default in the name of the client, and many
// operators leave it to their users and to autoscalers.
func handChangeOf(o *kube.Object, managers map[string]bool) (change HandChange, ok bool) {
	fields := managedBy(o, managers)
	switch gvk := o.GroupVersionKind(); {
	case gvk.Group == "" && gvk.Kind == "ConfigMap":
		data, _ := o.Object["data"].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(data)) {
			if isManaged(fields, "f:data", "f:"+key) {
				return HandChange{
					Object: o, Field: "data." + key, patch: map[string]any{"data": map[string]any{key: byHand}},
					value: func(o *kube.Object) any { return kube.ValueAt(o.Object, "data", key) },
				}, true
			}
		}
	case gvk.Group == "apps" && slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, gvk.Kind):
		return imageChange(o, fields)
	}
	return change, false
}

// imageChange returns a change of the image of a workload's first container.
func imageChange(o *kube.Object, fields []map[string]any) (change HandChange, ok bool) {
	containersOf := func(o *kube.Object) []any { return kube.ListAt(o.Object, "spec", "template", "spec", "containers") }
	if len(containersOf(o)) == 0 {
		return change, false
	}
	containers := containersOf(o.DeepCopy())
	first := containers[0].(map[string]any)
	name, _ := json.Marshal(first["name"]) // a string has no error
	if !isManaged(fields, "f:spec", "f:template", "f:spec", "f:containers", `k:{"name":`+string(name)+`}`, "f:image") {
		return change, false
	}
	first["image"] = byHand
	return HandChange{
		Object: o, Field: "spec.template.spec.containers[0].image",
		// A merge patch replaces lists.
		patch: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": containers}}}},
		value: func(o *kube.Object) any {
			for _, c := range containersOf(o) {
				if kube.StringAt(c, "name") == first["name"] {
					return kube.StringAt(c, "image")
				}
			}
			return nil
		},
	}, true
}

// managedBy returns the fields of an object that managers have set.
func managedBy(o *kube.Object, managers map[string]bool) (fields []map[string]any) {
	for _, entry := range o.GetManagedFields() {
		var set map[string]any
		if managers[entry.Manager] && entry.FieldsV1 != nil && json.Unmarshal(entry.FieldsV1.GetRawBytes(), &set) == nil {
			fields = append(fields, set)
		}
	}
	return fields
}

// isManaged reports whether one of the sets of fields has the field at a path.
func isManaged(fields []map[string]any, path ...string) bool {
	return slices.ContainsFunc(fields, func(set map[string]any) bool { return kube.ValueAt(set, path...) != nil })
}

// notCorrected finds changes by hand that the operator leaves as they are.
func (o *Observation) notCorrected() (findings diag.Findings) {
	for _, change := range o.NotCorrected {
		if o.isRetrying(change.Object) {
			continue
		}
		findings = append(findings, diag.Finding{
			Severity: diag.Warning, Rule: RuleDrift, Object: kube.FullName(change.Object), Field: change.Field,
			Problem: "was changed by hand, and the operator doesn't set it again",
			Fix:     "watch its kind with Owns in SetupWithManager, and compare the field with what it should be in each pass",
		})
	}
	return findings
}
