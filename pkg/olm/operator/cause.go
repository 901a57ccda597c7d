package operator

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// causes collects why an operator was not installed.
type causes struct{ olm.Diagnosis }

// failed adds the causes to the error of a step. ctx may have ended.
func (r *run) failed(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	ctx, cancel := olm.DiagnosisContext(ctx)
	defer cancel()
	d := &causes{}
	r.registryCause(ctx, d)
	if len(d.Problems) == 0 {
		r.catalogCause(ctx, d)
		r.subscriptionCause(ctx, d)
		r.operatorCause(ctx, d)
	}
	if cause != nil && len(d.Problems) == 0 {
		d.Advise("pass a longer --timeout, and see 'kubectl get events --namespace %s'", r.Namespace)
	}
	if !r.CleanUp {
		d.Advise("run the command again to continue after fixing the cause; 'operon cleanup %s' removes the created objects", r.Bundle.Package)
	}
	summary := err.Error()
	if cause != nil {
		summary += fmt.Sprintf(" (%v)", cause)
	}
	return d.Err(summary, err)
}

// registryCause explains why the registry's pod is not ready.
func (r *run) registryCause(ctx context.Context, d *causes) {
	if r.Serving.CatalogImage != "" {
		return
	}
	live, err := r.Client.Get(ctx, kube.Named("apps/v1", "Deployment", r.Namespace, r.registryName()))
	if err != nil || live == nil {
		return
	}
	if health := kube.HealthOf(live); !health.Ready {
		d.explain(ctx, r, live, health.Reason, "--index-image or --decompression-image")
	}
}

// explain describes why the pods of a deployment are not ready. flag is the setting of their images.
func (d *causes) explain(ctx context.Context, r *run, live *kube.Object, reason, flag string) {
	found := d.ExplainDeployment(ctx, r.Client, live,
		"push it to a registry that they can reach, pass --pull-secret-name, or set another image with "+flag, "free resources, no taints, the labels of --node-selector")
	d.AddProblem(kube.FullName(live), reason, found...)
	if len(found.WithRule(kube.Crashed)) > 0 {
		d.Advise("the log above shows why %s exits", kube.FullName(live))
	}
}

// catalogCause explains why OLM cannot read the catalog.
func (r *run) catalogCause(ctx context.Context, d *causes) {
	live, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CatalogSourceKind, r.Namespace, catalogName(r.Bundle.Package)))
	if err != nil || live == nil {
		return
	}
	health := olm.CatalogHealth(live)
	if r.Serving.CatalogImage != "" {
		found := r.Client.ExplainPods(ctx, r.Namespace, catalogPods(live))
		for _, f := range found.WithRule(kube.Unpulled) {
			d.Advise("the nodes cannot pull the catalog %s: push it to a registry that they can reach, or pass --pull-secret-name", f.Value)
		}
		if len(found) > 0 {
			d.AddProblem(kube.FullName(live), "its pod is not ready", found...)
			return
		}
	}
	if !health.Ready {
		d.AddProblem(kube.FullName(live), health.Reason)
		d.Advise("catalog-operator must reach the registry's service on port %d: check network policies and its log", grpcPort)
	}
}

// subscriptionCause describes the state of the Subscription, its InstallPlan and the unpacking of the bundle.
func (r *run) subscriptionCause(ctx context.Context, d *causes) {
	live, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, "Subscription", r.Namespace, r.subscription))
	if err != nil || live == nil {
		return
	}
	unpacking := false
	for _, c := range kube.Conditions(live) {
		if c.Status != "True" || c.Type == "InstallPlanPending" {
			continue
		}
		unpacking = unpacking || strings.HasPrefix(c.Type, "BundleUnpack")
		d.AddProblem(kube.FullName(live), strings.TrimRight(strings.Join([]string{c.Type, c.Reason, c.Message}, ": "), ": "))
		if namespace, name := brokenCatalog(c.Message); c.Type == "ResolutionFailed" && name != "" && name != catalogName(r.Bundle.Package) {
			d.Advise("OLM installs nothing while catalogsource %s/%s does not respond: repair it, or 'kubectl --namespace %[1]s delete catalogsource %s'", namespace, name)
		} else if c.Type == "ResolutionFailed" {
			d.Advise("OLM cannot install it together with the installed operators: see the message, and dependencies.yaml of the bundle")
		}
	}
	if unpacking {
		r.unpackCause(ctx, d)
	}
	plan, err := r.planOf(ctx, live)
	if err != nil || plan == nil {
		return
	}
	phase := kube.StringAt(plan.Object, "status", "phase")
	if phase == "Complete" {
		return
	}
	var steps diag.Findings
	for _, step := range kube.ListAt(plan.Object, "status", "plan") {
		if status := kube.StringAt(step, "status"); status != "" && status != "Present" && status != "Created" {
			steps.Addf(diag.Position{}, "%v %v is %s", kube.ValueAt(step, "resource", "kind"), kube.ValueAt(step, "resource", "name"), status)
		}
	}
	d.AddProblem(kube.FullName(plan), fmt.Sprintf("its phase is %s: %s", phase, planMessage(plan)), steps...)
}

// brokenCatalog returns the CatalogSource that does not respond according to a message of OLM's resolver. One such catalog
// prevents all installations in the namespaces that it serves.
func brokenCatalog(message string) (namespace, name string) {
	_, rest, found := strings.Cut(message, "error using catalogsource ")
	if !found {
		return "", ""
	}
	source, _, _ := strings.Cut(rest, ":")
	namespace, name, _ = strings.Cut(strings.TrimSpace(source), "/")
	return namespace, name
}

// unpackCause describes OLM's jobs that unpack bundle images.
func (r *run) unpackCause(ctx context.Context, d *causes) {
	jobs, err := r.Client.List(ctx, jobs(), r.Namespace, url.Values{"labelSelector": {unpackLabel}})
	if err != nil {
		return
	}
	for _, job := range jobs {
		if n, _ := kube.ValueAt(job.Object, "status", "succeeded").(int64); n > 0 {
			continue
		}
		found := r.Client.ExplainPods(ctx, r.Namespace, url.Values{"labelSelector": {"job-name=" + job.GetName()}})
		d.AddProblem(kube.FullName(job), "the bundle is not unpacked", found...)
		for _, f := range found.WithRule(kube.Unpulled) {
			image := f.Value
			if image == r.Bundle.Image {
				d.Advise("the nodes cannot pull the bundle %s: push it to a registry that they can reach, or pass --pull-secret-name; a bundle directory needs no registry", image)
				continue
			}
			d.Advise("the nodes cannot pull %s, with which OLM unpacks bundles: push it to a registry that they can reach, or install OLM with --image-registry; a bundle directory needs no unpacking", image)
		}
	}
}

// operatorCause describes the state of the ClusterServiceVersion and its deployments.
func (r *run) operatorCause(ctx context.Context, d *causes) {
	csv, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CSVKind, r.Namespace, r.Bundle.CSV))
	if err != nil || csv == nil {
		return
	}
	text := func(field string) string { return kube.StringAt(csv.Object, "status", field) }
	unmet := append(olm.UnmetRequirements(csv), missingPermissions(csv)...)
	d.AddProblem(kube.FullName(csv), strings.TrimRight(strings.Join([]string{"its phase is " + text("phase"), text("reason"), text("message")}, ": "), ": "), unmet...)
	if text("reason") == "RequirementsNotMet" {
		d.Advise("add what is missing to the bundle, or install what provides it, such as CRDs that the operator requires")
	}
	for _, name := range deploymentsOf(csv) {
		live, err := r.Client.Get(ctx, kube.Named("apps/v1", "Deployment", r.Namespace, name))
		if err != nil || live == nil {
			continue
		}
		if health := kube.HealthOf(live); !health.Ready {
			d.explain(ctx, r, live, health.Reason, "the bundle's ClusterServiceVersion")
		}
	}
}

// missingPermissions describes the permissions that a ClusterServiceVersion requires and does not have.
func missingPermissions(csv *kube.Object) (missing diag.Findings) {
	list := kube.ListAt(csv.Object, "status", "requirementStatus")
	for _, item := range list {
		for _, part := range kube.ListAt(item, "dependents") {
			if status := kube.StringAt(part, "status"); status != "" && status != "Satisfied" && status != "Present" {
				missing.Addf(diag.Position{}, "%v is %s: %v", kube.ValueAt(part, "kind"), status, kube.ValueAt(part, "message"))
			}
		}
	}
	return missing
}
