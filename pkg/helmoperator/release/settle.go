package release

import (
	"context"
	"reflect"
)

// settle returns the step by which random fields of a new revision get the content that templates render once lookup finds the
// objects of the revision. Otherwise the next comparison would find that content: the hash of a Secret, for example, whose text is
// another one when its password is not generated but found. The upgrade that follows would replace pods without need.
//
// What is still random once lookup finds the objects, such as the hash of a found and a generated password, is left alone, but has
// other inputs from then on: the step adds the fingerprints that the next comparison takes.
func (r *Release) settle(ctx context.Context, next situation, random fields, fingerprints map[string]string) renderStep {
	return func(objects []manifestObject) ([]manifestObject, error) {
		rendered, applied := newView(), newView()
		for _, object := range objects {
			k := r.keyOf(object.Unstructured)
			rendered.add(k, object)
			normalized := object.DeepCopy()
			r.normalize(normalized)
			applied.add(k, manifestObject{normalized, object.source})
		}
		mode := lookupMode{cluster: true, applied: applied}
		first, err := r.renderVariant(ctx, next, false, mode)
		if err != nil {
			return objects, ctx.Err() // templates may fail if their objects exist, as they will in the next comparison
		}
		second, err := r.renderVariant(ctx, next, true, mode)
		if err != nil {
			return objects, ctx.Err()
		}
		var settled fields
		for _, f := range random {
			value, found := first.value(f)
			other, both := second.value(f)
			current, _ := applied.value(f)
			// What is still random is not derived from the objects.
			if found && both && reflect.DeepEqual(value, other) && !reflect.DeepEqual(value, current) {
				settled = append(settled, f)
			}
		}
		r.replaceContent(rendered, settled, first.value)
		takeFingerprints(fingerprints, first, second, foundSuffix)
		return objects, nil
	}
}
