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
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1 "example.org/multigroup-operator/api/fleet/v1"
	fleetv2 "example.org/multigroup-operator/api/fleet/v2"
)

var _ = Describe("Vessel defaulting webhook", func() {
	It("should be idempotent", func() {
		defaulter := &VesselCustomDefaulter{}
		obj := &fleetv2.Vessel{}
		Expect(defaulter.Default(ctx, obj)).To(Succeed())
		once := obj.DeepCopy()
		Expect(defaulter.Default(ctx, obj)).To(Succeed())
		Expect(obj).To(Equal(once))
	})

	It("should be called by the API server", func() {
		obj := &fleetv2.Vessel{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
			Spec:       fleetv2.VesselSpec{Tonnage: 5},
		}
		Expect(k8sClient.Create(ctx, obj, client.DryRunAll)).To(Succeed())
		Expect(obj.Spec.Crew.Size).To(BeEquivalentTo(1))
	})
})

var _ = Describe("Vessel validation webhook", func() {
	It("should accept the deletion of an object", func() {
		validator := &VesselCustomValidator{}
		warnings, err := validator.ValidateDelete(ctx, &fleetv2.Vessel{})
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(BeEmpty())
	})

	It("should be called by the API server", func() {
		obj := &fleetv2.Vessel{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
			Spec:       fleetv2.VesselSpec{Tonnage: 5, Crew: fleetv2.VesselCrew{Size: 6}},
		}
		err := k8sClient.Create(ctx, obj, client.DryRunAll)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("takes 5 people at most")))
	})

	It("should let the tonnage be as it is", func() {
		oldObj := &fleetv2.Vessel{Spec: fleetv2.VesselSpec{Tonnage: 5}}
		newObj := &fleetv2.Vessel{Spec: fleetv2.VesselSpec{Tonnage: 6}}
		_, err := (&VesselCustomValidator{}).ValidateUpdate(ctx, oldObj, newObj)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
	})
})

var _ = Describe("Vessel conversion webhook of v1", func() {
	It("should convert an object to the other version", func() {
		obj := &fleetv1.Vessel{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
			Spec:       fleetv1.VesselSpec{Tonnage: 5, Captain: "Asta", Crew: 2},
		}
		Expect(k8sClient.Create(ctx, obj)).To(Succeed())
		DeferCleanup(func() {
			Expect(client.IgnoreNotFound(k8sClient.Delete(ctx, obj))).To(Succeed())
		})

		converted := &fleetv2.Vessel{}
		Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(obj), converted)).To(Succeed())
		Expect(converted.UID).To(Equal(obj.UID))
		Expect(converted.Spec.Crew).To(Equal(fleetv2.VesselCrew{Captain: "Asta", Size: 2}))
	})
})
