package release

import (
	"context"
	"fmt"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// hookEvents are the events before and after an action changes the objects of a release.
type hookEvents struct{ before, after releasev1.HookEvent }

var (
	installHooks   = hookEvents{releasev1.HookPreInstall, releasev1.HookPostInstall}
	upgradeHooks   = hookEvents{releasev1.HookPreUpgrade, releasev1.HookPostUpgrade}
	rollbackHooks  = hookEvents{releasev1.HookPreRollback, releasev1.HookPostRollback}
	uninstallHooks = hookEvents{releasev1.HookPreDelete, releasev1.HookPostDelete}
)

// hooks run the hooks of one action. Helm's actions delete, create and await the objects of hooks, one hook after the other, by the
// methods of a client; hooks know for which hook. A Job or Pod that an interrupted action has created for the same hook is adopted: it
// is neither deleted nor created again, but waited for.
type hooks struct {
	release *Release
	ctx     context.Context //nolint:containedctx // Helm's clients have no contexts.
	events  hookEvents
	// isAfter is set when the action has changed the objects of the release.
	isAfter bool
	// ids identify the hooks of both events. adopt permits their adoption.
	ids   hookIDs
	adopt bool
	// list are the hooks of the revision, and completed is the last revision whose runs are over.
	list                []*releasev1.Hook
	revision, completed int
	// begun are the objects of hooks that interrupted revisions have created, or would have.
	begun map[key]bool
	// finished are the identifiers of hooks that interrupted revisions have completed.
	finished map[string]bool

	// built are the hooks whose objects were built, and runs what became of them in the current event.
	built map[*resource.Info]*releasev1.Hook
	runs  map[*releasev1.Hook]*hookRun
}

// A hookRun is the execution of a hook in one event.
type hookRun struct {
	// objects are those that exist, with their names.
	objects kube.ResourceList
	created bool
	// adopted are the Jobs and Pods of an interrupted run, by their position in the manifest.
	adopted map[int]*unstructured.Unstructured
	// isFinished reports that an interrupted action has completed the hook, whose objects may be deleted already.
	isFinished bool
}

// runHooks makes the client of a configuration run the hooks of an action. The revisions are those that exist, and planned identifies
// the hooks that the chart renders; without it, the hooks of the new revision identify themselves.
func (r *Release) runHooks(ctx context.Context, configuration *action.Configuration, events hookEvents, revisions []*releasev1.Release, planned hookIDs) *hooks {
	h := &hooks{
		release: r, ctx: ctx, events: events, ids: planned, completed: lastCompleted(revisions),
		built: map[*resource.Info]*releasev1.Hook{}, runs: map[*releasev1.Hook]*hookRun{},
	}
	if c, ok := configuration.KubeClient.(*client); ok {
		c.hooks = h
	}
	h.adopt = len(revisions) > 0 && h.completed < lastOf(revisions).Version
	configuration.Releases.Driver = &interruptible{Driver: configuration.Releases.Driver, ctx: ctx, begin: func(revision *releasev1.Release) error {
		return h.begin(revision, revisions)
	}}
	return h
}

// begin is called with the revision whose hooks are run, before the first one is. Runs of interrupted revisions that no hook continues
// end here: they would compete with the hooks of this revision.
func (h *hooks) begin(revision *releasev1.Release, before []*releasev1.Release) error {
	h.list, h.revision = revision.Hooks, revision.Version
	h.release.noteTests(revision, h.events)
	if h.ids == nil {
		h.ids = identifyHooks(revision, h.events)
	}
	if !h.adopt {
		return nil
	}
	h.begun = h.release.hookObjects(before, h.completed)
	h.finished = h.release.finishedHooks(before, h.completed, h.events)
	if err := h.release.endRuns(h.ctx, before, h.completed, h.ids); err != nil {
		return fmt.Errorf("end the hooks of an interrupted revision: %w", err)
	}
	return nil
}

func (h *hooks) event() releasev1.HookEvent {
	if h.isAfter {
		return h.events.after
	}
	return h.events.before
}

// applied is called when the action has changed the objects of the release.
func (h *hooks) applied() {
	h.isAfter = true
	clear(h.runs)
	clear(h.built)
}

// register remembers whose objects were built, if the manifest belongs to a hook.
func (h *hooks) register(manifest string, infos kube.ResourceList) {
	if h == nil {
		return
	}
	for _, hook := range h.list {
		if hook.Manifest == manifest {
			for _, info := range infos {
				h.built[info] = hook
			}
			return
		}
	}
}

// hookOf returns the hook that objects belong to, or nil.
func (h *hooks) hookOf(infos kube.ResourceList) *releasev1.Hook {
	if h == nil || len(infos) == 0 {
		return nil
	}
	return h.built[infos[0]]
}

// run returns the run of a hook in the current event. Its first call looks for the run of an interrupted action.
func (h *hooks) run(hook *releasev1.Hook, infos kube.ResourceList) (*hookRun, error) {
	if run, ok := h.runs[hook]; ok {
		return run, nil
	}
	hookID := h.ids.of(h.event(), hook, h.list)
	run := &hookRun{adopted: map[int]*unstructured.Unstructured{}, isFinished: h.finished[hookID]}
	for i, info := range infos {
		id := runID(hookID, i)
		if !h.adopt || id == "" || !isRun(info) {
			continue
		}
		live, err := h.release.findRun(h.ctx, info, id, func(live *unstructured.Unstructured) bool { return h.isContinued(live) })
		if err != nil {
			return nil, err
		}
		if live != nil {
			run.adopted[i] = live
		}
	}
	h.runs[hook] = run
	return run, nil
}

// isContinued reports whether the Job or Pod of an interrupted revision still counts. A failed pre-delete hook has failed the
// uninstallation, which was not recorded, and is run again.
func (h *hooks) isContinued(live *unstructured.Unstructured) bool {
	revision, ok := runRevision(live)
	if !ok || revision <= h.completed || live.GetDeletionTimestamp() != nil || !h.release.owner.owns(live) {
		return false
	}
	_, err := runProgress(live)
	return err == nil || h.events != uninstallHooks
}

// delete deletes the objects of a hook according to its policy, before or after its run. The objects of a run that is continued are
// deleted only afterwards. After the end of the context, nothing is deleted: the hook has not failed, as Helm believes, and goes on.
func (h *hooks) delete(hook *releasev1.Hook, infos kube.ResourceList, deleteAll func(kube.ResourceList) (*kube.Result, []error)) (*kube.Result, []error) {
	if err := h.ctx.Err(); err != nil {
		if run := h.runs[hook]; run != nil && run.created {
			return &kube.Result{}, nil
		}
		return nil, []error{err}
	}
	run, err := h.run(hook, infos)
	if err != nil {
		return nil, []error{err}
	}
	if run.isFinished && !run.created {
		return &kube.Result{}, nil
	}
	deleted := run.objects
	if !run.created {
		deleted = nil
		for i, info := range infos {
			switch {
			case run.adopted[i] != nil:
			case info.Name != "":
				deleted = append(deleted, info)
			case isRun(info): // the server has named it
				if err := h.release.deleteGenerated(h.ctx, info); err != nil {
					return nil, []error{err}
				}
			}
		}
	}
	if len(deleted) == 0 {
		return &kube.Result{}, nil
	}
	return deleteAll(deleted)
}

// create creates the objects of a hook, except for objects of a run that is continued.
func (h *hooks) create(hook *releasev1.Hook, infos kube.ResourceList, createAll func(kube.ResourceList) (*kube.Result, error)) (*kube.Result, error) {
	if err := h.ctx.Err(); err != nil {
		return nil, err
	}
	run, err := h.run(hook, infos)
	if err != nil {
		return nil, err
	}
	run.created = true
	if run.isFinished { // what is left of it is deleted according to its policy
		for _, live := range run.adopted {
			found := *infos[0]
			found.Name, found.Object = live.GetName(), live
			run.objects = append(run.objects, &found)
		}
		return &kube.Result{}, nil
	}
	var missing kube.ResourceList
	for i, info := range infos {
		live := run.adopted[i]
		if live == nil && !isRun(info) {
			if live, err = h.update(info); err != nil {
				return nil, err
			}
		}
		if live == nil {
			if id := runID(h.ids.of(h.event(), hook, h.list), i); id != "" && isRun(info) {
				markRun(info.Object.(*unstructured.Unstructured), id, h.revision)
			}
			missing = append(missing, info)
			continue
		}
		if err := info.Refresh(live, true); err != nil {
			return nil, err
		}
	}
	run.objects = infos
	if len(missing) == 0 {
		return &kube.Result{}, nil
	}
	return createAll(missing)
}

// update updates an object that an interrupted revision has created for a hook and that the policy of the hook did not delete, such as
// settings of a Job. It returns nil if there is none.
func (h *hooks) update(info *resource.Info) (*unstructured.Unstructured, error) {
	object, ok := info.Object.(*unstructured.Unstructured)
	if !ok || info.Name == "" || !h.begun[h.release.keyOf(object)] {
		return nil, nil
	}
	live, err := h.release.getIfExists(h.ctx, info)
	if live == nil || err != nil || live.GetDeletionTimestamp() != nil || !h.release.owner.owns(live) {
		return nil, err
	}
	normalizeValue(object.Object)
	if object.GetKind() == "Secret" && object.GetAPIVersion() == "v1" {
		encodeStringData(object)
	}
	patched, _, err := h.release.repairDrift(h.ctx, info, live, true)
	if patched != nil {
		live = patched
	}
	return live, err
}
