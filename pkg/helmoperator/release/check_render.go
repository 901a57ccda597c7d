package release

import (
	"context"

	"helm.sh/helm/v4/pkg/action"
	helmrelease "helm.sh/helm/v4/pkg/release"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// checkInstall renders an installation. It returns nil if the chart can't be rendered before its CRDs are created.
func (r *Release) checkInstall(ctx context.Context) (*check, error) {
	revisions, err := r.history()
	if err != nil {
		return nil, err
	}
	last := lastOf(revisions)
	if err := r.checkUsable(last); err != nil {
		return nil, err
	}
	if last != nil && last.Info.Status == rcommon.StatusUninstalling {
		revisions = nil
	}
	c := &check{Release: r, operation: "install", events: r.checkedHooks(installHooks)}
	return c.render(ctx, revisions, func() ([]renderStep, error) {
		steps, _, err := r.prepareRender(ctx, revisions, continuable(revisions), situation{revision: 1, install: true})
		return steps, err
	}, func(configuration *action.Configuration) (helmrelease.Releaser, error) {
		install := r.newInstall(configuration)
		install.DryRunStrategy, install.TakeOwnership = action.DryRunServer, c.reportsOwnership()
		return install.RunWithContext(ctx, copyChart(r.options.Chart), copyMap(r.options.Values))
	})
}

// checkUpgrade renders an upgrade. It returns nil if the chart can't be rendered before its CRDs are created.
func (r *Release) checkUpgrade(ctx context.Context, o UpgradeOptions) (*check, error) {
	revisions, err := r.history()
	if err != nil {
		return nil, err
	}
	last := lastOf(revisions)
	if last == nil {
		return nil, r.errorf("upgrade: there is no release")
	}
	if err := r.checkUsable(last); err != nil {
		return nil, err
	}
	base := deployedOf(revisions)
	if base == nil {
		base = last
	}
	c := &check{
		Release: r, operation: "upgrade", events: r.checkedHooks(upgradeHooks),
		serverSide: isServerSide(last), force: o.Force,
	}
	if c.original, err = r.infos(base.Manifest, func(schema.GroupKind) bool { return false }); err != nil {
		return nil, r.errorf("upgrade: %w", err)
	}
	return c.render(ctx, revisions, func() ([]renderStep, error) {
		steps, _, err := r.prepareRender(ctx, revisions, base, situation{revision: last.Version + 1})
		return steps, err
	}, func(configuration *action.Configuration) (helmrelease.Releaser, error) {
		upgrade := r.newUpgrade(configuration)
		upgrade.DryRunStrategy, upgrade.TakeOwnership = action.DryRunServer, c.reportsOwnership()
		return upgrade.RunWithContext(ctx, r.name, copyChart(r.options.Chart), copyMap(r.options.Values))
	})
}

// checkRollback asks the server whether it accepts the objects of an earlier revision.
func (r *Release) checkRollback(ctx context.Context, from, target *releasev1.Release, o UpgradeOptions) error {
	c := &check{
		Release: r, operation: "rollback", revision: target, serverSide: isServerSide(target), force: o.RollbackForce,
		events: []releasev1.HookEvent{releasev1.HookPreRollback, releasev1.HookPostRollback}, undefined: map[schema.GroupKind]bool{},
	}
	var err error
	if c.original, err = r.infos(from.Manifest, anyKind); err != nil {
		return err
	}
	if err := c.run(ctx); err != nil && !IsTransient(err) {
		return err
	}
	return nil
}

func isServerSide(revision *releasev1.Release) bool {
	return revision.ApplyMethod == string(releasev1.ApplyMethodServerSideApply)
}

// checkUsable returns an error if a release belongs to others, or if they work on it.
func (r *Release) checkUsable(last *releasev1.Release) error {
	if err := r.checkChart(last); err != nil {
		return err
	}
	return r.checkBusy(last)
}

// render renders the revision with a dry run of Helm's action, which also refuses objects of others.
func (c *check) render(ctx context.Context, revisions []*releasev1.Release, prepare func() ([]renderStep, error),
	run func(*action.Configuration) (helmrelease.Releaser, error),
) (*check, error) {
	c.undefined = map[schema.GroupKind]bool{}
	unserved, err := c.readCRDs()
	if err != nil {
		return nil, err
	}
	rendered, err := c.renderRevision(revisions, prepare, run, unserved)
	if err != nil {
		if len(unserved) > 0 && ctx.Err() == nil {
			return nil, nil
		}
		return nil, c.errorf("%s: %w", c.operation, err)
	}
	c.revision = rendered
	return c, nil
}

func (c *check) renderRevision(revisions []*releasev1.Release, prepare func() ([]renderStep, error),
	run func(*action.Configuration) (helmrelease.Releaser, error), unserved map[schema.GroupKind]bool,
) (*releasev1.Release, error) {
	steps, err := prepare()
	if err != nil {
		return nil, err
	}
	configuration, err := c.rewriting(nil, steps...)
	if err != nil {
		return nil, err
	}
	kubeClient := configuration.KubeClient.(*client)
	kubeClient.skipped = unserved
	if configuration.Releases, err = memoryStorage(c.namespace, revisions); err != nil {
		return nil, err
	}
	result, err := run(configuration)
	rendered, _ := result.(*releasev1.Release)
	if err != nil {
		return nil, c.redact(err, rendered)
	}
	rendered.Manifest, err = kubeClient.rewriter.apply(rendered.Manifest)
	return rendered, err
}

// memoryStorage returns a storage with copies of revisions. Helm continues after interrupted ones, as they are marked first.
func memoryStorage(namespace string, revisions []*releasev1.Release) (*storage.Storage, error) {
	memory := driver.NewMemory()
	memory.SetNamespace(namespace)
	store := storage.Init(memory)
	for _, revision := range revisions {
		copied, info := *revision, *revision.Info
		copied.Info = &info
		if info.Status.IsPending() {
			info.Status = rcommon.StatusFailed
		}
		if err := store.Create(&copied); err != nil {
			return nil, err
		}
	}
	return store, nil
}

// readCRDs reads the CRDs of the crds directories that the operation may create. It returns the kinds that the cluster does not serve yet.
func (c *check) readCRDs() (map[schema.GroupKind]bool, error) {
	unserved := map[schema.GroupKind]bool{}
	if c.options.Chart == nil {
		return nil, c.errorf("the chart is required")
	}
	if c.options.CRDs == CRDsSkip {
		return unserved, nil
	}
	crds, err := c.chartCRDs()
	if err != nil {
		return nil, err
	}
	for _, crd := range crds {
		object, err := crd.object()
		if err != nil {
			return nil, c.errorf("%s: %w", crd.filename, err)
		}
		c.crds = append(c.crds, object)
		kind, ok := definedKind(object)
		if !ok {
			continue
		}
		if _, err := c.factory.mapper.RESTMapping(kind); isUnserved(err) {
			unserved[kind] = true
		}
	}
	return unserved, nil
}

// definedKind returns the kind that a CRD defines.
func definedKind(object *unstructured.Unstructured) (schema.GroupKind, bool) {
	if object.GetKind() != "CustomResourceDefinition" {
		return schema.GroupKind{}, false
	}
	group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
	return schema.GroupKind{Group: group, Kind: kind}, kind != ""
}
