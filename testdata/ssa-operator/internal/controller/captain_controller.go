package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	crewv1 "example.com/ssa-operator/api/v1"
	crewv1apply "example.com/ssa-operator/api/v1/applyconfiguration/api/v1"
)

// CaptainReconciler brings the world in line with Captain objects.
type CaptainReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The markers below become the manager's role. Ask for a verb or a resource here before Reconcile uses it.

// +kubebuilder:rbac:groups=crew.example.com,resources=captains,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=crew.example.com,resources=captains/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=crew.example.com,resources=captains/finalizers,verbs=update

// Reconcile compares the Captain that the request names with the state of the cluster, and acts
// on the difference. It runs after every change of the object, after a restart of the manager, and again when
// it returned an error, so it must come to the same end however often it runs.
func (r *CaptainReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &crewv1.Captain{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// The object may be gone by now: then there is nothing left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// What the operator does for a Captain goes here.

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
	// Server-side apply sends what this controller sets and nothing else, so that it owns no other field.
	available := meta.FindStatusCondition(obj.Status.Conditions, "Available")
	status := crewv1apply.Captain(obj.Name, obj.Namespace).
		WithStatus(crewv1apply.CaptainStatus().
			WithConditions(metav1apply.Condition().
				WithType(available.Type).
				WithStatus(available.Status).
				WithReason(available.Reason).
				WithMessage(available.Message).
				WithObservedGeneration(available.ObservedGeneration).
				WithLastTransitionTime(available.LastTransitionTime)))
	if err := r.Status().Apply(ctx, status, client.FieldOwner("captain-controller"), client.ForceOwnership); err != nil {
		return ctrl.Result{}, err
	}
	log.V(1).Info("Updated the status", "generation", obj.Generation)

	return ctrl.Result{}, nil
}

// SetupWithManager has the manager call Reconcile for every change of a Captain.
func (r *CaptainReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&crewv1.Captain{}).
		Named("captain").
		Complete(r)
}
