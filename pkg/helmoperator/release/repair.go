package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/cli-runtime/pkg/resource"
)

// Repair compares the objects in the cluster with the deployed manifest: it creates missing ones and patches the ones that
// differ, or only reports them with DriftWarn, and updates the CRDs of the chart with CRDsCreateReplace. Fields that the manifest does not contain are left to others, as are the fields of
// Options.Ignore and the replicas of objects that an autoscaler scales. It continues after errors and returns all of them; they
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
	if r.options.Drift == DriftDisabled {
		return deployed, repaired, r.redact(errors.Join(errs...), s.revision)
	}
	states, changed := verifiedStates{}, map[int]bool{}
	for i, object := range deployed.Objects {
		if object.Name == "" { // the server has named it
			continue
		}
		if state, ok := r.verifiedState(s, object); !ok {
			changed[i] = true
		} else {
			states[keyOfVerified(object)] = state
			if len(state.drift) > 0 {
				repaired = append(repaired, Repaired{Object: object, Fields: state.drift, Reported: true})
			}
		}
	}
	if len(changed) > 0 {
		objects, err := parseManifest(s.revision.Manifest)
		if err != nil {
			return nil, nil, r.errorf("read its manifest: %w", err)
		}
		scaled := r.scaleTargets(unstructuredOf(objects))
		for i, object := range objects {
			if !changed[i] {
				continue
			}
			done, err := r.repairObject(ctx, s, object.Unstructured, scaled, states)
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

// verifiedRecord identifies what the objects are made of and how they are compared: the record, the label and the mode.
func (r *Release) verifiedRecord(s *state) string {
	return s.record + "/" + r.chartName() + "/" + string(r.options.Drift)
}

// verifiedState returns the state in which an object was compared with the manifest, if it is observed to be unchanged.
func (r *Release) verifiedState(s *state, object Object) (verifiedState, bool) {
	if r.options.Observer == nil {
		return verifiedState{}, false
	}
	k := keyOfVerified(object)
	verified, ok := r.factory.verified.get(r.owner.uid)[k]
	if !ok || verified.record != r.verifiedRecord(s) {
		return verifiedState{}, false
	}
	metadata, known := r.options.Observer.Observe(k.GroupVersionKind, types.NamespacedName{Namespace: k.namespace, Name: k.name})
	return verified, known && metadata != nil && liveHash(metadata) == verified.live
}

func (r *Release) repairObject(ctx context.Context, s *state, object *unstructured.Unstructured, scaled map[scaleTarget]bool, states verifiedStates) (*Repaired, error) {
	info, err := r.info(object)
	if err != nil {
		return nil, err
	}
	if r.options.Ignore.ignoresObject(object, info.Namespace) {
		return nil, nil
	}
	isTarget := scaled[r.scaleTargetOf(object)]
	r.applied(info)
	verify := func(live *unstructured.Unstructured, drift []string) {
		k := verifiedKey{object.GroupVersionKind(), info.Namespace, info.Name}
		states[k] = verifiedState{r.verifiedRecord(s), liveHash(live), drift}
	}
	live, err := r.get(ctx, info)
	if isMissing(err) {
		if r.options.Drift == DriftWarn {
			return &Repaired{Created: true, Reported: true}, nil
		}
		if live, err = r.create(ctx, info); err != nil {
			return nil, err
		}
		verify(live, nil)
		return &Repaired{Created: true}, nil
	}
	if err != nil {
		return nil, err
	}
	if live.GetDeletionTimestamp() != nil {
		return nil, nil // it is created again when it no longer exists
	}
	r.options.Ignore.apply(object, live)
	if isTarget || isScaled(live) {
		copyField(object.Object, live.Object, replicasPath)
	}
	patched, drift, err := r.repairDrift(ctx, info, live, r.options.Drift != DriftWarn)
	switch {
	case err != nil:
		return nil, err
	case len(drift) == 0:
		verify(live, nil)
		return nil, nil
	case r.options.Drift == DriftWarn:
		verify(live, drift)
		return &Repaired{Fields: drift, Reported: true}, nil
	}
	verify(patched, nil)
	return &Repaired{Fields: drift}, nil
}

// applied changes an object of a manifest into what Helm's actions apply.
func (r *Release) applied(info *resource.Info) {
	object := info.Object.(*unstructured.Unstructured)
	normalizeValue(object.Object) // a null would remove what others, or the server, have set
	r.owner.adopt(object, info.Namespaced(), r.chartName())
	r.mark(object)
	if object.GetKind() == "Secret" && object.GetAPIVersion() == "v1" {
		encodeStringData(object)
	}
}

// mark sets the metadata by which Helm recognizes the objects of a release.
func (r *Release) mark(object *unstructured.Unstructured) {
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
}

// repairDrift patches a live object if that changes it, and returns the patched object and the fields that differed. Without apply, it
// only returns the fields. The server processes the patch in a dry run first: it normalizes values and adds defaults, which a comparison
// of texts would report as drift.
func (r *Release) repairDrift(ctx context.Context, info *resource.Info, live *unstructured.Unstructured, apply bool) (*unstructured.Unstructured, []string, error) {
	kind, patch, err := driftPatch(info, live)
	if err != nil || patch == nil {
		return nil, nil, err
	}
	result, err := r.patch(ctx, info, kind, patch, true)
	if err != nil {
		return nil, nil, err
	}
	drift := differentFields(live, result)
	if len(drift) == 0 || !apply {
		return nil, drift, nil
	}
	patched, err := r.patch(ctx, info, kind, patch, false)
	return patched, drift, err
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

// differentFields returns the fields in which two states of an object differ, without the metadata that the server maintains.
func differentFields(a, b *unstructured.Unstructured) []string {
	content := func(object *unstructured.Unstructured) map[string]any {
		copied := object.DeepCopy()
		copied.SetManagedFields(nil)
		copied.SetResourceVersion("")
		copied.SetGeneration(0)
		return copied.Object
	}
	var found []string
	diffValues(content(a), content(b), nil, func(path []any) { found = append(found, pathString(path)) })
	slices.Sort(found)
	return found
}

// sameContent reports whether two states of an object differ at most in the metadata that the server maintains.
func sameContent(a, b *unstructured.Unstructured) bool { return len(differentFields(a, b)) == 0 }
