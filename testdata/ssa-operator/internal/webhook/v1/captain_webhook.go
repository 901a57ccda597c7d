package v1

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	crewv1 "example.com/ssa-operator/api/v1"
)

// captainlog is the logger of the webhooks in this file.
var captainlog = logf.Log.WithName("captain-webhook")

// SetupCaptainWebhookWithManager registers the webhooks of Captain with the manager.
func SetupCaptainWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &crewv1.Captain{}).
		WithDefaulter(&CaptainCustomDefaulter{}).
		WithValidator(&CaptainCustomValidator{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-crew-example-com-v1-captain,mutating=true,failurePolicy=fail,sideEffects=None,groups=crew.example.com,resources=captains,verbs=create;update,versions=v1,name=mcaptain-v1.kb.io,admissionReviewVersions=v1

// CaptainCustomDefaulter sets default values of Captain objects.
type CaptainCustomDefaulter struct{}

// Default sets the defaults of an object that is created or updated. It must be idempotent, as it may be called several
// times for one request.
func (d *CaptainCustomDefaulter) Default(_ context.Context, obj *crewv1.Captain) error {
	captainlog.V(1).Info("Defaulting a Captain", "name", obj.GetName())

	// TODO: set the defaults of empty fields, for example:
	//
	//	if obj.Labels == nil {
	//		obj.Labels = map[string]string{"team": "unknown"}
	//	}

	return nil
}

// To validate deletion too, change the verbs to create;update;delete.
// +kubebuilder:webhook:path=/validate-crew-example-com-v1-captain,mutating=false,failurePolicy=fail,sideEffects=None,groups=crew.example.com,resources=captains,verbs=create;update,versions=v1,name=vcaptain-v1.kb.io,admissionReviewVersions=v1

// CaptainCustomValidator validates Captain objects. An error rejects the request with its message. Warnings are shown to
// the user.
type CaptainCustomValidator struct{}

// ValidateCreate validates an object that is created, after defaulting.
func (v *CaptainCustomValidator) ValidateCreate(_ context.Context, obj *crewv1.Captain) (admission.Warnings, error) {
	captainlog.V(1).Info("Validating a new Captain", "name", obj.GetName())

	// TODO: validate the object. Prefer markers on the fields where they suffice.

	return nil, nil
}

// ValidateUpdate validates an update of an object, except of its status.
func (v *CaptainCustomValidator) ValidateUpdate(_ context.Context, oldObj, newObj *crewv1.Captain) (admission.Warnings, error) {
	captainlog.V(1).Info("Validating a change of a Captain", "name", newObj.GetName())

	// TODO: validate the update. Compare the objects to reject changes of immutable fields.

	return nil, nil
}

// ValidateDelete validates the deletion of an object, if the marker above has the verb delete.
func (v *CaptainCustomValidator) ValidateDelete(_ context.Context, _ *crewv1.Captain) (admission.Warnings, error) {
	return nil, nil
}
