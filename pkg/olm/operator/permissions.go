package operator

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// checkPermissions returns an error if an installed operator may not watch any of the APIs that it owns: its pods are ready
// anyway, which is all that OLM verifies. Single missing APIs are reported, as operands may serve them.
func (r *run) checkPermissions(ctx context.Context, csv *kube.Object) error {
	accounts := accountsOf(csv)
	owned := ownedBy(csv)
	if len(accounts) == 0 || len(owned) == 0 {
		return nil
	}
	namespace, _, _ := strings.Cut(csv.GetAnnotations()["olm.targetNamespaces"], ",")
	var missing []string
	for _, name := range owned {
		permitted, err := r.mayWatch(ctx, accounts, namespace, name)
		if err != nil {
			return nil // the user may not create reviews
		}
		if !permitted && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	problem := fmt.Sprintf("its service account %s is not allowed to list and watch %s", strings.Join(accounts, ", "), strings.Join(missing, ", "))
	if len(missing) < len(owned) {
		r.Reportf("the operator is not permitted to read all of its custom resources: %s", problem)
		return nil
	}
	d := &olm.Diagnosis{}
	d.AddProblem(kube.FullName(csv), problem)
	d.Advise("add permissions to the bundle: +kubebuilder:rbac markers of the controllers, 'operon generate' and 'operon bundle', or clusterPermissions of the ClusterServiceVersion")
	if !r.CleanUp {
		d.Advise("'operon cleanup %s' removes the created objects", r.Bundle.Package)
	}
	return d.Err("OLM has installed the operator, but it is not permitted to read its custom resources", nil)
}

// accountsOf returns the service accounts of a ClusterServiceVersion's deployments.
func accountsOf(csv *kube.Object) []string {
	list := kube.ListAt(csv.Object, "spec", "install", "spec", "deployments")
	var accounts []string
	for _, item := range list {
		name := kube.StringAt(item, "spec", "template", "spec", "serviceAccountName")
		if name == "" {
			name = "default"
		}
		accounts = append(accounts, name)
	}
	slices.Sort(accounts)
	return slices.Compact(accounts)
}

// mayWatch reports whether one of the accounts may list and watch the resources of a definition in a namespace, or in all if it
// is empty. It repeats the request, as new permissions take a moment to apply.
func (r *run) mayWatch(ctx context.Context, accounts []string, namespace, definition string) (bool, error) {
	plural, group, _ := strings.Cut(definition, ".")
	for range 3 {
		for _, account := range accounts {
			list, err := r.may(ctx, account, "list", namespace, group, plural)
			if err != nil {
				return false, err
			}
			watch, err := r.may(ctx, account, "watch", namespace, group, plural)
			if err != nil || list && watch {
				return true, err
			}
		}
		if !kube.Pause(ctx) {
			return false, context.Cause(ctx)
		}
	}
	return false, nil
}

// may reports whether a service account has a permission.
func (r *run) may(ctx context.Context, account, verb, namespace, group, resource string) (bool, error) {
	var answer struct{ Status struct{ Allowed bool } }
	err := kube.Retry(ctx, func() error {
		return r.Client.Do(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", "", map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
			"spec": map[string]any{
				"user":   "system:serviceaccount:" + r.Namespace + ":" + account,
				"groups": []string{"system:serviceaccounts", "system:serviceaccounts:" + r.Namespace, "system:authenticated"},
				"resourceAttributes": map[string]any{
					"verb": verb, "namespace": namespace, "group": group, "resource": resource,
				},
			},
		}, &answer)
	})
	return answer.Status.Allowed, err
}
