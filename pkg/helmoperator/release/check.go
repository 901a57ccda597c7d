package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"helm.sh/helm/v4/pkg/kube"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/resource"
)

// Check asks the API server, by dry runs, whether it accepts what the action of a plan would do: all objects that are created, changed
// or deleted, and the objects of hooks. It changes nothing and fails if the server refuses one of them, or if an object exists that
// belongs to others; see IsTransient for other errors. Objects that can't be checked yet are left out, because the action itself
// creates what they need: their kind, their namespace, or what the server looks up, such as the service account of a pod.
func (r *Release) Check(ctx context.Context, action Action, o UpgradeOptions) error {
	var c *check
	var err error
	switch action {
	case Install:
		c, err = r.checkInstall(ctx)
	case Upgrade:
		c, err = r.checkUpgrade(ctx, o)
	default:
		return nil
	}
	if err != nil || c == nil {
		return err
	}
	if err := c.run(ctx); err != nil {
		return r.redact(r.errorf("%s: %w", c.operation, err), c.revision)
	}
	return nil
}

// A check sends the objects of one revision as dry runs.
type check struct {
	*Release
	// operation is install, upgrade or rollback.
	operation string
	// revision is what is checked. original are the objects before it.
	revision *releasev1.Release
	original kube.ResourceList
	events   []releasev1.HookEvent
	// serverSide and force are the settings of the operation.
	serverSide, force bool
	// crds are the objects of the crds directory.
	crds []*unstructured.Unstructured
	// missing are the objects that the operation creates.
	missing []*resource.Info
	// undefined are kinds whose definition the operation creates or changes.
	undefined map[schema.GroupKind]bool
	// guards are parts of errors that don't count, because the objects of the release cause them.
	guards []string
	errs   []error
}

// run checks all objects and returns what the server refuses.
func (c *check) run(ctx context.Context) error {
	targets, err := c.targets(c.revision.Manifest)
	if err != nil {
		return err
	}
	hooks, err := c.hooks()
	if err != nil {
		return err
	}
	crds, err := c.missingCRDs(ctx)
	if err != nil {
		return err
	}
	existing := map[*resource.Info]bool{}
	var takeovers []Takeover
	for i, info := range append(slices.Clone(targets), hooks...) {
		live, err := c.find(ctx, info)
		if apierrors.IsForbidden(err) && i >= len(targets) {
			continue // Helm doesn't read hooks before it creates them
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.keyOf(info.Object.(*unstructured.Unstructured)), err)
		}
		c.noteGuard(info.Object.(*unstructured.Unstructured))
		if existing[info] = live != nil; live == nil {
			c.missing = append(c.missing, info)
		}
		if err := c.noteDefinition(ctx, info, live); err != nil {
			return err
		}
		if i < len(targets) && live != nil && c.reportsOwnership() && c.original.Get(info) == nil {
			t, _, err := c.takeover(ctx, info, live)
			if err != nil {
				return fmt.Errorf("%s: %w", c.keyOf(info.Object.(*unstructured.Unstructured)), err)
			}
			if t != nil {
				takeovers = append(takeovers, *t)
			}
		}
	}
	if err := c.checkOwnership(takeovers); err != nil {
		return err
	}
	for _, info := range crds {
		c.try(info, func() error { return ignoreForbidden(c.create(info)) })
	}
	for _, info := range targets {
		c.try(info, func() error { return c.apply(info, existing[info]) })
	}
	for _, info := range hooks {
		c.try(info, func() error { return c.create(info) })
	}
	if err := c.checkDeletions(ctx, targets); err != nil {
		return err
	}
	if len(c.errs) == 0 {
		return nil
	}
	return fmt.Errorf("the API server refuses it, nothing was changed: %w", errors.Join(c.errs...))
}

// targets returns the objects of a manifest as Helm applies them.
func (c *check) targets(manifest string) (kube.ResourceList, error) {
	list, err := c.infos(manifest, anyKind)
	if err != nil {
		return nil, err
	}
	for _, info := range list {
		c.mark(info.Object.(*unstructured.Unstructured))
		if err := c.dry(info); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// hooks returns the objects of the hooks that the operation runs. Hooks of kinds that the cluster doesn't serve are left out, as other
// hooks may create the kinds.
func (c *check) hooks() (kube.ResourceList, error) {
	var all kube.ResourceList
	for _, hook := range c.revision.Hooks {
		if !runsAt(hook, c.events) {
			continue
		}
		list, err := c.infos(hook.Manifest, anyKind)
		if err != nil {
			return nil, fmt.Errorf("hook %s: %w", hook.Path, err)
		}
		for _, info := range list {
			if err := c.dry(info); err != nil {
				return nil, err
			}
		}
		all = append(all, list...)
	}
	return all, nil
}

func runsAt(hook *releasev1.Hook, events []releasev1.HookEvent) bool {
	return slices.ContainsFunc(hook.Events, func(event releasev1.HookEvent) bool { return slices.Contains(events, event) })
}

// find returns the live object, or nil if there is none.
func (c *check) find(ctx context.Context, info *resource.Info) (*unstructured.Unstructured, error) {
	if info.Name == "" {
		return nil, nil // the server names it
	}
	live, err := c.get(ctx, info)
	if isMissing(err) {
		return nil, nil
	}
	return live, err
}

// checkedHooks returns the events whose hooks are checked before an operation.
func (r *Release) checkedHooks(events hookEvents) []releasev1.HookEvent {
	checked := []releasev1.HookEvent{events.before, events.after}
	if r.options.Tests != nil {
		checked = append(checked, releasev1.HookTest)
	}
	return checked
}

// reportsOwnership reports whether the operation describes objects of others, instead of Helm's action, which knows less about them.
func (c *check) reportsOwnership() bool {
	return c.operation != "rollback" && (c.options.TakeOwnership == OwnershipReport || c.options.TakeOwnership == OwnershipEnabled)
}

// try calls send for an object that can be checked, and keeps its error.
func (c *check) try(info *resource.Info, send func() error) {
	if c.undefined[info.Mapping.GroupVersionKind.GroupKind()] {
		return
	}
	err := send()
	if err == nil || apierrors.IsAlreadyExists(err) || c.needsMissing(info, err) {
		return
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		err = status // Helm's error names the object once more
	}
	c.errs = append(c.errs, fmt.Errorf("%s: %w", c.keyOf(info.Object.(*unstructured.Unstructured)), err))
}

// create creates an object. Helm deletes a hook that exists before it creates it again.
func (c *check) create(info *resource.Info) error {
	_, err := c.client().Client.Create(kube.ResourceList{info}, kube.ClientCreateOptionServerSideApply(false, false))
	return err
}

// apply creates or changes an object as Helm does.
func (c *check) apply(info *resource.Info, exists bool) error {
	if !exists {
		_, err := c.client().Client.Create(kube.ResourceList{info}, kube.ClientCreateOptionServerSideApply(c.serverSide, false))
		return err
	}
	original := c.original.Get(info)
	if original == nil { // it belongs to the release, but not to the revision before
		original = bare(info)
	}
	_, err := c.client().Client.Update(kube.ResourceList{original}, kube.ResourceList{info},
		kube.ClientUpdateOptionForceReplace(c.force && !c.serverSide),
		kube.ClientUpdateOptionServerSideApply(c.serverSide, c.serverSide))
	return err
}

// checkDeletions checks the objects that the revision does not contain anymore.
func (c *check) checkDeletions(ctx context.Context, targets kube.ResourceList) error {
	for _, info := range c.original.Difference(targets) {
		live, err := c.find(ctx, info)
		if err != nil {
			return err
		}
		if live != nil && !isKept(live) && live.GetDeletionTimestamp() == nil {
			c.try(info, func() error { return c.checkDelete(ctx, info, live) })
		}
	}
	return nil
}
