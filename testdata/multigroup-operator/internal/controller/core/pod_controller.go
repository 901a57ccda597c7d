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

// PodReconciler brings the world in line with Pod objects.
type PodReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The markers below become the manager's role. Ask for a verb or a resource here before Reconcile uses it.

// +kubebuilder:rbac:groups=core,resources=pods,verbs=get;list;watch

// Reconcile compares the Pod that the request names with the state of the cluster, and acts
// on the difference. It runs after every change of the object, after a restart of the manager, and again when
// it returned an error, so it must come to the same end however often it runs.
func (r *PodReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &corev1.Pod{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// The object may be gone by now: then there is nothing left to do.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// What the operator does for a Pod goes here.
	log.V(1).Info("Read Pod", "generation", obj.GetGeneration())

	return ctrl.Result{}, nil
}

// SetupWithManager has the manager call Reconcile for every change of a Pod.
func (r *PodReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&corev1.Pod{}).
		Named("core-pod").
		Complete(r)
}
