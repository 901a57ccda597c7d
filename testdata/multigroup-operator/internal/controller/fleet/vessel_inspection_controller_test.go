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

package fleet

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv2 "example.org/multigroup-operator/api/fleet/v2"
	registryv1 "example.org/multigroup-operator/api/registry/v1"
)

var _ = Describe("VesselInspection controller", func() {
	var reconciler *VesselInspectionReconciler

	BeforeEach(func() {
		reconciler = &VesselInspectionReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
	})

	It("ignores an object that does not exist", func() {
		key := types.NamespacedName{Namespace: "default", Name: "missing"}
		result, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		Expect(err).NotTo(HaveOccurred())
		Expect(result).To(Equal(ctrl.Result{}))
	})

	It("looks the flag up in the registry", func() {
		vessel := &fleetv2.Vessel{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
			Spec:       fleetv2.VesselSpec{Tonnage: 100, Flag: "test"},
		}
		flag := &registryv1.Flag{ObjectMeta: metav1.ObjectMeta{Name: "test"}}
		Expect(k8sClient.Create(ctx, vessel)).To(Succeed())
		DeferCleanup(func() {
			Expect(k8sClient.Delete(ctx, vessel)).To(Succeed())
			Expect(k8sClient.Delete(ctx, flag)).To(Succeed())
		})
		key := client.ObjectKeyFromObject(vessel)
		inspected := func() *metav1.Condition {
			_, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
			Expect(err).NotTo(HaveOccurred())
			Expect(k8sClient.Get(ctx, key, vessel)).To(Succeed())
			return meta.FindStatusCondition(vessel.Status.Conditions, "Inspected")
		}

		Expect(inspected()).To(HaveField("Reason", "FlagUnknown"))
		Expect(k8sClient.Create(ctx, flag)).To(Succeed())
		Expect(inspected()).To(HaveField("Reason", "FlagKnown"))
		Expect(reconciler.vesselsOf(ctx, flag)).To(ConsistOf(ctrl.Request{NamespacedName: key}))
	})
})
