/*
Copyright Example.

Licensed under the MIT License; the LICENSE file of this project holds its text.

SPDX-License-Identifier: MIT
*/

package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	appv1 "example.org/minimal-operator/api/v1"
)

// ApplicationReconciler brings the world in line with Application objects.
type ApplicationReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The markers below become the manager's role. Ask for a verb or a resource here before Reconcile uses it.

// +kubebuilder:rbac:groups=app.example.org,resources=applications,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=app.example.org,resources=applications/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=app.example.org,resources=applications/finalizers,verbs=update

// Reconcile compares the Application that the request names with the state of the cluster, and acts
// on the difference. It runs after every change of the object, after a restart of the manager, and again when
// it returned an error, so it must come to the same end however often it runs.
func (r *ApplicationReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &appv1.Application{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// The object may be gone by now: then there is nothing left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// What the operator does for a Application goes here.

	changed := meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
		Type:               "Available",
		Status:             metav1.ConditionTrue,
		Reason:             "Reconciled",
		Message:            "The object is as its spec asks for",
		ObservedGeneration: obj.Generation,
	})
	if !changed {
		return ctrl.Result{}, nil
	}
	if err := r.Status().Update(ctx, obj); err != nil {
		return ctrl.Result{}, err
	}
	log.V(1).Info("Updated the status", "generation", obj.Generation)

	return ctrl.Result{}, nil
}

// SetupWithManager has the manager call Reconcile for every change of a Application.
func (r *ApplicationReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&appv1.Application{}).
		Named("application").
		Complete(r)
}
