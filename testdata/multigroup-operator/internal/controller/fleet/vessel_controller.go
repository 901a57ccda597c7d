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

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	fleetv2 "example.org/multigroup-operator/api/fleet/v2"
)

// VesselReconciler brings the world in line with Vessel objects.
type VesselReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The markers below become the manager's role. Ask for a verb or a resource here before Reconcile uses it.

// +kubebuilder:rbac:groups=fleet.example.org,resources=vessels,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=fleet.example.org,resources=vessels/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=fleet.example.org,resources=vessels/finalizers,verbs=update

// Reconcile compares the Vessel that the request names with the state of the cluster, and acts
// on the difference. It runs after every change of the object, after a restart of the manager, and again when
// it returned an error, so it must come to the same end however often it runs.
func (r *VesselReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &fleetv2.Vessel{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// The object may be gone by now: then there is nothing left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// What the operator does for a Vessel goes here.

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

// SetupWithManager has the manager call Reconcile for every change of a Vessel.
func (r *VesselReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&fleetv2.Vessel{}).
		Named("fleet-vessel").
		Complete(r)
}
