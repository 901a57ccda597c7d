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

package harbor

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	harborv1alpha1 "example.org/multigroup-operator/api/harbor/v1alpha1"
)

var _ = Describe("Berth controller", func() {
	var reconciler *BerthReconciler

	BeforeEach(func() {
		reconciler = &BerthReconciler{Client: k8sClient, Scheme: k8sClient.Scheme()}
	})

	It("ignores an object that does not exist", func() {
		key := types.NamespacedName{Namespace: "default", Name: "missing"}
		result, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		Expect(err).NotTo(HaveOccurred())
		Expect(result).To(Equal(ctrl.Result{}))
	})

	It("reports a condition for the current generation", func() {
		By("creating the object in config/samples")
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "samples", "harbor_v1alpha1_berth.yaml"))
		Expect(err).NotTo(HaveOccurred())
		obj := &harborv1alpha1.Berth{}
		Expect(yaml.Unmarshal(text, obj)).To(Succeed())
		obj.ObjectMeta = metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"}
		Expect(k8sClient.Create(ctx, obj)).To(Succeed())
		DeferCleanup(func() {
			Expect(client.IgnoreNotFound(k8sClient.Delete(ctx, obj))).To(Succeed())
		})
		key := client.ObjectKeyFromObject(obj)

		_, err = reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		Expect(err).NotTo(HaveOccurred())

		Expect(k8sClient.Get(ctx, key, obj)).To(Succeed())
		condition := meta.FindStatusCondition(obj.Status.Conditions, "Available")
		Expect(condition).NotTo(BeNil())
		// TODO: check the status and the reason.
		Expect(condition.ObservedGeneration).To(Equal(obj.Generation))

		By("not updating the object when nothing has changed")
		version := obj.ResourceVersion
		_, err = reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		Expect(err).NotTo(HaveOccurred())
		Expect(k8sClient.Get(ctx, key, obj)).To(Succeed())
		Expect(obj.ResourceVersion).To(Equal(version))
	})
})
