package deploy

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Comparable returns a copy of an object without the metadata that the server and controllers set.
func Comparable(o *kube.Object) *kube.Object {
	c := o.DeepCopy()
	meta, _ := c.Object["metadata"].(map[string]any)
	for _, field := range []string{"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation", "selfLink"} {
		delete(meta, field)
	}
	annotations := c.GetAnnotations()
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	delete(annotations, "deployment.kubernetes.io/revision")
	if c.SetAnnotations(annotations); len(annotations) == 0 {
		delete(meta, "annotations")
	}
	return c
}

// clean returns an object without what the server and controllers set.
func clean(o *kube.Object) *kube.Object {
	c := Comparable(o)
	delete(c.Object, "status")
	return c
}

// equal reports whether two versions of an object differ only in what the server and controllers set.
func equal(a, b *kube.Object) bool { return reflect.DeepEqual(clean(a).Object, clean(b).Object) }

// ChangeOf returns the change of an object as one of a file KIND/NAMESPACE/NAME. The values of Secrets are masked, also in the objects
// themselves. before is nil for a new object, and after for one that is deleted.
func ChangeOf(before, after *kube.Object) (c worktree.Change, err error) {
	named := after
	if named == nil {
		named = before
		mask(nil, before)
	} else {
		mask(before, after)
	}
	c.Path = fileName(named)
	if c.Old, err = encode(before); err == nil {
		c.New, err = encode(after)
	}
	return c, err
}

// changes returns what a deployment would change, with one file per object.
func (d *deployment) changes(ctx context.Context, steps []step) (changes []worktree.Change, err error) {
	for _, s := range steps {
		if s.live != nil && equal(s.live, s.preview) {
			d.result.Unchanged++
			continue
		}
		old, new := s.live, clean(s.preview)
		if old == nil {
			d.result.Created++
		} else {
			d.result.Configured++
			old = clean(old)
			if kube.IsManagedBy(s.live, formerManagers()...) {
				d.Reportf("%s was applied by kubectl: fields of it that the manifests no longer contain are removed, too, which the diff can't show", kube.FullName(s.object))
			}
		}
		c, err := ChangeOf(old, new)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	if !d.Prune {
		return changes, nil
	}
	for _, o := range d.leftovers {
		if holdsData(o) {
			continue
		}
		live, err := d.Client.Get(ctx, o) // o has only its metadata
		if err != nil {
			return nil, err
		}
		if live == nil {
			continue
		}
		d.result.Pruned++
		c, err := ChangeOf(clean(live), nil)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// fileName returns the name of an object as a file: deployment/NAMESPACE/NAME.
func fileName(o *kube.Object) string {
	parts := []string{strings.ToLower(groupKind(o)), o.GetName()}
	if o.GetNamespace() != "" {
		parts = []string{parts[0], o.GetNamespace(), o.GetName()}
	}
	return strings.Join(parts, "/")
}

// encode returns an object as YAML; nil is no file.
func encode(o *kube.Object) ([]byte, error) {
	if o == nil {
		return nil, nil
	}
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s: %w", kube.FullName(o), err)
	}
	return text, nil
}

// mask replaces the values of a Secret, so that a diff shows only which ones change. old can be nil.
func mask(old, new *kube.Object) {
	if new.GetKind() != "Secret" {
		return
	}
	for _, field := range []string{"data", "stringData"} {
		var before map[string]any
		if old != nil {
			before, _ = old.Object[field].(map[string]any)
		}
		after, _ := new.Object[field].(map[string]any)
		was := maps.Clone(before)
		for key := range before {
			before[key] = "***"
		}
		for key, value := range after {
			after[key] = "***"
			if _, existed := before[key]; existed && was[key] != value {
				before[key], after[key] = "*** (before)", "*** (after)"
			}
		}
	}
}
