package helmoperator

import (
	"context"
	"fmt"
	"slices"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// deploy installs, upgrades or repairs the release.
func (p *pass) deploy(ctx context.Context) (*release.Deployed, error) {
	var err error
	if p.settings, err = p.readSettings(p.obj); err != nil {
		return nil, err
	}
	chart, err := p.chart.load()
	if err != nil {
		return nil, err
	}
	if p.namespace, err = p.kind.TargetNamespace(p.obj); err != nil {
		return nil, err
	}
	if p.values, err = p.valuesOf(ctx, p.obj, &p.secrets); err != nil {
		return nil, p.waitOr(ctx, err)
	}
	p.secrets.AddValues(p.values)
	if p.install, p.upgrade, err = p.remediations(p.obj); err != nil {
		return nil, err
	}
	rel, err := p.newRelease(ctx, chart)
	if err != nil {
		return nil, err
	}
	p.rendered, p.release = chart, rel
	plan, err := rel.Plan(ctx)
	if err != nil || plan.Action != release.None {
		err = p.waitOr(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	// From here, objects may exist that have to be uninstalled.
	if err := p.kind.TakeOver(ctx, p.obj, Finalizer, isFinalizer); err != nil {
		return nil, err
	}
	if err := p.kind.RecordTarget(ctx, p.obj, p.namespace); err != nil {
		return nil, err
	}
	p.tracked.annotations = p.obj.GetAnnotations()
	if err := p.stage(ctx, &plan); err != nil {
		return nil, err
	}
	if err := p.callHooks(ctx, p.preHooks, plan.Action, nil); err != nil {
		return nil, err
	}
	p.watchCRDs(ctx, rel)
	deployed, err := p.act(ctx, rel, plan)
	p.describeCRDs(rel.CRDReports(), err)
	p.describeOwnership(rel.TakenOver(), err)
	if err != nil {
		return nil, err
	}
	p.describeDeployed(deployed, plan)
	if err := p.callHooks(ctx, p.postHooks, plan.Action, deployed); err != nil {
		return nil, err
	}
	return deployed, nil
}

// newRelease returns the release with a chart and the values of the pass.
func (p *pass) newRelease(ctx context.Context, chart *chartv2.Chart) (*release.Release, error) {
	return p.factory.Release(release.Options{
		Owner: p.obj, Namespace: p.namespace, Chart: chart, Values: p.values, DryRun: p.dryRun, MaxHistory: p.maxHistory, PostRender: p.postRender,
		Observer: p.dependents, InstallStrategy: p.install.Strategy, UpgradeStrategy: p.upgrade.Strategy, HookTimeout: p.settings.timeout,
		Remediated: p.metrics.remediationsOf(p.kind.GVK), CRDs: p.chart.crdPolicy(p.crds), Drift: p.settings.drift, Ignore: p.ignore,
		TakeOwnership: p.ownership, Tests: p.testOptions(),
		Wait: func(w release.Waiting, until func() error) error {
			return p.await(ctx, p.operation, p.obj, p.change, w, until)
		},
	})
}

// act does what the plan of a release requires.
func (p *pass) act(ctx context.Context, rel *release.Release, plan release.Plan) (*release.Deployed, error) {
	switch plan.Action {
	case release.Install:
		return p.try(ctx, rel, plan, p.install, ReasonInstallError, func() (*release.Deployed, error) {
			return p.operate(ctx, plan, operationInstall, ReasonInstalling, ReasonInstallSuccessful, ReasonInstallError, rel.Install)
		})
	case release.Upgrade:
		return p.try(ctx, rel, plan, p.upgrade, ReasonUpgradeError, func() (*release.Deployed, error) {
			return p.operate(ctx, plan, operationUpgrade, ReasonUpgrading, ReasonUpgradeSuccessful, ReasonUpgradeError, func(ctx context.Context) (*release.Deployed, error) {
				return rel.Upgrade(ctx, p.upgradeOptions())
			})
		})
	}
	return p.repair(ctx, rel)
}

// repair repairs the objects of the deployed revision.
func (p *pass) repair(ctx context.Context, rel *release.Release) (*release.Deployed, error) {
	start := p.kind.Now()
	deployed, repaired, err := rel.Repair(ctx)
	if err != nil || slices.ContainsFunc(repaired, func(object release.Repaired) bool { return !object.Reported }) {
		p.metrics.observe(p.kind.GVK, operationRepair, p.kind.Now().Sub(start), err)
	}
	p.reportDrift(repaired, log.FromContext(ctx))
	return deployed, err
}

// operate installs or upgrades the release. The status shows the progress, as hooks can take minutes.
func (p *pass) operate(ctx context.Context, plan release.Plan, operation, progress, success, failure string, do func(context.Context) (*release.Deployed, error)) (*release.Deployed, error) {
	logger := log.FromContext(ctx).WithValues("release", p.obj.GetName(), "operation", operation)
	logger.Info("changing the release", "reason", p.secrets.Redact(plan.Reason))
	p.change.set(condition{ConditionReady, metav1.ConditionFalse, progress, ""})
	p.change.handled = p.requested
	if err := p.writeStatus(ctx, p.obj, p.change); err != nil {
		return nil, err
	}
	start := p.kind.Now()
	deployed, err := do(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	p.metrics.observe(p.kind.GVK, operation, p.kind.Now().Sub(start), err)
	if err != nil {
		p.emitOverrides(p.obj, &p.secrets)
		return nil, &operationError{failure, err}
	}
	p.operated = true
	p.secrets.addManifest(deployed.Manifest)
	p.emitOverrides(p.obj, &p.secrets)
	p.change.set(condition{ConditionDeployed, metav1.ConditionTrue, success, deployed.Notes})
	logger.Info("changed the release", "revision", deployed.Revision)
	p.emitDeployed(success, plan, deployed)
	return deployed, nil
}

func (p *pass) callHooks(ctx context.Context, hooks []Hook, action release.Action, deployed *release.Deployed) error {
	for _, hook := range hooks {
		err := hook(ctx, HookRequest{Object: p.obj.DeepCopy(), Values: p.values, Action: action, Release: deployed, Client: p.kind.Client})
		if err != nil {
			return fmt.Errorf("hook of the operator: %w", err)
		}
	}
	return nil
}
