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

package v1alpha1

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	cachev1alpha1 "github.com/example/memcached-operator/api/v1alpha1"
)

const (
	// defaultMemory is how much memory each pod has for items, in megabytes.
	defaultMemory = 64
	// maxMemory is what all pods of a Memcached may have together, in megabytes.
	maxMemory = 1024
)

// memcachedlog is the logger of the webhooks in this file.
var memcachedlog = logf.Log.WithName("memcached-webhook")

// SetupMemcachedWebhookWithManager registers the webhooks of Memcached with the manager.
func SetupMemcachedWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &cachev1alpha1.Memcached{}).
		WithDefaulter(&MemcachedCustomDefaulter{}).
		WithValidator(&MemcachedCustomValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-cache-example-com-v1alpha1-memcached,mutating=true,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1alpha1,name=mmemcached-v1alpha1.kb.io,admissionReviewVersions=v1

// MemcachedCustomDefaulter sets default values of Memcached objects.
type MemcachedCustomDefaulter struct{}

// Default sets the defaults of an object that is created or updated. It must be idempotent, as it may be called several
// times for one request.
func (d *MemcachedCustomDefaulter) Default(_ context.Context, obj *cachev1alpha1.Memcached) error {
	memcachedlog.V(1).Info("Defaulting a Memcached", "name", obj.GetName())

	if obj.Spec.MemoryMegabytes == nil {
		// Many pods share what there is.
		share := maxMemory / max(size(obj), 1)
		obj.Spec.MemoryMegabytes = new(max(min(defaultMemory, share), 1))
	}
	return nil
}

// To validate deletion too, change the verbs to create;update;delete.
// +kubebuilder:webhook:path=/validate-cache-example-com-v1alpha1-memcached,mutating=false,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1alpha1,name=vmemcached-v1alpha1.kb.io,admissionReviewVersions=v1

// MemcachedCustomValidator validates Memcached objects. An error rejects the request with its message. Warnings are shown to
// the user.
type MemcachedCustomValidator struct{}

// ValidateCreate validates an object that is created, after defaulting.
func (v *MemcachedCustomValidator) ValidateCreate(_ context.Context, obj *cachev1alpha1.Memcached) (admission.Warnings, error) {
	memcachedlog.V(1).Info("Validating a new Memcached", "name", obj.GetName())

	return warnings(obj), invalid(obj, checkMemory(obj))
}

// ValidateUpdate validates an update of an object, except of its status.
func (v *MemcachedCustomValidator) ValidateUpdate(_ context.Context, oldObj, newObj *cachev1alpha1.Memcached) (admission.Warnings, error) {
	memcachedlog.V(1).Info("Validating a change of a Memcached", "name", newObj.GetName())

	if !newObj.DeletionTimestamp.IsZero() {
		// Accept the removal of finalizers even if the object is invalid.
		return nil, nil
	}
	return warnings(newObj), invalid(newObj, append(checkMemory(newObj), checkPort(oldObj, newObj)...))
}

// ValidateDelete validates the deletion of an object, if the marker above has the verb delete.
func (v *MemcachedCustomValidator) ValidateDelete(_ context.Context, _ *cachev1alpha1.Memcached) (admission.Warnings, error) {
	return nil, nil
}

// size is how many pods the object asks for. Code that calls the webhooks directly may leave it open.
func size(obj *cachev1alpha1.Memcached) int32 {
	if obj.Spec.Size == nil {
		return 1
	}
	return *obj.Spec.Size
}

// checkMemory rejects more memory than a Memcached may have.
func checkMemory(obj *cachev1alpha1.Memcached) field.ErrorList {
	memory := obj.Spec.MemoryMegabytes
	if memory == nil || int64(size(obj))*int64(*memory) <= maxMemory {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "memoryMegabytes"), *memory,
		fmt.Sprintf("%d pods with this much take more than the %d MB that a Memcached may have", size(obj), maxMemory))}
}

// checkPort rejects another port while there are pods: their clients would be cut off.
func checkPort(oldObj, newObj *cachev1alpha1.Memcached) field.ErrorList {
	if oldObj.Spec.ContainerPort == newObj.Spec.ContainerPort || size(oldObj) == 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "containerPort"),
		"the port cannot change while there are pods; set size to 0 first")}
}

// warnings returns warnings about values that are valid but unusual.
func warnings(obj *cachev1alpha1.Memcached) admission.Warnings {
	if size(obj) > 0 {
		return nil
	}
	return admission.Warnings{"spec.size is 0: no pods run, and all items are lost"}
}

// invalid returns one error for all errors of the object, or nil.
func invalid(obj *cachev1alpha1.Memcached, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(cachev1alpha1.SchemeGroupVersion.WithKind("Memcached").GroupKind(), obj.Name, errs)
}
