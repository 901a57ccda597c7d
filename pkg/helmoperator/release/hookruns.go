package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/operon-sdk/operon/pkg/helmchart/variant"
)

// The metadata of the Jobs and Pods of hooks by which the next pass, maybe of another process, recognizes them.
const (
	// HookLabel identifies the hook, its event and what it was made of.
	HookLabel = "helm.sdk.operatorframework.io/hook"
	// HookRevisionAnnotation is the revision that has started the run.
	HookRevisionAnnotation = "helm.sdk.operatorframework.io/hook-revision"
)

func markRun(object *unstructured.Unstructured, id string, revision int) {
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[HookLabel], annotations[HookRevisionAnnotation] = id, strconv.Itoa(revision)
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
}

// runRevision returns the revision that has started a run; ok is false if the object is none.
func runRevision(live *unstructured.Unstructured) (revision int, ok bool) {
	revision, err := strconv.Atoi(live.GetAnnotations()[HookRevisionAnnotation])
	return revision, err == nil && live.GetLabels()[HookLabel] != ""
}

// hookIDs identify the hooks of events. Two revisions have the same identifier for a hook if it, and all hooks that are run before it in
// the event, are the same. For hooks that are run after the objects were changed, these are the same, too.
type hookIDs map[hookPlace]string

// A hookPlace is the place of a hook among the hooks of an event. Names can differ between two renderings.
type hookPlace struct {
	event      releasev1.HookEvent
	path, kind string
	index      int
}

// placeOf returns the place of a hook in a list.
func placeOf(event releasev1.HookEvent, hook *releasev1.Hook, list []*releasev1.Hook) hookPlace {
	place := hookPlace{event: event, path: hook.Path, kind: hook.Kind}
	for _, other := range list {
		if other == hook {
			break
		}
		if other.Path == hook.Path && other.Kind == hook.Kind && slices.Contains(other.Events, event) {
			place.index++
		}
	}
	return place
}

// of returns the identifier of a hook of a list, or "" if it has none.
func (ids hookIDs) of(event releasev1.HookEvent, hook *releasev1.Hook, list []*releasev1.Hook) string {
	return ids[placeOf(event, hook, list)]
}

// runID returns the identifier of an object of a hook by its position, as a hook can be a list.
func runID(id string, position int) string {
	if id == "" || position == 0 {
		return id
	}
	return id + "-" + strconv.Itoa(position)
}

// contain reports whether there is a hook whose object has an identifier.
func (ids hookIDs) contain(runID string) bool {
	id, _, _ := strings.Cut(runID, "-")
	for _, known := range ids {
		if known == id {
			return true
		}
	}
	return false
}

// identifyHooks returns the identifiers of the hooks of a revision.
func identifyHooks(revision *releasev1.Release, events hookEvents) hookIDs {
	ids := hookIDs{}
	for _, event := range []releasev1.HookEvent{events.before, events.after} {
		sum := sha256.New()
		if event == events.after {
			sum.Write([]byte(revision.Manifest))
		}
		var list []*releasev1.Hook
		for _, hook := range revision.Hooks {
			if slices.Contains(hook.Events, event) {
				list = append(list, hook)
			}
		}
		// The order in which Helm runs them.
		sort.SliceStable(list, func(i, j int) bool {
			if list[i].Weight != list[j].Weight {
				return list[i].Weight < list[j].Weight
			}
			return list[i].Name < list[j].Name
		})
		for _, hook := range list {
			if events == uninstallHooks { // its finished hooks are removed from the record
				sum.Reset()
			}
			fmt.Fprintf(sum, "\x00%s\x00%s\x00%s", event, hook.Path, hook.Manifest)
			ids[placeOf(event, hook, revision.Hooks)] = hex.EncodeToString(sum.Sum(nil)[:16])
		}
	}
	return ids
}

// planHooks returns the identifiers of the hooks that the chart renders. Chance, time and the number of the revision, which differ between
// two attempts of the same change, have no influence. Hooks of templates that fail without them have no identifiers.
func (r *Release) planHooks(ctx context.Context, revisions []*releasev1.Release, events hookEvents) (hookIDs, error) {
	s := situation{revision: 1, install: true}
	if events != installHooks {
		s = situation{revision: max(lastCompleted(revisions), 1) + 1}
	}
	for _, cluster := range []bool{false, true} {
		calls := &lookups{release: r, mode: readCluster(cluster)}
		functions := variant.First().Functions()
		functions["lookup"] = calls.function
		rendered, err := r.render(ctx, s, functions)
		if err == nil {
			return identifyHooks(rendered, events), nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		if !calls.called {
			break
		}
	}
	return hookIDs{}, nil
}

// String returns the key of the identifier of a hook among the fingerprints of a record.
func (p hookPlace) String() string {
	return fmt.Sprintf("hook-run %s %s %s %d", p.event, p.path, p.kind, p.index)
}

// record adds the identifiers to the fingerprints of a revision, to which the steps of its rendering add more later.
func (ids hookIDs) record(fingerprints map[string]string) {
	for place, id := range ids {
		fingerprints[place.String()] = id
	}
}

// finishedHooks returns the identifiers of the Jobs and Pods of hooks that revisions after completed have run successfully. The record
// of a hook doesn't tell for which event it was run.
func (r *Release) finishedHooks(revisions []*releasev1.Release, completed int, events hookEvents) map[string]bool {
	finished := map[string]bool{}
	for _, revision := range revisions {
		for _, hook := range revision.Hooks {
			if revision.Version <= completed || hook.LastRun.Phase != releasev1.HookPhaseSucceeded || hook.Kind != "Job" && hook.Kind != "Pod" {
				continue
			}
			isBefore, isAfter := slices.Contains(hook.Events, events.before), slices.Contains(hook.Events, events.after)
			if isBefore == isAfter || hook.LastRun.StartedAt.Before(revision.Info.LastDeployed) { // a rollback copies the hooks of another revision
				continue
			}
			event := events.before
			if isAfter {
				event = events.after
			}
			if id := r.fingerprints[revision.Version][placeOf(event, hook, revision.Hooks).String()]; id != "" {
				finished[id] = true
			}
		}
	}
	return finished
}

// findRun returns the Job or Pod with an identifier that is accepted, or nil. Its name may differ from the hook's.
func (r *Release) findRun(ctx context.Context, info *resource.Info, id string, accept func(*unstructured.Unstructured) bool) (*unstructured.Unstructured, error) {
	runs, err := r.listRuns(ctx, info, HookLabel+"="+id)
	for _, live := range runs {
		if live.GetLabels()[HookLabel] == id && accept(live) {
			return live, nil
		}
	}
	return nil, err
}

// listRuns returns the Jobs or Pods of hooks that a label selector matches. Without permission to list them, it returns the one with the
// name of info, whatever its labels.
func (r *Release) listRuns(ctx context.Context, info *resource.Info, selector string) ([]*unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	err := request(restClient(info).Get(), info, false).Param("labelSelector", selector).Do(ctx).Into(list)
	switch {
	case apierrors.IsForbidden(err) && info.Name != "":
		live, err := r.getIfExists(ctx, info)
		if live == nil || err != nil {
			return nil, err
		}
		return []*unstructured.Unstructured{live}, nil
	case err != nil:
		return nil, fmt.Errorf("list the objects of hooks: %w", err)
	}
	runs := make([]*unstructured.Unstructured, len(list.Items))
	for i := range list.Items {
		runs[i] = &list.Items[i]
		// The items of a list have no kind.
		runs[i].SetGroupVersionKind(info.Mapping.GroupVersionKind)
	}
	return runs, nil
}

// deleteGenerated deletes the Jobs or Pods of earlier runs of a hook whose objects the server names.
func (r *Release) deleteGenerated(ctx context.Context, info *resource.Info) error {
	runs, err := r.listRuns(ctx, info, HookLabel)
	if err != nil {
		return err
	}
	prefix := info.Object.(*unstructured.Unstructured).GetGenerateName()
	for _, live := range runs {
		if live.GetGenerateName() == prefix && live.GetDeletionTimestamp() == nil && r.owner.owns(live) {
			found := *info
			found.Name = live.GetName()
			if err := r.delete(ctx, &found, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// hookInfos yields the objects of the hooks of revisions after completed, without tests. Hooks whose objects can't be read were not
// created either.
func (r *Release) hookInfos(revisions []*releasev1.Release, completed int) iter.Seq[*resource.Info] {
	return func(yield func(*resource.Info) bool) {
		for _, revision := range revisions {
			if revision.Version <= completed {
				continue
			}
			for _, hook := range revision.Hooks {
				infos, err := r.infos(hook.Manifest, anyKind)
				if err != nil || onlyTests(hook) {
					continue
				}
				for _, info := range infos {
					if !yield(info) {
						return
					}
				}
			}
		}
	}
}

// hookObjects returns the objects of the hooks of revisions after completed.
func (r *Release) hookObjects(revisions []*releasev1.Release, completed int) map[key]bool {
	objects := map[key]bool{}
	for info := range r.hookInfos(revisions, completed) {
		objects[r.keyOf(info.Object.(*unstructured.Unstructured))] = true
	}
	return objects
}

// endRuns deletes the Jobs and Pods that interrupted revisions after completed have started, except for those with identifiers that are
// continued.
func (r *Release) endRuns(ctx context.Context, revisions []*releasev1.Release, completed int, continued hookIDs) error {
	type place struct{ resource, namespace string }
	done := map[place]bool{}
	for info := range r.hookInfos(revisions, completed) {
		at := place{info.Mapping.Resource.String(), info.Namespace}
		if !isRun(info) || done[at] {
			continue
		}
		done[at] = true
		if err := r.endRunsLike(ctx, info, completed, continued); err != nil {
			return err
		}
	}
	return nil
}

func (r *Release) endRunsLike(ctx context.Context, info *resource.Info, completed int, continued hookIDs) error {
	runs, err := r.listRuns(ctx, info, HookLabel)
	if err != nil {
		return err
	}
	for _, live := range runs {
		revision, ok := runRevision(live)
		if !ok || revision <= completed || live.GetDeletionTimestamp() != nil || !r.owner.owns(live) || isKept(live) ||
			continued.contain(live.GetLabels()[HookLabel]) {
			continue
		}
		found := *info
		found.Name = live.GetName()
		if err := r.delete(ctx, &found, live); err != nil {
			return err
		}
	}
	return nil
}
