package operator

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// permanentFailure returns why OLM will never install a ClusterServiceVersion; empty if it may. OLM retries after other failures.
func permanentFailure(csv *kube.Object) string {
	phase := kube.StringAt(csv.Object, "status", "phase")
	reason := kube.StringAt(csv.Object, "status", "reason")
	message := kube.StringAt(csv.Object, "status", "message")
	permanent := []string{"UnsupportedOperatorGroup", "InvalidInstallModes", "InvalidStrategy", "OwnerConflict", "InterOperatorGroupOwnerConflict",
		"CannotModifyStaticOperatorGroupProvidedAPIs", "TooManyOperatorGroups", "NoOperatorGroup", "InvalidWebhookDescription"}
	if phase == "Failed" && slices.Contains(permanent, reason) {
		return strings.TrimSuffix(reason+": "+message, ": ")
	}
	return ""
}

// operatorFailure returns why the deployments of a ClusterServiceVersion will never become ready; empty if they may. Before OLM
// waits for them, they belong to the replaced version.
func (r *run) operatorFailure(ctx context.Context, csv *kube.Object) string {
	if phase := kube.StringAt(csv.Object, "status", "phase"); phase != "Installing" && phase != "Failed" {
		return ""
	}
	for _, name := range deploymentsOf(csv) {
		live, err := r.Client.Get(ctx, kube.Named("apps/v1", "Deployment", r.Namespace, name))
		if err != nil || live == nil {
			continue
		}
		if reason := r.Client.PermanentFailure(ctx, live); reason != "" {
			return reason
		}
	}
	return ""
}

// deploymentsOf returns the names of a ClusterServiceVersion's deployments.
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

// unresolvedReads is the number of consecutive reads, half a second apart, after which an unresolved Subscription is a permanent
// failure: OLM resolves before it has read all catalogs, too.
const unresolvedReads = 40

// planFailure returns why OLM will never create an InstallPlan; empty if it may.
func (r *run) planFailure(ctx context.Context, subscription *kube.Object) string {
	if reason := r.unpackFailure(ctx); reason != "" {
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
	if r.unresolved++; r.unresolved < unresolvedReads {
		return ""
	}
	return "OLM cannot resolve the dependencies of the bundle"
}

// unpackFailure returns why the job that unpacks the bundle's image will never succeed; empty if it may.
func (r *run) unpackFailure(ctx context.Context) string {
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
			continue // of another bundle
		}
		if reason := r.Client.PermanentPodFailure(ctx, r.Namespace, url.Values{"labelSelector": {"job-name=" + job.GetName()}}); reason != "" {
			return reason
		}
	}
	return ""
}

const unpackLabel = "operatorframework.io/bundle-unpack-ref"

func jobs() kube.Resource {
	return kube.Resource{APIVersion: "batch/v1", Name: "jobs", Kind: "Job"}
}
