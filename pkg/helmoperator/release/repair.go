package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/cli-runtime/pkg/resource"
)

// Repair compares the objects in the cluster with the deployed manifest: it creates missing ones and patches the ones that
// differ, and the CRDs of the chart with Options.CRDs. Fields that the manifest does not contain are left to others. It continues after errors and returns all of them; they
// name the objects. With Options.Observer, an object that has not changed since the last Repair costs no request.
func (r *Release) Repair(ctx context.Context) (*Deployed, []Repaired, error) {
	s, err := r.repairState(ctx)
	if err != nil {
		return nil, nil, err
	}
	deployed, err := s.describe(r)
	if err != nil {
		return nil, nil, err
	}
	repaired, err := r.repairCRDs(ctx)
	var errs []error
	if err != nil {
		errs = append(errs, err)
	}
	states, changed := verifiedStates{}, map[int]bool{}
	for i, object := range deployed.Objects {
		if object.Name != "" && !r.isVerified(s, object, states) { // the server has named objects without name
			changed[i] = true
		}
	}
	if len(changed) > 0 {
		objects, err := parseManifest(s.revision.Manifest)
		if err != nil {
			return nil, nil, r.errorf("read its manifest: %w", err)
		}
		for i, object := range objects {
			if !changed[i] {
				continue
			}
			done, err := r.repairObject(ctx, s, object.Unstructured, states)
			if err != nil {
				errs = append(errs, r.errorf("repair %s: %w", deployed.Objects[i], err))
			}
			if done != nil {
				done.Object = deployed.Objects[i]
				repaired = append(repaired, *done)
			}
		}
	}
	r.factory.verified.set(r.owner.uid, states)
	return deployed, repaired, r.redact(errors.Join(errs...), s.revision)
}

// repairState returns the deployed revision.
func (r *Release) repairState(ctx context.Context) (*state, error) {
	if s := r.planned; s != nil {
		r.planned = nil
		return s, nil
	}
	s, err := r.settledState(ctx)
	if err != nil || s != nil {
		return s, err
	}
	revisions, err := r.history()
	if err != nil {
		return nil, err
	}
	revision := deployedOf(revisions)
	if revision == nil {
		return nil, r.errorf("repair: there is no deployed revision")
	}
	return r.stateOf(revisions, revision), nil
}

// verifiedRecord identifies what the objects are made of: the record, and the label.
func (r *Release) verifiedRecord(s *state) string { return s.record + "/" + r.chartName() }

// isVerified reports whether an object is observed in the state in which it corresponded to the manifest. It then adds the state to
// states.
func (r *Release) isVerified(s *state, object Object, states verifiedStates) bool {
	if r.options.Observer == nil {
		return false
	}
	k := verifiedKey{object.GroupVersionKind, object.Namespace, object.Name}
	verified, ok := r.factory.verified.get(r.owner.uid)[k]
	if !ok || verified.record != r.verifiedRecord(s) {
		return false
	}
	metadata, known := r.options.Observer.Observe(k.GroupVersionKind, types.NamespacedName{Namespace: k.namespace, Name: k.name})
	if !known || metadata == nil || liveHash(metadata) != verified.live {
		return false
	}
	states[k] = verified
	return true
}

func (r *Release) repairObject(ctx context.Context, s *state, object *unstructured.Unstructured, states verifiedStates) (*Repaired, error) {
	info, err := r.info(object)
	if err != nil {
		return nil, err
	}
	r.applied(info)
	k := verifiedKey{object.GroupVersionKind(), info.Namespace, info.Name}
	live, err := r.get(ctx, info)
	if isMissing(err) {
		if live, err = r.create(ctx, info); err != nil {
			return nil, err
		}
		states[k] = verifiedState{r.verifiedRecord(s), liveHash(live)}
		return &Repaired{Created: true}, nil
	}
	if err != nil {
		return nil, err
	}
	if live.GetDeletionTimestamp() != nil {
		return nil, nil // it is created again when it no longer exists
	}
	patched, err := r.repairDrift(ctx, info, live)
	if err != nil {
		return nil, err
	}
	if patched == nil {
		states[k] = verifiedState{r.verifiedRecord(s), liveHash(live)}
		return nil, nil
	}
	states[k] = verifiedState{r.verifiedRecord(s), liveHash(patched)}
	return &Repaired{}, nil
}

// applied changes an object of a manifest into what Helm's actions apply.
func (r *Release) applied(info *resource.Info) {
	object := info.Object.(*unstructured.Unstructured)
	normalizeValue(object.Object) // a null would remove what others, or the server, have set
	r.owner.adopt(object, info.Namespaced(), r.chartName())
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[managedByLabel] = managedByHelm
	annotations[releaseAnnotation], annotations[namespaceAnnotation] = r.name, r.namespace
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	if object.GetKind() == "Secret" && object.GetAPIVersion() == "v1" {
		encodeStringData(object)
	}
}

// repairDrift patches a live object if that changes it. It returns the patched object, or nil if there is no drift. The server
// processes the patch in a dry run first: it normalizes values and adds defaults, which a comparison of texts would report as drift.
func (r *Release) repairDrift(ctx context.Context, info *resource.Info, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	kind, patch, err := driftPatch(info, live)
	if err != nil || patch == nil {
		return nil, err
	}
	result, err := r.patch(ctx, info, kind, patch, true)
	if err != nil {
		return nil, err
	}
	if sameContent(live, result) {
		return nil, nil
	}
	return r.patch(ctx, info, kind, patch, false)
}

// driftPatch returns the patch from the live object to the manifest, or nil if they correspond.
func driftPatch(info *resource.Info, live *unstructured.Unstructured) (types.PatchType, []byte, error) {
	wanted, err := json.Marshal(info.Object)
	if err != nil {
		return "", nil, err
	}
	current, err := json.Marshal(live.Object)
	if err != nil {
		return "", nil, err
	}
	kind := types.StrategicMergePatchType
	var patch []byte
	versioned := kube.AsVersioned(info)
	if _, ok := versioned.(runtime.Unstructured); ok {
		kind = types.MergePatchType
		patch, err = jsonmergepatch.CreateThreeWayJSONMergePatch(wanted, wanted, current)
	} else {
		var schema strategicpatch.LookupPatchMeta
		if schema, err = strategicpatch.NewPatchMetaFromStruct(versioned); err == nil {
			patch, err = strategicpatch.CreateThreeWayMergePatch(wanted, wanted, current, schema, true)
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("compare with the manifest: %w", err)
	}
	if string(patch) == "{}" {
		patch = nil
	}
	return kind, patch, nil
}

// sameContent compares two states of an object without the metadata that the server maintains.
func sameContent(a, b *unstructured.Unstructured) bool {
	content := func(object *unstructured.Unstructured) map[string]any {
		copied := object.DeepCopy()
		copied.SetManagedFields(nil)
		copied.SetResourceVersion("")
		copied.SetGeneration(0)
		return copied.Object
	}
	return reflect.DeepEqual(content(a), content(b))
}
