package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// checkTimeout is the maximum time of one request of checkCluster.
const checkTimeout = 20 * time.Second

// checkCluster lists the custom resources. It returns an error if the cluster cannot be reached or forbids it, which would
// otherwise be seen in the log only. Kinds that do not exist yet are reconciled as soon as they do.
func checkCluster(ctx context.Context, mgr manager.Manager, kinds []schema.GroupVersionKind, namespaces []string, log logr.Logger) error {
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var errs []error
	for _, gvk := range kinds {
		mapping, err := mgr.GetRESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		if meta.IsNoMatchError(err) {
			log.Info("the cluster does not have this kind yet; create its CustomResourceDefinition ('make install')", "group", gvk.Group, "version", gvk.Version, "kind", gvk.Kind)
			continue
		}
		if err != nil {
			return unreachable(mgr, err)
		}
		listed := namespaces
		if mapping.Scope.Name() == meta.RESTScopeNameRoot {
			listed = []string{""}
		}
		for _, namespace := range listed {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
			limited, cancel := context.WithTimeout(ctx, checkTimeout)
			err := mgr.GetAPIReader().List(limited, list, client.InNamespace(namespace), client.Limit(1))
			cancel()
			switch {
			case apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err):
				errs = append(errs, fmt.Errorf("%w; add the rule to the role of the service account (config/rbac/role.yaml), or list the permitted namespaces in WATCH_NAMESPACE", err))
			case err != nil && !apierrors.IsNotFound(err):
				return unreachable(mgr, err)
			}
		}
	}
	return errors.Join(errs...)
}

// unreachable returns an error that names the cluster.
func unreachable(mgr manager.Manager, err error) error {
	return fmt.Errorf("cannot reach the cluster at %s: %w", mgr.GetConfig().Host, err)
}
