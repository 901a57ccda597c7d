package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// isUnserved reports whether the cluster does not serve a kind.
func isUnserved(err error) bool {
	var kind *meta.NoKindMatchError
	var resource *meta.NoResourceMatchError
	return errors.As(err, &kind) || errors.As(err, &resource)
}

// isMissing reports whether an object or a record does not exist.
func isMissing(err error) bool {
	return apierrors.IsNotFound(err) || errors.Is(err, driver.ErrReleaseNotFound)
}

// The metadata by which Helm recognizes the objects of a release.
const (
	managedByLabel      = "app.kubernetes.io/managed-by"
	managedByHelm       = "Helm"
	releaseAnnotation   = "meta.helm.sh/release-name"
	namespaceAnnotation = "meta.helm.sh/release-namespace"
)

// isOwned reports whether Helm regards an object as one of the release.
func (r *Release) isOwned(object metav1.Object) bool {
	annotations := object.GetAnnotations()
	return object.GetLabels()[managedByLabel] == managedByHelm && annotations[releaseAnnotation] == r.name &&
		annotations[namespaceAnnotation] == r.namespace
}

// forEach calls do for each object of the manifests of revisions, in reverse order, once per object. Objects of kinds that are not
// served are added to unserved. Objects without name, which the server has named, are skipped.
func (r *Release) forEach(revisions []*releasev1.Release, unserved func(*unstructured.Unstructured), do func(*resource.Info) error) error {
	done := map[key]bool{}
	var errs []error
	for _, revision := range slices.Backward(revisions) {
		objects, err := parseManifest(revision.Manifest)
		if err != nil {
			return fmt.Errorf("the manifest of revision %d: %w", revision.Version, err)
		}
		for _, object := range slices.Backward(objects) {
			k := r.keyOf(object.Unstructured)
			if done[k] || object.GetName() == "" {
				continue
			}
			done[k] = true
			info, err := r.info(object.Unstructured)
			switch {
			case isUnserved(err):
				unserved(object.Unstructured)
			case err != nil:
				errs = append(errs, err)
			default:
				if err := do(info); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", k, err))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// deleteObjects deletes the objects of revisions that a current revision, if any, does not contain. Objects that are to be kept,
// or that belong to another release or custom resource, are not deleted.
func (r *Release) deleteObjects(ctx context.Context, revisions []*releasev1.Release, current *releasev1.Release) (*Removal, error) {
	return r.deleteObjectsIf(ctx, revisions, current, func(live metav1.Object) bool {
		return r.owner.owns(live) || r.isOwned(live) && !r.owner.isForeign(live)
	})
}

// deleteObjectsIf is deleteObjects with another condition on live objects.
func (r *Release) deleteObjectsIf(ctx context.Context, revisions []*releasev1.Release, current *releasev1.Release, deletable func(metav1.Object) bool) (*Removal, error) {
	needed := map[key]bool{}
	if current != nil {
		objects, err := parseManifest(current.Manifest)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			needed[r.keyOf(object.Unstructured)] = true
		}
	}
	removal := &Removal{}
	err := r.forEach(revisions, func(object *unstructured.Unstructured) {
		removal.Unserved = append(removal.Unserved, Object{GroupVersionKind: object.GroupVersionKind(), Name: object.GetName()})
	}, func(info *resource.Info) error {
		object := info.Object.(*unstructured.Unstructured)
		if needed[r.keyOf(object)] {
			return nil
		}
		live, err := r.get(ctx, info)
		if isMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		described := Object{object.GroupVersionKind(), info.Namespace, info.Name, isKept(object) || isKept(live), info.Namespaced()}
		if described.Keep || !deletable(live) || r.returned[r.keyOf(object)] {
			removal.Kept = append(removal.Kept, described)
			return nil
		}
		if live.GetDeletionTimestamp() == nil {
			if err := r.delete(ctx, info, live); err != nil {
				return err
			}
		}
		if _, err := r.get(ctx, info); isMissing(err) {
			return nil
		}
		removal.Remaining = append(removal.Remaining, described)
		return nil
	})
	return removal, err
}

// deleteHooks deletes the objects of hooks that belong to the custom resource: Helm leaves them, and the garbage collector deletes
// only hooks in the namespace of the custom resource.
func (r *Release) deleteHooks(ctx context.Context, revisions []*releasev1.Release) error {
	var hooks []*releasev1.Release
	tests := map[key]bool{}
	for _, revision := range revisions {
		for _, hook := range revision.Hooks {
			if hook.Kind != "CustomResourceDefinition" && (!onlyTests(hook) || r.tests[revision.Version] != "") {
				hooks = append(hooks, &releasev1.Release{Manifest: hook.Manifest, Version: revision.Version})
				if objects, err := parseManifest(hook.Manifest); err == nil && onlyTests(hook) {
					for _, object := range objects {
						tests[r.keyOf(object.Unstructured)] = true
					}
				}
			}
		}
	}
	return r.forEach(hooks, func(*unstructured.Unstructured) {}, func(info *resource.Info) error {
		live, err := r.get(ctx, info)
		if isMissing(err) || apierrors.IsForbidden(err) && tests[r.keyOf(info.Object.(*unstructured.Unstructured))] {
			return nil // tests that were disabled since may need permissions that were removed
		}
		if err != nil {
			return err
		}
		if isKept(live) || live.GetDeletionTimestamp() != nil || !r.owner.owns(live) {
			return nil
		}
		return r.delete(ctx, info, live)
	})
}

// onlyTests reports whether a hook is a test only. Unless Options.Tests was set, the operator has never created its object, and may not
// be allowed to.
func onlyTests(hook *releasev1.Hook) bool {
	return !slices.ContainsFunc(hook.Events, func(event releasev1.HookEvent) bool { return event != releasev1.HookTest })
}

// checkReadable returns an error if an object cannot be read. Helm would leave it and remove the record of the release.
func (r *Release) checkReadable(ctx context.Context, revisions []*releasev1.Release) error {
	err := r.forEach(revisions, func(*unstructured.Unstructured) {}, func(info *resource.Info) error {
		if _, err := r.get(ctx, info); !isMissing(err) {
			return err
		}
		return nil
	})
	if err != nil {
		return r.errorf("uninstall: %w", err)
	}
	return nil
}
