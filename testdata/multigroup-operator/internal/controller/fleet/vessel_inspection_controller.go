/*
Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package fleet

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	fleetv2 "example.org/multigroup-operator/api/fleet/v2"
	registryv1 "example.org/multigroup-operator/api/registry/v1"
)

// VesselInspectionReconciler inspects vessels: the flag of a Vessel must be that of a Flag.
type VesselInspectionReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The manager's role is generated from the markers below: add the verbs and resources that Reconcile uses.

// +kubebuilder:rbac:groups=fleet.example.org,resources=vessels,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=fleet.example.org,resources=vessels/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=fleet.example.org,resources=vessels/finalizers,verbs=update
// +kubebuilder:rbac:groups=registry.example.org,resources=flags,verbs=get;list;watch

// Reconcile moves the state of the cluster toward the desired state of a Vessel. It runs whenever the object changes,
// when the manager starts, and again after an error, so it must be idempotent.
func (r *VesselInspectionReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &fleetv2.Vessel{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// Ignore objects that no longer exist.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	inspected := metav1.Condition{
		Type:               "Inspected",
		Status:             metav1.ConditionTrue,
		Reason:             "FlagKnown",
		Message:            "The vessel sails under a flag of the registry",
		ObservedGeneration: obj.Generation,
	}
	err := r.Get(ctx, client.ObjectKey{Name: obj.Spec.Flag}, &registryv1.Flag{})
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err != nil {
		inspected.Status, inspected.Reason = metav1.ConditionFalse, "FlagUnknown"
		inspected.Message = "The registry does not know the vessel's flag"
	}

	if !meta.SetStatusCondition(&obj.Status.Conditions, inspected) {
		return ctrl.Result{}, nil
	}
	if err := r.Status().Update(ctx, obj); err != nil {
		if apierrors.IsConflict(err) {
			// The other controller of Vessel updates the status too: reconcile again.
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	log.V(1).Info("Inspected the vessel", "flag", obj.Spec.Flag, "reason", inspected.Reason)

	return ctrl.Result{}, nil
}

// vesselsOf returns requests for the vessels that sail under a flag.
func (r *VesselInspectionReconciler) vesselsOf(ctx context.Context, flag client.Object) []reconcile.Request {
	var vessels fleetv2.VesselList
	if err := r.List(ctx, &vessels); err != nil {
		logf.FromContext(ctx).Error(err, "Failed to list vessels")
		return nil
	}
	var requests []reconcile.Request
	for _, vessel := range vessels.Items {
		if vessel.Spec.Flag == flag.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&vessel)})
		}
	}
	return requests
}

// SetupWithManager registers the controller with the manager, for changes of a Vessel and of its Flag.
func (r *VesselInspectionReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&fleetv2.Vessel{}).
		Watches(&registryv1.Flag{}, handler.EnqueueRequestsFromMapFunc(r.vesselsOf)).
		Named("fleet-vessel-inspection").
		Complete(r)
}
