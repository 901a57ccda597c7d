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

package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	registryv1 "example.org/multigroup-operator/api/registry/v1"
)

// FlagReconciler brings the world in line with Flag objects.
type FlagReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The markers below become the manager's role. Ask for a verb or a resource here before Reconcile uses it.

// +kubebuilder:rbac:groups=registry.example.org,resources=flags,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=registry.example.org,resources=flags/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=registry.example.org,resources=flags/finalizers,verbs=update

// Reconcile compares the Flag that the request names with the state of the cluster, and acts
// on the difference. It runs after every change of the object, after a restart of the manager, and again when
// it returned an error, so it must come to the same end however often it runs.
func (r *FlagReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &registryv1.Flag{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// The object may be gone by now: then there is nothing left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// What the operator does for a Flag goes here.

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

// SetupWithManager has the manager call Reconcile for every change of a Flag.
func (r *FlagReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&registryv1.Flag{}).
		Named("registry-flag").
		Complete(r)
}
