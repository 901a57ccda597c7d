package release

import (
	"context"
	"errors"
	"slices"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/kube"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// UninstallOptions are the settings of an uninstallation.
type UninstallOptions struct {
	// Wait keeps the record of the release until its objects no longer exist. Removal lists them. Call Uninstall again until there are
	// none.
	Wait bool
}

// Uninstall runs the hooks and deletes the objects and the records of the release, if they belong to the custom resource. It does not
// require the chart. Without a record, nothing is deleted. Hooks are not run in a namespace that is being deleted. It can be repeated
// after errors, which name the objects that block it.
func (r *Release) Uninstall(ctx context.Context, o UninstallOptions) (*Removal, error) {
	revisions, err := r.history()
	if err != nil {
		return nil, err
	}
	last := lastOf(revisions)
	if last == nil {
		r.factory.remove(r.owner.uid)
		return &Removal{Done: true}, nil
	}
	foreign, err := r.isForeign(ctx, last)
	if err != nil {
		return nil, err
	}
	if foreign {
		return &Removal{Done: true}, nil
	}
	removal := &Removal{}
	var hookError error
	if last.Info.Status != rcommon.StatusUninstalled {
		if err := r.checkReadable(ctx, revisions); err != nil {
			return nil, err
		}
		if err := r.giveBack(ctx, revisions, nil); err != nil {
			return nil, r.redact(err, revisions...)
		}
		if hookError, err = r.runUninstall(ctx, revisions); err != nil {
			return nil, r.redact(err, revisions...)
		}
	}
	// Objects of other revisions exist if an upgrade was interrupted.
	if removal, err = r.deleteObjects(ctx, revisions, nil); err != nil {
		return nil, r.redact(r.errorf("uninstall: %w", err), revisions...)
	}
	if err := r.deleteHooks(ctx, revisions); err != nil {
		return nil, r.redact(r.errorf("uninstall: %w", err), revisions...)
	}
	if o.Wait && len(removal.Remaining) > 0 {
		return removal, hookError
	}
	r.factory.remove(r.owner.uid)
	if err := r.purge(revisions); err != nil {
		return nil, err
	}
	return removal, hookError
}

// isForeign reports whether a release of the same name belongs to another custom resource, or to nobody and is of another chart. If
// nobody owns the records of a release of the chart, as after "helm install", its objects decide: it was taken over if one of them
// belongs to the custom resource.
func (r *Release) isForeign(ctx context.Context, last *releasev1.Release) (bool, error) {
	if r.otherOwner != "" || r.isOwner {
		return r.otherOwner != "", nil
	}
	if r.checkChart(last) != nil {
		return true, nil
	}
	if _, deployed, _ := unstructured.NestedMap(r.options.Owner.Object, "status", "deployedRelease"); deployed {
		return false, nil
	}
	exist, owned := false, false
	err := r.forEach([]*releasev1.Release{last}, func(*unstructured.Unstructured) {}, func(info *resource.Info) error {
		live, err := r.get(ctx, info)
		if isMissing(err) {
			return nil
		}
		exist, owned = true, owned || err == nil && r.owner.owns(live)
		return err
	})
	if err != nil {
		return false, r.errorf("uninstall: %w", err)
	}
	return exist && !owned, nil
}

// runUninstall calls Helm's action. It keeps the records. The first error is one of a post-delete hook, which does not prevent
// the uninstallation.
func (r *Release) runUninstall(ctx context.Context, revisions []*releasev1.Release) (hookError, err error) {
	last := lastOf(revisions)
	if err := r.skipFinishedHooks(last); err != nil {
		return nil, err
	}
	client := r.client()
	client.skipUnserved = true
	client.clientSide = !isServerSide(last)
	configuration, err := r.configuration(client, nil)
	if err != nil {
		return nil, err
	}
	if err := r.runHooks(ctx, configuration, uninstallHooks, revisions, nil).begin(last, revisions); err != nil {
		return nil, r.errorf("uninstall: %w", err)
	}
	uninstall := action.NewUninstall(configuration)
	uninstall.KeepHistory, uninstall.Timeout = true, r.factory.hookTimeout
	uninstall.WaitStrategy = kube.HookOnlyStrategy
	uninstall.DisableHooks = !r.isNamespaceActive(ctx)
	_, err = uninstall.Run(r.name)
	if len(client.deleteErrors) > 0 { // Helm's error does not contain them
		return nil, r.errorf("uninstall: %w", errors.Join(client.deleteErrors...))
	}
	if err == nil {
		return nil, nil
	}
	err = r.errorf("uninstall: %w", err)
	if revisions, readErr := r.history(); readErr == nil && lastOf(revisions) != nil && lastOf(revisions).Info.Status == rcommon.StatusUninstalled {
		return err, nil
	}
	return nil, err
}

// skipFinishedHooks removes the event of pre-delete hooks that an interrupted uninstallation has run: the objects that they
// require may be deleted already.
func (r *Release) skipFinishedHooks(last *releasev1.Release) error {
	if last.Info.Status != rcommon.StatusUninstalling {
		return nil
	}
	var changed bool
	for _, hook := range last.Hooks {
		isPreDelete := func(event releasev1.HookEvent) bool { return event == releasev1.HookPreDelete }
		if hook.LastRun.Phase == releasev1.HookPhaseSucceeded && slices.ContainsFunc(hook.Events, isPreDelete) &&
			!hook.LastRun.StartedAt.Before(last.Info.Deleted) {
			hook.Events, changed = slices.DeleteFunc(hook.Events, isPreDelete), true
		}
	}
	if !changed {
		return nil
	}
	if err := r.storage(nil).Update(last); err != nil {
		return r.errorf("record the finished hooks: %w", err)
	}
	return nil
}

// isNamespaceActive reports whether objects can be created in the namespace. Without permission to read it, it is assumed.
func (r *Release) isNamespaceActive(ctx context.Context) bool {
	namespace, err := r.factory.core.Namespaces().Get(ctx, r.namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false
	}
	return err != nil || namespace.Status.Phase != corev1.NamespaceTerminating
}
