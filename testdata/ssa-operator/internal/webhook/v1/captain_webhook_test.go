package v1

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crewv1 "example.com/ssa-operator/api/v1"
)

var _ = Describe("Captain defaulting webhook", func() {
	It("should be idempotent", func() {
		defaulter := &CaptainCustomDefaulter{}
		obj := &crewv1.Captain{}
		Expect(defaulter.Default(ctx, obj)).To(Succeed())
		once := obj.DeepCopy()
		Expect(defaulter.Default(ctx, obj)).To(Succeed())
		Expect(obj).To(Equal(once))
	})

	It("should be called by the API server", func() {
		obj := &crewv1.Captain{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
		}
		err := k8sClient.Create(ctx, obj, client.DryRunAll)
		// Other errors are expected as long as required fields are missing.
		Expect(apierrors.IsInternalError(err)).To(BeFalse(), "%v", err)
		// TODO: set the required fields, expect success, and check the defaults in obj.
	})
})

var _ = Describe("Captain validation webhook", func() {
	It("should accept the deletion of an object", func() {
		validator := &CaptainCustomValidator{}
		warnings, err := validator.ValidateDelete(ctx, &crewv1.Captain{})
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(BeEmpty())
	})

	It("should be called by the API server", func() {
		obj := &crewv1.Captain{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
		}
		err := k8sClient.Create(ctx, obj, client.DryRunAll)
		// Other errors are expected as long as required fields are missing.
		Expect(apierrors.IsInternalError(err)).To(BeFalse(), "%v", err)
		// TODO: create an invalid object and expect apierrors.IsForbidden(err), or apierrors.IsInvalid(err) for errors of
		// apierrors.NewInvalid.
	})
})
