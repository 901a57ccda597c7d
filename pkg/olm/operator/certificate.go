package operator

import (
	"context"
	"slices"

	"github.com/operon-sdk/operon/pkg/kube"
)

// certified tells whether the operator of a ClusterServiceVersion that has succeeded keeps its certificate. After an
// upgrade, OLM leaves the former version's to the new one, although it still belongs to the former
// ClusterServiceVersion and goes with it a moment later. Then OLM makes another one and restarts the operator, and
// meanwhile no webhook of it can be called.
func (r *run) certified(ctx context.Context, csv *kube.Object) bool {
	if r.former == "" {
		return true
	}
	servers := certifiedDeployments(csv)
	for _, deployment := range servers {
		secret, err := r.Client.Get(ctx, kube.Named("v1", "Secret", r.Namespace, deployment+"-service-cert"))
		if err != nil && !kube.IsTransient(err) {
			return true // the user may not look
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
	// The certificate may have been made after csv was read.
	now, err := r.Client.Get(ctx, csv)
	return err == nil && now != nil && kube.ValueAt(now.Object, "status", "phase") == "Succeeded"
}

// certifiedDeployments are the Deployments of a ClusterServiceVersion for which OLM makes certificates, sorted.
func certifiedDeployments(csv *kube.Object) []string {
	var names []string
	for _, fields := range [][]string{{"spec", "webhookdefinitions"}, {"spec", "apiservicedefinitions", "owned"}} {
		list := kube.ListAt(csv.Object, fields...)
		for _, item := range list {
			if name := kube.StringAt(item, "deploymentName"); name != "" {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
