package operator

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// hopeless is why a ClusterServiceVersion will not be installed however long one waits, or nothing. OLM
// tries again after other failures.
func hopeless(csv *kube.Object) string {
	phase := kube.StringAt(csv.Object, "status", "phase")
	reason := kube.StringAt(csv.Object, "status", "reason")
	message := kube.StringAt(csv.Object, "status", "message")
	final := []string{"UnsupportedOperatorGroup", "InvalidInstallModes", "InvalidStrategy", "OwnerConflict", "InterOperatorGroupOwnerConflict",
		"CannotModifyStaticOperatorGroupProvidedAPIs", "TooManyOperatorGroups", "NoOperatorGroup", "InvalidWebhookDescription"}
	if phase == "Failed" && slices.Contains(final, reason) {
		return strings.TrimSuffix(reason+": "+message, ": ")
	}
	return ""
}

// hopelessOperator is why the deployments of a ClusterServiceVersion will not become ready, or nothing. It
// looks at them while OLM waits for them: before, they are those of the version that is replaced.
func (r *run) hopelessOperator(ctx context.Context, csv *kube.Object) string {
	if phase := kube.StringAt(csv.Object, "status", "phase"); phase != "Installing" && phase != "Failed" {
		return ""
	}
	for _, name := range deploymentsOf(csv) {
		live, err := r.Client.Get(ctx, kube.Named("apps/v1", "Deployment", r.Namespace, name))
		if err != nil || live == nil {
			continue
		}
		if reason := r.Client.Hopeless(ctx, live); reason != "" {
			return reason
		}
	}
	return ""
}

// deploymentsOf are the names of a ClusterServiceVersion's deployments.
func deploymentsOf(csv *kube.Object) []string {
	list := kube.ListAt(csv.Object, "spec", "install", "spec", "deployments")
	var names []string
	for _, item := range list {
		if name := kube.StringAt(item, "name"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// settled is how many looks in a row, half a second apart, must find OLM without a way to install the bundle:
// it looks for one before it has read all catalogs, too.
const settled = 40

// hopelessPlan is why there will be no InstallPlan, or nothing.
func (r *run) hopelessPlan(ctx context.Context, subscription *kube.Object) string {
	if reason := r.hopelessUnpacking(ctx); reason != "" {
		return "OLM cannot read the bundle: " + reason
	}
	message := ""
	for _, c := range kube.Conditions(subscription) {
		switch {
		case c.Type == "CatalogSourcesUnhealthy" && c.Status == "True":
			return ""
		case c.Type == "ResolutionFailed" && c.Status == "True" && c.Reason == "ConstraintsNotSatisfiable":
			message = c.Message
		}
	}
	if message == "" {
		r.unresolved = 0
		return ""
	}
	if r.unresolved++; r.unresolved < settled {
		return ""
	}
	return "OLM finds no way to install the bundle"
}

// hopelessUnpacking is why the job that reads the bundle's image will not do so, or nothing.
func (r *run) hopelessUnpacking(ctx context.Context) string {
	if r.Bundle.Image == "" {
		return ""
	}
	jobs, err := r.Client.List(ctx, jobs(), r.Namespace, url.Values{"labelSelector": {unpackLabel}})
	if err != nil {
		return ""
	}
	for _, job := range jobs {
		containers := kube.ListAt(job.Object, "spec", "template", "spec", "initContainers")
		if !slices.ContainsFunc(containers, func(c any) bool { return kube.ValueAt(c, "image") == r.Bundle.Image }) {
			continue // another bundle's
		}
		if reason := r.Client.HopelessPods(ctx, r.Namespace, url.Values{"labelSelector": {"job-name=" + job.GetName()}}); reason != "" {
			return reason
		}
	}
	return ""
}

const unpackLabel = "operatorframework.io/bundle-unpack-ref"

func jobs() kube.Resource {
	return kube.Resource{APIVersion: "batch/v1", Name: "jobs", Kind: "Job"}
}
