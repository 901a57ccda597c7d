package release

import (
	"context"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// prepareRender is called before an action renders the chart. It returns the steps by which random fields keep the content that they
// have in a base revision, if there is one, so that passwords and certificates do not rotate, and settle, and the fingerprints of
// the new revision.
func (r *Release) prepareRender(ctx context.Context, revisions []*releasev1.Release, base *releasev1.Release, next situation) ([]renderStep, map[string]string, error) {
	first, err := r.renderVariant(ctx, next, false, readCluster(true))
	if err != nil || !first.random && !first.lookedUp {
		return nil, map[string]string{}, err
	}
	random, fingerprints := map[group][]key{}, map[string]string{}
	var steps []renderStep
	if first.random {
		second, err := r.renderVariant(ctx, next, true, readCluster(true))
		if err != nil {
			return nil, nil, err
		}
		random = only(first.view, second.view)
		different, differentHooks := takeFingerprints(fingerprints, first, second, "")
		if first.lookedUp && len(different)+len(differentHooks) > 0 {
			r.hiddenFingerprints(ctx, next, first.view, fingerprints)
			steps = append(steps, r.settle(ctx, next, different, fingerprints))
		}
	}
	if base == nil {
		return steps, fingerprints, nil
	}
	c, err := r.compare(ctx, r.stateOf(revisions, base), true)
	if err != nil || len(c.kept) == 0 && len(c.retained) == 0 {
		return steps, fingerprints, err
	}
	keep := func(objects []manifestObject) ([]manifestObject, error) {
		r.keepContent(objects, c, random)
		present := map[key]bool{}
		for _, object := range objects {
			present[r.keyOf(object.Unstructured)] = true
		}
		for _, k := range c.retained {
			if !present[k] {
				objects = append(objects, manifestObject{c.base.objects[k].DeepCopy(), c.base.sources[k]})
			}
		}
		return objects, nil
	}
	return append([]renderStep{keep}, steps...), fingerprints, nil
}

// hiddenFingerprints adds the fingerprints that random fields have while lookup does not find the objects of the revision: before they
// exist, and after somebody has deleted one of them.
func (r *Release) hiddenFingerprints(ctx context.Context, next situation, objects *view, fingerprints map[string]string) {
	mode := lookupMode{cluster: true, hide: objects}
	first, err := r.renderVariant(ctx, next, false, mode)
	if err != nil {
		return // templates may require them
	}
	if second, err := r.renderVariant(ctx, next, true, mode); err == nil {
		takeFingerprints(fingerprints, first, second, hiddenSuffix)
	}
}

// keepContent replaces the kept fields of rendered objects by their content in the base. Objects of the random groups have other
// names than in the base.
func (r *Release) keepContent(objects []manifestObject, c *comparison, random map[group][]key) {
	v := newView()
	for _, object := range objects {
		v.add(r.keyOf(object.Unstructured), object)
	}
	inBase := only(c.base, v)
	for g, keys := range only(v, c.base) {
		if deployed := inBase[g]; len(random[g]) == len(keys) && len(deployed) == len(keys) {
			v.rename(keys, deployed)
		}
	}
	r.replaceContent(v, c.kept, c.base.value)
}

func (r *Release) replaceContent(v *view, replaced fields, content func(field) (any, bool)) {
	normalized := map[key]bool{}
	for _, f := range replaced {
		object, ok := v.objects[f.key]
		if !ok {
			continue
		}
		if !normalized[f.key] { // as the fields belong to a normalized object
			normalized[f.key] = true
			r.normalize(object)
		}
		value, _ := content(f)
		v.replace(f, runtime.DeepCopyJSONValue(value))
	}
}
