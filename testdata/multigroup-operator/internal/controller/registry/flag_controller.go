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
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	registryv1 "example.org/multigroup-operator/api/registry/v1"
)

// FlagReconciler reconciles Flag objects.
type FlagReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The manager's role is generated from the markers below: add the verbs and resources that Reconcile uses.

// +kubebuilder:rbac:groups=registry.example.org,resources=flags,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=registry.example.org,resources=flags/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=registry.example.org,resources=flags/finalizers,verbs=update

// Reconcile moves the state of the cluster toward the desired state of a Flag. It runs whenever the object changes,
// when the manager starts, and again after an error, so it must be idempotent.
func (r *FlagReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &registryv1.Flag{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// Ignore objects that no longer exist.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !obj.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}

	// TODO: reconcile the Flag and report the result in its conditions.

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
	if err := r.Status().Update(ctx, obj); err != nil {
		if apierrors.IsConflict(err) {
			// The object has changed since it was read: reconcile it again.
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	log.V(1).Info("Updated the status", "generation", obj.Generation)

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller with the manager, for changes of a Flag.
func (r *FlagReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&registryv1.Flag{}).
		Named("registry-flag").
		Complete(r)
}
