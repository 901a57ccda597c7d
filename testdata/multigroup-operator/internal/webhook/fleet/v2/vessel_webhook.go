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

package v2

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	fleetv2 "example.org/multigroup-operator/api/fleet/v2"
)

// vessellog is the logger of the webhooks in this file.
var vessellog = logf.Log.WithName("vessel-webhook")

// SetupVesselWebhookWithManager registers the webhooks of Vessel with the manager.
// Types with conversion methods are detected and registered too.
func SetupVesselWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &fleetv2.Vessel{}).
		WithDefaulter(&VesselCustomDefaulter{}).
		WithValidator(&VesselCustomValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-fleet-example-org-v2-vessel,mutating=true,failurePolicy=fail,sideEffects=None,groups=fleet.example.org,resources=vessels,verbs=create;update,versions=v2,name=mvessel-v2.kb.io,admissionReviewVersions=v1

// VesselCustomDefaulter sets default values of Vessel objects.
type VesselCustomDefaulter struct{}

// Default sets the defaults of an object that is created or updated. It must be idempotent, as it may be called several
// times for one request.
func (d *VesselCustomDefaulter) Default(_ context.Context, obj *fleetv2.Vessel) error {
	vessellog.V(1).Info("Defaulting a Vessel", "name", obj.GetName())

	if obj.Spec.Crew.Size == 0 {
		obj.Spec.Crew.Size = 1
	}

	return nil
}

// To validate deletion too, change the verbs to create;update;delete.
// +kubebuilder:webhook:path=/validate-fleet-example-org-v2-vessel,mutating=false,failurePolicy=fail,sideEffects=None,groups=fleet.example.org,resources=vessels,verbs=create;update,versions=v2,name=vvessel-v2.kb.io,admissionReviewVersions=v1

// VesselCustomValidator validates Vessel objects. An error rejects the request with its message. Warnings are shown to
// the user.
type VesselCustomValidator struct{}

// ValidateCreate validates an object that is created, after defaulting.
func (v *VesselCustomValidator) ValidateCreate(_ context.Context, obj *fleetv2.Vessel) (admission.Warnings, error) {
	vessellog.V(1).Info("Validating a new Vessel", "name", obj.GetName())

	return nil, refuse(obj, crewFits(obj))
}

// ValidateUpdate validates an update of an object, except of its status.
func (v *VesselCustomValidator) ValidateUpdate(_ context.Context, oldObj, newObj *fleetv2.Vessel) (admission.Warnings, error) {
	vessellog.V(1).Info("Validating a change of a Vessel", "name", newObj.GetName())

	errs := crewFits(newObj)
	if newObj.Spec.Tonnage != oldObj.Spec.Tonnage {
		errs = append(errs, field.Invalid(field.NewPath("spec", "tonnage"), newObj.Spec.Tonnage, "cannot change"))
	}
	return nil, refuse(newObj, errs)
}

// ValidateDelete validates the deletion of an object, if the marker above has the verb delete.
func (v *VesselCustomValidator) ValidateDelete(_ context.Context, _ *fleetv2.Vessel) (admission.Warnings, error) {
	return nil, nil
}

// crewFits finds a crew that the vessel is too small for.
func crewFits(vessel *fleetv2.Vessel) field.ErrorList {
	if crew := vessel.Spec.Crew.Size; crew > vessel.Spec.Tonnage {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "crew", "size"), crew,
			fmt.Sprintf("a vessel of %d tons takes %[1]d people at most", vessel.Spec.Tonnage))}
	}
	return nil
}

// refuse makes of findings the error that the API server itself would give.
func refuse(vessel *fleetv2.Vessel, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(fleetv2.SchemeGroupVersion.WithKind("Vessel").GroupKind(), vessel.Name, errs)
}
