package release

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/cli-runtime/pkg/resource"
)

// adoptionsKey is the key of adoptions in the Secret of a revision. It is the only place for them, as they can contain data of Secrets.
const adoptionsKey = "adoptions"

// An adoption is how an object was before an operation took it over. It is recorded before the object is changed. Once the revision, or a
// later one, is deployed, the object belongs to the release. Until then, it is given back by what removes the objects of the revision.
type adoption struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitempty"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
	// Patch is the merge patch that restores what the operation changes, and nothing that others have changed since.
	Patch json.RawMessage `json:"patch"`

	claim []byte
}

// newAdoption returns the adoption of a live object, which gets the metadata of claimed first, in one request, and is like result then.
func newAdoption(info *resource.Info, live, claimed, result *unstructured.Unstructured) (*adoption, error) {
	a := &adoption{UID: live.GetUID(), Namespace: info.Namespace, Name: info.Name}
	a.APIVersion, a.Kind = info.Mapping.GroupVersionKind.ToAPIVersionAndKind()
	var err error
	if a.claim, err = mergePatch(live, claimed, a.UID, live.GetResourceVersion()); err == nil {
		a.Patch, err = mergePatch(result, live, a.UID, "")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", describeObject(info), err)
	}
	return a, nil
}

// mergePatch returns a merge patch from one state of an object to another, for the object with a UID and, if given, a version.
func mergePatch(from, to *unstructured.Unstructured, uid types.UID, version string) ([]byte, error) {
	content := func(object *unstructured.Unstructured) []byte {
		copied := object.DeepCopy()
		copied.SetManagedFields(nil)
		copied.SetResourceVersion("")
		copied.SetGeneration(0)
		delete(copied.Object, "status")
		data, _ := json.Marshal(copied.Object) //nolint:errchkjson // It was decoded from JSON.
		return data
	}
	data, err := jsonmergepatch.CreateThreeWayJSONMergePatch(content(from), content(to), content(from))
	if err != nil {
		return nil, err
	}
	var patch map[string]any
	if err := json.Unmarshal(data, &patch); err != nil {
		return nil, err
	}
	metadata, _ := patch["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["uid"] = uid
	if version != "" {
		metadata["resourceVersion"] = version
	}
	patch["metadata"] = metadata
	return json.Marshal(patch)
}

// adoptable says which objects a client of an installation or upgrade may take over: all that the deployed revision doesn't contain.
type adoptable struct{ deployed map[key]bool }

// adopting makes the client of a configuration take over objects that are not part of the revision before.
func (r *Release) adopting(c *client, before *releasev1.Release) error {
	if r.options.TakeOwnership != OwnershipEnabled {
		return nil
	}
	c.adoptable = &adoptable{map[key]bool{}}
	if before == nil {
		return nil
	}
	objects, err := parseManifest(before.Manifest)
	for _, object := range objects {
		c.adoptable.deployed[r.keyOf(object.Unstructured)] = true
	}
	return err
}

// adopt takes over targets of an update if it may. It returns the originals without objects of others, which Helm would delete if the
// targets lack them: a revision that failed before it took them over, or whose objects were given back, contains such objects.
func (c *client) adopt(ctx context.Context, originals, targets kube.ResourceList) (kube.ResourceList, error) {
	var kept kube.ResourceList
	for _, info := range originals {
		if targets.Get(info) == nil && info.Name != "" {
			live, err := c.release.getIfExists(ctx, info)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", describeObject(info), err)
			}
			if live != nil && !c.release.isOwned(live) && !c.release.owner.owns(live) {
				continue
			}
		}
		kept = append(kept, info)
	}
	if c.adoptable == nil || c.hooks == nil {
		return kept, nil
	}
	return c.release.adopt(ctx, c.hooks.revision, c.adoptable, kept, targets)
}

// adopt claims the targets that exist and don't belong to the release yet. It returns originals from which Helm makes patches with all
// fields of the targets.
func (r *Release) adopt(ctx context.Context, version int, may *adoptable, originals, targets kube.ResourceList) (kube.ResourceList, error) {
	var adoptions []*adoption
	var claimed kube.ResourceList
	var takeovers []Takeover
	for _, info := range targets {
		if info.Name == "" || may.deployed[r.keyOf(info.Object.(*unstructured.Unstructured))] {
			continue
		}
		originals = append(originals.Filter(func(other *resource.Info) bool { return !isSame(info, other) }), bare(info))
		live, err := r.getIfExists(ctx, info)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", describeObject(info), err)
		}
		if live == nil {
			continue
		}
		t, a, err := r.takeover(ctx, info, live)
		if err != nil {
			return nil, fmt.Errorf("take over %s: %w", describeObject(info), err)
		}
		if t != nil {
			takeovers, adoptions, claimed = append(takeovers, *t), append(adoptions, a), append(claimed, info)
		}
	}
	if len(takeovers) == 0 {
		return originals, nil
	}
	if err := r.checkOwnership(takeovers); err != nil {
		return nil, err
	}
	if err := r.recordAdoptions(ctx, version, adoptions); err != nil {
		return nil, err
	}
	for i, info := range claimed {
		if _, err := r.patch(ctx, info, types.MergePatchType, adoptions[i].claim, false); err != nil {
			return nil, fmt.Errorf("take over %s: %w", describeObject(info), err)
		}
	}
	r.taken = takeovers
	return originals, nil
}

func isSame(a, b *resource.Info) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && a.Mapping.GroupVersionKind.GroupKind() == b.Mapping.GroupVersionKind.GroupKind()
}

// bare returns an object without content, as the state before a patch: the patch then contains all fields and removes none.
func bare(info *resource.Info) *resource.Info {
	copied, object := *info, &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(info.Mapping.GroupVersionKind)
	object.SetName(info.Name)
	object.SetNamespace(info.Namespace)
	copied.Object = object
	return &copied
}

// TakenOver returns the objects that the last operation has taken over.
func (r *Release) TakenOver() []Takeover { return r.taken }

// recordAdoptions writes adoptions to the record of a revision.
func (r *Release) recordAdoptions(ctx context.Context, version int, adoptions []*adoption) error {
	data, err := json.Marshal(adoptions)
	if err == nil {
		err = r.extendRecord(ctx, version, adoptionsKey, data)
	}
	if err != nil {
		return fmt.Errorf("record the objects to take over: %w", err)
	}
	r.adoptions[version] = adoptions
	return nil
}

// giveBack restores the objects that the revisions after the last deployed one have taken over, and that a current revision, if any,
// doesn't contain. They are not deleted afterwards.
func (r *Release) giveBack(ctx context.Context, revisions []*releasev1.Release, current *releasev1.Release) error {
	pending := r.pendingAdoptions(revisions)
	if len(pending) == 0 {
		return nil
	}
	needed := map[key]bool{}
	if current != nil {
		objects, err := parseManifest(current.Manifest)
		if err != nil {
			return err
		}
		for _, object := range objects {
			needed[r.keyOf(object.Unstructured)] = true
		}
	}
	returned := maps.Clone(r.returned)
	if returned == nil {
		returned = map[key]bool{}
	}
	for _, a := range pending {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": a.APIVersion, "kind": a.Kind}}
		object.SetNamespace(a.Namespace)
		object.SetName(a.Name)
		k := r.keyOf(object)
		if needed[k] {
			continue
		}
		if err := r.giveBackObject(ctx, object, a); err != nil {
			return r.errorf("give back %s: %w", k, err)
		}
		returned[k] = true
	}
	r.returned = returned
	return nil
}

// giveBackObject restores an object, unless it is another one by now, or was not claimed yet or given back already.
func (r *Release) giveBackObject(ctx context.Context, object *unstructured.Unstructured, a *adoption) error {
	info, err := r.info(object)
	if isUnserved(err) {
		return nil
	}
	if err != nil {
		return err
	}
	live, err := r.getIfExists(ctx, info)
	if err != nil || live == nil || live.GetUID() != a.UID || !r.isOwned(live) {
		return err
	}
	if _, err = r.patch(ctx, info, types.MergePatchType, a.Patch, false); isMissing(err) {
		return nil
	}
	if apierrors.IsConflict(err) {
		return errChanged
	}
	return err
}

// pendingAdoptions returns the adoptions of the custom resource's revisions after the last one that was deployed, oldest first.
func (r *Release) pendingAdoptions(revisions []*releasev1.Release) (pending []*adoption) {
	for _, revision := range revisions {
		switch status := revision.Info.Status; {
		case status == rcommon.StatusFailed, status.IsPending(), isFailure(revision.Info.Description):
			if r.ownsRevision(revision.Version) {
				pending = append(pending, r.adoptions[revision.Version]...)
			}
		default:
			pending = nil
		}
	}
	return pending
}
