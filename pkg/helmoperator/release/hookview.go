package release

import (
	"slices"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// hookPrefix is in front of the names of fields of hooks, in reasons and fingerprints.
const hookPrefix = "hook "

// laterEvents are the events that can still happen to a deployed release. Hooks of other events have been run, or are only run by
// "helm test": if nothing but those changes, there is nothing to do.
var laterEvents = []releasev1.HookEvent{
	releasev1.HookPreUpgrade, releasev1.HookPostUpgrade, releasev1.HookPreRollback, releasev1.HookPostRollback, releasev1.HookPreDelete,
	releasev1.HookPostDelete,
}

// laterHooks returns the hooks that can still be run.
func laterHooks(hooks []*releasev1.Hook) []*releasev1.Hook {
	var later []*releasev1.Hook
	for _, hook := range hooks {
		if slices.ContainsFunc(hook.Events, func(event releasev1.HookEvent) bool { return slices.Contains(laterEvents, event) }) {
			later = append(later, hook)
		}
	}
	return later
}

// hookView returns the objects of the hooks that can still be run.
func (r *Release) hookView(hooks []*releasev1.Hook) (*view, error) {
	v := newView()
	for _, hook := range laterHooks(hooks) {
		objects, err := parseManifest(hook.Manifest)
		if err != nil {
			return nil, r.errorf("read the hook %s: %w", hook.Path, err)
		}
		for _, object := range objects {
			r.normalize(object.Unstructured)
			v.add(r.keyOf(object.Unstructured), manifestObject{object.Unstructured, hook.Path})
		}
	}
	return v, nil
}

// compareHooks finds the fields of hooks that require an upgrade, as for other objects. Random ones do if they are made of something
// else. An upgrade does not keep their content: it runs the hooks again.
func (c *comparison) compareHooks(base, first, second *view, fingerprints map[string]string) {
	alignNames(base, first, second)
	random := differences(first, second)
	c.changedHooks = slices.DeleteFunc(differences(base, first), random.cover)
	for _, f := range random {
		if hasOtherInputs(fingerprints, hookPrefix, first, f) {
			c.changedHooks = append(c.changedHooks, f)
		}
	}
}

// reasons returns the fields that require an upgrade.
func (c *comparison) reasons() []string {
	reasons := c.changed.strings()
	for _, name := range c.changedHooks.strings() {
		reasons = append(reasons, hookPrefix+name)
	}
	return reasons
}
