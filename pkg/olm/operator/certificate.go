package operator

import (
	"context"
	"slices"

	"github.com/operon-sdk/operon/pkg/kube"
)

// hasOwnCertificate reports whether the certificate of an installed operator belongs to its ClusterServiceVersion. After an
// upgrade, OLM uses the certificate of the former ClusterServiceVersion until that is deleted. Then OLM creates another one and
// restarts the operator, and its webhooks are unavailable in between.
func (r *run) hasOwnCertificate(ctx context.Context, csv *kube.Object) bool {
	if r.former == "" {
		return true
	}
	servers := certificateDeployments(csv)
	for _, deployment := range servers {
		secret, err := r.Client.Get(ctx, kube.Named("v1", "Secret", r.Namespace, deployment+"-service-cert"))
		if err != nil && !kube.IsTransient(err) {
			return true // the user may not read secrets
		}
		if err != nil || secret == nil {
			return false
		}
		owned := false
		for _, owner := range secret.GetOwnerReferences() {
			owned = owned || owner.UID == csv.GetUID()
		}
		if !owned {
			return false
		}
	}
	if len(servers) == 0 {
		return true
	}
	// The certificate may have been created after csv was read.
	current, err := r.Client.Get(ctx, csv)
	return err == nil && current != nil && kube.ValueAt(current.Object, "status", "phase") == "Succeeded"
}

// certificateDeployments returns the names of the Deployments for which OLM creates certificates, sorted.
func certificateDeployments(csv *kube.Object) []string {
	var names []string
	for _, fields := range [][]string{{"spec", "webhookdefinitions"}, {"spec", "apiservicedefinitions", "owned"}} {
		for _, item := range kube.ListAt(csv.Object, fields...) {
			if name := kube.StringAt(item, "deploymentName"); name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
