package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// sees makes sure that an installed operator may watch the APIs that it owns: OLM calls one installed whose pods are
// ready, and they are although they may not. An operator that leaves an API to its operands is told of, and
// passes.
func (r *run) sees(ctx context.Context, csv *kube.Object) error {
	accounts := accountsOf(csv)
	owned := ownedBy(csv)
	if len(accounts) == 0 || len(owned) == 0 {
		return nil
	}
	namespace, _, _ := strings.Cut(csv.GetAnnotations()["olm.targetNamespaces"], ",")
	var blind []string
	for _, name := range owned {
		seen, err := r.watched(ctx, accounts, namespace, name)
		if err != nil {
			return nil // the user may not ask
		}
		if !seen && !slices.Contains(blind, name) {
			blind = append(blind, name)
		}
	}
	if len(blind) == 0 {
		return nil
	}
	problem := fmt.Sprintf("its service account %s may not list and watch %s", strings.Join(accounts, ", "), strings.Join(blind, ", "))
	if len(blind) < len(owned) {
		r.Reportf("the operator does not see all of its custom resources: %s", problem)
		return nil
	}
	e := &InstallError{Err: errors.New("OLM has installed the operator, but it cannot work: it sees none of its custom resources")}
	e.AddProblem(kube.FullName(csv), problem)
	e.Advise("put the rights into the bundle: +kubebuilder:rbac markers of the controllers, 'generate' and 'bundle', or clusterPermissions of the ClusterServiceVersion")
	if !r.CleanUp {
		e.Advise("'cleanup %s' removes what there is", r.Bundle.Package)
	}
	return e
}

// accountsOf are the service accounts of a ClusterServiceVersion's deployments.
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

// watched tells whether one of the accounts may list and watch the resources of a definition, in a namespace or, where
// that is empty, in all. Rights that were just given take the cluster a moment.
func (r *run) watched(ctx context.Context, accounts []string, namespace, definition string) (bool, error) {
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

// may asks the cluster whether a service account has a right.
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
