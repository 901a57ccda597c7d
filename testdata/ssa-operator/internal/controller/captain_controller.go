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

// CaptainReconciler reconciles Captain objects.
type CaptainReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The manager's role is generated from the markers below: add the verbs and resources that Reconcile uses.

// +kubebuilder:rbac:groups=crew.example.com,resources=captains,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=crew.example.com,resources=captains/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=crew.example.com,resources=captains/finalizers,verbs=update

// Reconcile moves the state of the cluster toward the desired state of a Captain. It runs whenever the object changes,
// when the manager starts, and again after an error, so it must be idempotent.
func (r *CaptainReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &crewv1.Captain{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// Ignore objects that no longer exist.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// TODO: reconcile the Captain and report the result in its conditions.

	changed := meta.SetStatusCondition(&obj.Status.Conditions, metav1.Condition{
		Type:               "Available",
		Status:             metav1.ConditionUnknown,
		Reason:             "NotImplemented",
		Message:            "The controller does not reconcile the object yet",
		ObservedGeneration: obj.Generation,
	})
	if !changed {
		return ctrl.Result{}, nil
	}
	// Apply only the fields that this controller sets, so that it owns no others.
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
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	log.V(1).Info("Updated the status", "generation", obj.Generation)

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller with the manager, for changes of a Captain.
func (r *CaptainReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&crewv1.Captain{}).
		Named("captain").
		Complete(r)
}
