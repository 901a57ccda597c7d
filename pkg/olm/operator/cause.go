package operator

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// InstallError tells why an operator was not installed.
type InstallError struct {
	// Err is what did not happen, Cause why the wait ended where it was the time.
	Err, Cause error
	olm.Diagnosis
}

func (e *InstallError) Unwrap() error { return e.Err }

func (e *InstallError) Error() string {
	first := e.Err.Error()
	if e.Cause != nil {
		first += fmt.Sprintf(" (%v)", e.Cause)
	}
	return e.Text(first)
}

// failed finds out why something did not happen, also after ctx has ended.
func (r *run) failed(ctx context.Context, err error) error {
	looking, cancel := olm.DiagnosisContext(ctx)
	defer cancel()
	e := &InstallError{Err: err, Cause: context.Cause(ctx)}
	r.registryCause(looking, e)
	if len(e.Problems) == 0 {
		r.catalogCause(looking, e)
		r.subscriptionCause(looking, e)
		r.operatorCause(looking, e)
	}
	if e.Cause != nil && len(e.Problems) == 0 {
		e.Advise("give it more time with --timeout, and look at 'kubectl get events --namespace %s'", r.Namespace)
	}
	if !r.CleanUp {
		e.Advise("the same command goes on from here once the cause is removed; 'cleanup %s' removes what there is", r.Bundle.Package)
	}
	return e
}

// registryCause tells of the registry's pod.
func (r *run) registryCause(ctx context.Context, e *InstallError) {
	if r.Serving.CatalogImage != "" {
		return
	}
	live, err := r.Client.Get(ctx, kube.Named("apps/v1", "Deployment", r.Namespace, r.registryName()))
	if err != nil || live == nil {
		return
	}
	if health := kube.HealthOf(live); !health.Ready {
		e.explain(ctx, r, live, health.Reason, "--index-image or --decompression-image")
	}
}

// explain tells why a deployment's pods are not ready; flag is what names another image.
func (e *InstallError) explain(ctx context.Context, r *run, live *kube.Object, reason, flag string) {
	cause := e.ExplainDeployment(ctx, r.Client, live,
		"push it to where they pull from, give a --pull-secret-name, or name another image: "+flag, "free resources, no taints, the labels of --node-selector")
	e.AddProblem(kube.FullName(live), reason, cause.Lines...)
	if cause.Crashed {
		e.Advise("the log above says why %s ends", kube.FullName(live))
	}
}

// catalogCause tells of OLM's connection to the catalog.
func (r *run) catalogCause(ctx context.Context, e *InstallError) {
	live, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CatalogSourceKind, r.Namespace, CatalogName(r.Bundle.Package)))
	if err != nil || live == nil {
		return
	}
	health := olm.CatalogHealth(live)
	if r.Serving.CatalogImage != "" {
		cause := &kube.Cause{}
		r.Client.ExplainPods(ctx, cause, r.Namespace, catalogPods(live))
		for _, image := range cause.Images {
			e.Advise("the nodes cannot pull the catalog %s: name it by a registry that they reach, or give a --pull-secret-name", image)
		}
		if len(cause.Lines) > 0 {
			e.AddProblem(kube.FullName(live), "its pod is not ready", cause.Lines...)
			return
		}
	}
	if !health.Ready {
		e.AddProblem(kube.FullName(live), health.Reason)
		e.Advise("catalog-operator must reach the registry's service on port %d: look for network policies, and at its log", grpcPort)
	}
}

// subscriptionCause tells what OLM says of the subscription, its InstallPlan and the unpacking of the bundle.
func (r *run) subscriptionCause(ctx context.Context, e *InstallError) {
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
		e.AddProblem(kube.FullName(live), strings.TrimRight(strings.Join([]string{c.Type, c.Reason, c.Message}, ": "), ": "))
		if namespace, name := brokenCatalog(c.Message); c.Type == "ResolutionFailed" && name != "" && name != CatalogName(r.Bundle.Package) {
			e.Advise("OLM installs nothing while catalogsource %s/%s does not answer: mend it, or 'kubectl --namespace %[1]s delete catalogsource %s'", namespace, name)
		} else if c.Type == "ResolutionFailed" {
			e.Advise("OLM finds no way to install it together with what is there: see the message, and dependencies.yaml of the bundle")
		}
	}
	if unpacking {
		r.unpackCause(ctx, e)
	}
	plan, err := r.planOf(ctx, live)
	if err != nil || plan == nil {
		return
	}
	phase := kube.StringAt(plan.Object, "status", "phase")
	if phase == "Complete" {
		return
	}
	var lines []string
	steps := kube.ListAt(plan.Object, "status", "plan")
	for _, step := range steps {
		if status := kube.StringAt(step, "status"); status != "" && status != "Present" && status != "Created" {
			lines = append(lines, fmt.Sprintf("%v %v is %s", kube.ValueAt(step, "resource", "kind"), kube.ValueAt(step, "resource", "name"), status))
		}
	}
	e.AddProblem(kube.FullName(plan), fmt.Sprintf("its phase is %s: %s", phase, planMessage(plan)), lines...)
}

// brokenCatalog is the CatalogSource that a message of OLM's resolver names as one that does not answer, if any.
// A single one keeps OLM from resolving anything in the namespaces that it serves.
func brokenCatalog(message string) (namespace, name string) {
	_, rest, found := strings.Cut(message, "error using catalogsource ")
	if !found {
		return "", ""
	}
	source, _, _ := strings.Cut(rest, ":")
	namespace, name, _ = strings.Cut(strings.TrimSpace(source), "/")
	return namespace, name
}

// unpackCause tells of the jobs with which OLM reads bundle images.
func (r *run) unpackCause(ctx context.Context, e *InstallError) {
	jobs, err := r.Client.List(ctx, jobs(), r.Namespace, url.Values{"labelSelector": {unpackLabel}})
	if err != nil {
		return
	}
	for _, job := range jobs {
		if n, _ := kube.ValueAt(job.Object, "status", "succeeded").(int64); n > 0 {
			continue
		}
		cause := &kube.Cause{}
		r.Client.ExplainPods(ctx, cause, r.Namespace, url.Values{"labelSelector": {"job-name=" + job.GetName()}})
		e.AddProblem(kube.FullName(job), "it has not unpacked the bundle", cause.Lines...)
		for _, image := range cause.Images {
			if image == r.Bundle.Image {
				e.Advise("the nodes cannot pull the bundle %s: push it to where they pull from, or give a --pull-secret-name; given as a folder, it is pulled by nobody", image)
				continue
			}
			e.Advise("the nodes cannot pull %s, which OLM unpacks bundles with: push it to where they pull from, or install OLM with --image-registry; a bundle given as a folder needs no unpacking", image)
		}
	}
}

// operatorCause tells of the ClusterServiceVersion and its deployments.
func (r *run) operatorCause(ctx context.Context, e *InstallError) {
	csv, err := r.Client.Get(ctx, kube.Named(olm.V1Alpha1, olm.CSVKind, r.Namespace, r.Bundle.CSV))
	if err != nil || csv == nil {
		return
	}
	text := func(field string) string { return kube.StringAt(csv.Object, "status", field) }
	lines := append(olm.UnmetRequirements(csv), dependents(csv)...)
	e.AddProblem(kube.FullName(csv), strings.TrimRight(strings.Join([]string{"its phase is " + text("phase"), text("reason"), text("message")}, ": "), ": "), lines...)
	if text("reason") == "RequirementsNotMet" {
		e.Advise("put what is missing into the bundle, or install what brings it, such as the CRDs that the operator requires")
	}
	for _, name := range deploymentsOf(csv) {
		live, err := r.Client.Get(ctx, kube.Named("apps/v1", "Deployment", r.Namespace, name))
		if err != nil || live == nil {
			continue
		}
		if health := kube.HealthOf(live); !health.Ready {
			e.explain(ctx, r, live, health.Reason, "the image in the bundle's ClusterServiceVersion")
		}
	}
}

// dependents are the rights that a ClusterServiceVersion asks for and misses.
func dependents(csv *kube.Object) []string {
	list := kube.ListAt(csv.Object, "status", "requirementStatus")
	var lines []string
	for _, item := range list {
		parts := kube.ListAt(item, "dependents")
		for _, part := range parts {
			if status := kube.StringAt(part, "status"); status != "" && status != "Satisfied" && status != "Present" {
				lines = append(lines, fmt.Sprintf("%v is %s: %v", kube.ValueAt(part, "kind"), status, kube.ValueAt(part, "message")))
			}
		}
	}
	return lines
}
