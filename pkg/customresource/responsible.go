package customresource

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// A record is the value of the annotation with the operator that took over a resource: "NAME: SELECTOR".
//
// Either part identifies the operator. The name is the same after its selector was changed; the selector is the same after the operator
// was renamed, without leader election, and when it runs outside of the cluster. Operators that share a kind differ in both.
type record struct{ name, selector string }

// unnamed stands for the name of an operator that has none.
const unnamed = "unnamed"

func (r record) String() string {
	name := r.name
	if name == "" {
		name = unnamed
	}
	return strings.TrimSuffix(name+": "+r.selector, " ")
}

func parseRecord(text string) record {
	name, selector, _ := strings.Cut(text, ":")
	if name == unnamed {
		name = ""
	}
	return record{name, strings.TrimSpace(selector)}
}

func (r record) isSame(other record) bool {
	return r.selector == other.selector || r.name != "" && r.name == other.name
}

// An Operator identifies the operator that finalizes the resources of a kind.
type Operator struct {
	// Name differs between operators of the same kind, and stays the same when one is restarted or upgraded. It can be empty.
	Name string
	// Annotation is where resources have the operator that added the finalizer.
	Annotation string

	// reported are the deleted resources that were logged as left alone.
	mu       sync.Mutex
	reported map[types.NamespacedName]types.UID
}

func (k *Kind) record() record { return record{k.Operator.Name, k.Selector.String()} }

// TakeOver adds a finalizer to obj, unless obj has one that isOwn accepts, and records this operator as the one that finalizes obj. It
// updates obj. The error is ErrDeleted if obj is being deleted.
//
// Without a selector, nobody else finalizes the resources, and the record isn't worth a request of its own.
func (k *Kind) TakeOver(ctx context.Context, obj *unstructured.Unstructured, finalizer string, isOwn func(string) bool) error {
	value := k.record().String()
	return k.addFinalizer(ctx, obj, finalizer, isOwn, k.Operator.Annotation, func(current string, adds bool) string {
		if adds || !k.Selector.Empty() {
			return value
		}
		return current
	})
}

// IsResponsible reports whether this reconciler may change obj. It may change what its selector matches, unless obj is being deleted and
// another operator has taken it over, and it finalizes what it has taken over itself, whose labels may have been changed since. Nobody
// is responsible for a deleted resource that has no record and that the selector excludes, which is logged once.
func (k *Kind) IsResponsible(obj *unstructured.Unstructured, isFinalizer func(string) bool) bool {
	matches := k.Matches(obj)
	if obj.GetDeletionTimestamp() == nil || k.Selector.Empty() || !slices.ContainsFunc(obj.GetFinalizers(), isFinalizer) {
		return matches
	}
	text, recorded := obj.GetAnnotations()[k.Operator.Annotation]
	if !recorded {
		if !matches && k.Operator.report(obj) {
			k.Log.Info("left a deleted resource alone: the selector excludes it, and no annotation says that this operator has taken it over; "+
				"if no other operator finalizes it, change its labels or remove the finalizer",
				"namespace", obj.GetNamespace(), "name", obj.GetName(), "selector", k.Selector.String(), "annotation", k.Operator.Annotation)
		}
		return matches
	}
	own := parseRecord(text).isSame(k.record())
	if matches && !own && k.Operator.report(obj) {
		k.Log.Info("left a deleted resource to the operator that has taken it over; if that operator doesn't exist, remove the annotation",
			"namespace", obj.GetNamespace(), "name", obj.GetName(), "operator", text, "annotation", k.Operator.Annotation)
	}
	return own
}

// AreAnnotationsEqual reports whether two resources have the same annotations but for the record of their operator.
func (o *Operator) AreAnnotationsEqual(a, b *unstructured.Unstructured) bool {
	before, after := a.GetAnnotations(), b.GetAnnotations() // copies
	delete(before, o.Annotation)
	delete(after, o.Annotation)
	return maps.Equal(before, after)
}

func (o *Operator) isRecordChanged(a, b *unstructured.Unstructured) bool {
	return a.GetAnnotations()[o.Annotation] != b.GetAnnotations()[o.Annotation]
}

// forget forgets a resource that no longer exists.
func (o *Operator) forget(key types.NamespacedName) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.reported, key)
}

// report reports whether obj was not reported yet.
func (o *Operator) report(obj *unstructured.Unstructured) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	if o.reported[key] == obj.GetUID() {
		return false
	}
	if o.reported == nil {
		o.reported = map[types.NamespacedName]types.UID{}
	}
	o.reported[key] = obj.GetUID()
	return true
}
