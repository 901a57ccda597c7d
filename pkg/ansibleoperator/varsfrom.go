package ansibleoperator

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
)

// defaultVarsKey is the key of sources that name none.
const defaultVarsKey = "vars.yaml"

// WithVarsFrom sets the Secrets and ConfigMaps from which runs get variables. Their default key is vars.yaml. Later ones take precedence,
// and the custom resource takes precedence over all of them. A change of an object starts a run for the resources that use it. The
// operator needs permissions to get, list and watch the objects. Their strings are never evaluated as templates, and their content
// appears in no condition, error or log.
func WithVarsFrom(sources ...valuesfrom.Source) Option {
	return func(r *Reconciler) (err error) {
		if r.varsFrom, err = valuesfrom.Complete(sources, defaultVarsKey); err != nil {
			return fmt.Errorf("vars from: %w", err)
		}
		return nil
	}
}

// readSources reads the variables from Secrets and ConfigMaps. For a deleted resource, sources may be missing: they are often deleted at
// the same time.
func (p *pass) readSources(ctx context.Context) error {
	if p.sources == nil {
		return nil
	}
	// A change that follows the read must start another pass.
	p.engine.proxy.BeginPass(p.kind.GVK.GroupKind(), client.ObjectKeyFromObject(p.obj))
	sources, err := p.sources.Read(ctx, p.obj)
	p.sourceVars = map[string]any{}
	for _, source := range sources {
		p.secrets.AddContent(source.Text)
		p.secrets.AddContent(source.Mapping)
		if source.Target != "" {
			p.sourceVars[source.Target] = source.Text
		} else if problem := variables.CheckSource(source.Mapping); problem != "" {
			err = errors.Join(err, source.Errorf("%s", problem))
		} else {
			maps.Copy(p.sourceVars, source.Mapping)
		}
	}
	if _, ok := errors.AsType[*valuesfrom.Error](err); ok && p.deleted {
		log.FromContext(ctx).Info("ignoring sources of variables of a deleted resource", "reason", err.Error())
		return nil
	}
	return err
}

// sourceChanged requests a run for a custom resource after a change of a source, also while it waits after a failed run.
func (r *Reconciler) sourceChanged(key types.NamespacedName) {
	if !r.engine.proxy.RequestRun(r.kind.GVK.GroupKind(), key, false) {
		r.passes.requeue(key, 0)
	}
}

// waitForSources ends a pass whose sources are missing or not valid. Their watch, or a change of the resource, starts the next one.
func (p *pass) waitForSources(ctx context.Context, cause *valuesfrom.Error) (reconcile.Result, error) {
	reason := ReasonVarsInvalid
	if cause.IsMissing() {
		reason = ReasonVarsMissing
	}
	log.FromContext(ctx).Info("waiting for the sources of variables", "reason", cause.Error())
	return reconcile.Result{RequeueAfter: p.settings.period}, p.write(ctx, failureConditions(nil, reason, cause.Error()))
}
