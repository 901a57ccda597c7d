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

package apiextensions

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// CustomResourceDefinitionReconciler reconciles CustomResourceDefinition objects.
type CustomResourceDefinitionReconciler struct {
	client.Client
	Scheme *runtime.Scheme
}

// The manager's role is generated from the markers below: add the verbs and resources that Reconcile uses.

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get;list;watch

// Reconcile moves the state of the cluster toward the desired state of a CustomResourceDefinition. It runs whenever the object changes,
// when the manager starts, and again after an error, so it must be idempotent.
func (r *CustomResourceDefinitionReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	log := logf.FromContext(ctx)

	obj := &apiextensionsv1.CustomResourceDefinition{}
	if err := r.Get(ctx, req.NamespacedName, obj); err != nil {
		// Ignore objects that no longer exist.
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}

	// TODO: reconcile the CustomResourceDefinition.
	log.V(1).Info("Read CustomResourceDefinition", "generation", obj.GetGeneration())

	return ctrl.Result{}, nil
}

// SetupWithManager registers the controller with the manager, for changes of a CustomResourceDefinition.
func (r *CustomResourceDefinitionReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&apiextensionsv1.CustomResourceDefinition{}).
		Named("apiextensions-customresourcedefinition").
		Complete(r)
}
