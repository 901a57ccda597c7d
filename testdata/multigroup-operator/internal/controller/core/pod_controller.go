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

package core

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	corev1 "k8s.io/api/core/v1"
)

// PodReconciler reconciles Pod objects.
type PodReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The manager's role is generated from the markers below: add the verbs and resources that Reconcile uses.

// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch

// Reconcile moves the state of the cluster toward the desired state of a Pod. It runs whenever the object changes,
// when the manager starts, and again after an error, so it must be idempotent.
func (r *PodReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &corev1.Pod{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// Ignore objects that no longer exist.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// TODO: reconcile the Pod.
	log.V(1).Info("Read Pod", "generation", obj.GetGeneration())

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller with the manager, for changes of a Pod.
func (r *PodReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&corev1.Pod{}).
		Named("core-pod").
		Complete(r)
}
