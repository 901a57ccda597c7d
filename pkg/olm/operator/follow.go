package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// follow approves the InstallPlan and waits until the ClusterServiceVersion is installed.
func (r *run) follow(ctx context.Context) error {
	name := kube.Named(olm.V1Alpha1, olm.CSVKind, r.Namespace, r.Bundle.CSV)
	approved, lastPhase := false, ""
	for {
		csv, err := r.Client.Get(ctx, name)
		if err != nil && !kube.IsTransient(err) && ctx.Err() == nil {
			return err
		}
		switch {
		case err != nil:
		case csv != nil:
			phase := kube.StringAt(csv.Object, "status", "phase")
			if phase == "Succeeded" && !r.hasOwnCertificate(ctx, csv) {
				r.Waitf("waiting for OLM to renew the certificate of the operator's webhooks")
				break
			}
			if phase != "" && phase != lastPhase {
				r.Reportf("  Found ClusterServiceVersion %q phase: %s", r.Namespace+"/"+r.Bundle.CSV, phase)
				lastPhase = phase
			}
			if phase == "Succeeded" {
				return r.checkPermissions(ctx, csv)
			}
			if reason := permanentFailure(csv); reason != "" {
				return r.failed(ctx, fmt.Errorf("OLM does not install %s: %s", r.Bundle.CSV, reason))
			}
			if reason := r.operatorFailure(ctx, csv); reason != "" {
				return r.failed(ctx, fmt.Errorf("the operator does not start: %s", reason))
			}
		default:
			if err := r.plan(ctx, &approved); err != nil {
				return err
			}
		}
		if !kube.Pause(ctx) {
			return r.failed(ctx, r.timeoutError(csv, approved))
		}
	}
}

// timeoutError describes what was missing when the wait ended.
func (r *run) timeoutError(csv *kube.Object, approved bool) error {
	switch {
	case csv != nil:
		phase := kube.StringAt(csv.Object, "status", "phase")
		if phase == "Succeeded" {
			return fmt.Errorf("OLM did not renew the certificate of %s/%s after the upgrade; until it does, webhooks may fail", r.Namespace, r.Bundle.CSV)
		}
		return fmt.Errorf("ClusterServiceVersion %s/%s did not reach the phase Succeeded; it is %s", r.Namespace, r.Bundle.CSV, phase)
	case approved:
		return fmt.Errorf("OLM did not create ClusterServiceVersion %s/%s from its InstallPlan", r.Namespace, r.Bundle.CSV)
	}
	return fmt.Errorf("OLM did not create an InstallPlan for the Subscription %s/%s", r.Namespace, r.subscription)
}

// plan approves the InstallPlan with the ClusterServiceVersion, if it exists.
func (r *run) plan(ctx context.Context, approved *bool) error {
	subscription, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, "Subscription", r.Namespace, r.subscription))
	if err != nil && !kube.IsTransient(err) && ctx.Err() == nil {
		return err
	}
	if err != nil {
		return nil
	}
	if subscription == nil {
		return fmt.Errorf("the Subscription %s/%s was deleted by another process", r.Namespace, r.subscription)
	}
	plan, err := r.planOf(ctx, subscription)
	if err != nil {
		return nil // the next read may succeed
	}
	if plan == nil {
		for _, c := range kube.Conditions(subscription) {
			if c.Type == "BundleUnpackFailed" && c.Status == "True" {
				return r.failed(ctx, fmt.Errorf("OLM cannot unpack the bundle: %s", strings.TrimPrefix(c.Reason+": "+c.Message, ": ")))
			}
		}
		if reason := r.planFailure(ctx, subscription); reason != "" {
			return r.failed(ctx, errors.New(reason))
		}
		r.Waitf("waiting for OLM's InstallPlan%s", subscriptionState(subscription))
		return nil
	}
	if phase := kube.StringAt(plan.Object, "status", "phase"); phase == "Failed" {
		return r.failed(ctx, fmt.Errorf("%s failed: %s", kube.FullName(plan), planMessage(plan)))
	}
	if kube.ValueAt(plan.Object, "spec", "approved") == true {
		*approved = true
		return nil
	}
	if err := r.Client.Patch(ctx, plan, map[string]any{"spec": map[string]any{"approved": true}}); err != nil {
		if kube.IsTransient(err) || kube.IsNotFound(err) || ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("approving %s: %w", kube.FullName(plan), olm.ExplainForbidden(err))
	}
	*approved = true
	r.Reportf("Approved InstallPlan %s for the Subscription: %s", plan.GetName(), r.subscription)
	r.Reportf("Waiting for ClusterServiceVersion %q to reach 'Succeeded' phase", r.Namespace+"/"+r.Bundle.CSV)
	return nil
}

// subscriptionState describes the state of a Subscription without an InstallPlan.
func subscriptionState(subscription *kube.Object) string {
	for _, c := range kube.Conditions(subscription) {
		if c.Status == "True" && c.Type != "CatalogSourcesUnhealthy" {
			return fmt.Sprintf(": %s", strings.Trim(c.Type+" "+c.Reason, " "))
		}
	}
	return ""
}

// planOf returns the InstallPlan of a Subscription that contains the bundle; nil if there is none yet.
func (r *run) planOf(ctx context.Context, subscription *kube.Object) (*kube.Object, error) {
	name := kube.StringAt(subscription.Object, "status", "installPlanRef", "name")
	if name == "" {
		return nil, nil
	}
	plan, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, "InstallPlan", r.Namespace, name))
	if err != nil || plan == nil {
		return nil, err
	}
	names := kube.ListAt(plan.Object, "spec", "clusterServiceVersionNames")
	if !slices.Contains(names, any(r.Bundle.CSV)) {
		return nil, nil
	}
	return plan, nil
}

// planMessage returns the reason of a failed InstallPlan.
func planMessage(plan *kube.Object) string {
	for _, c := range kube.Conditions(plan) {
		if c.Status == "False" && c.Message != "" {
			return c.Message
		}
	}
	message := kube.StringAt(plan.Object, "status", "message")
	if message == "" {
		return "OLM gives no reason"
	}
	return message
}
