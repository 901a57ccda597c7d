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
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cachev1alpha1 "github.com/example/memcached-operator/api/v1alpha1"
)

var _ = Describe("Memcached defaulting webhook", func() {
	It("should be idempotent", func() {
		defaulter := &MemcachedCustomDefaulter{}
		obj := &cachev1alpha1.Memcached{}
		Expect(defaulter.Default(ctx, obj)).To(Succeed())
		once := obj.DeepCopy()
		Expect(defaulter.Default(ctx, obj)).To(Succeed())
		Expect(obj).To(Equal(once))
	})

	It("should be called by the API server", func() {
		obj := &cachev1alpha1.Memcached{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
		}
		Expect(k8sClient.Create(ctx, obj, client.DryRunAll)).To(Succeed())
		Expect(obj.Spec.MemoryMegabytes).To(HaveValue(Equal(int32(64))))
	})

	DescribeTable("should give the pods their memory",
		func(size, memory, want *int32) {
			obj := &cachev1alpha1.Memcached{Spec: cachev1alpha1.MemcachedSpec{Size: size, MemoryMegabytes: memory}}
			Expect((&MemcachedCustomDefaulter{}).Default(ctx, obj)).To(Succeed())
			Expect(obj.Spec.MemoryMegabytes).To(Equal(want))
		},
		Entry("as usual", nil, nil, new(int32(64))),
		Entry("as the user says", new(int32(3)), new(int32(5)), new(int32(5))),
		Entry("without pods", new(int32(0)), nil, new(int32(64))),
		Entry("with many pods", new(int32(100)), nil, new(int32(10))),
		Entry("with far too many", new(int32(5000)), nil, new(int32(1))),
	)
})

var _ = Describe("Memcached validation webhook", func() {
	It("should accept the deletion of an object", func() {
		validator := &MemcachedCustomValidator{}
		warnings, err := validator.ValidateDelete(ctx, &cachev1alpha1.Memcached{})
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(BeEmpty())
	})

	It("should be called by the API server", func() {
		obj := &cachev1alpha1.Memcached{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
			Spec:       cachev1alpha1.MemcachedSpec{Size: new(int32(17)), MemoryMegabytes: new(int32(64))},
		}
		err := k8sClient.Create(ctx, obj, client.DryRunAll)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("17 pods with this much take more than the 1024 MB")))

		obj.Spec.Size = new(int32(16))
		Expect(k8sClient.Create(ctx, obj, client.DryRunAll)).To(Succeed())
	})

	It("should reject another port while there are pods", func() {
		obj := &cachev1alpha1.Memcached{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "test-"},
		}
		Expect(k8sClient.Create(ctx, obj)).To(Succeed())
		DeferCleanup(func() { Expect(k8sClient.Delete(ctx, obj)).To(Succeed()) })

		changed := obj.DeepCopy()
		changed.Spec.ContainerPort = 11212
		err := k8sClient.Update(ctx, changed)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("set size to 0 first")))

		obj.Spec.Size = new(int32(0))
		Expect(k8sClient.Update(ctx, obj)).To(Succeed())
		obj.Spec.ContainerPort = 11212
		Expect(k8sClient.Update(ctx, obj)).To(Succeed())
	})

	It("should warn when no pods are left", func() {
		validator := &MemcachedCustomValidator{}
		obj := &cachev1alpha1.Memcached{Spec: cachev1alpha1.MemcachedSpec{Size: new(int32(0))}}
		warnings, err := validator.ValidateCreate(ctx, obj)
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(ConsistOf(ContainSubstring("no pods run")))
	})

	It("should accept the removal of a finalizer from an invalid object", func() {
		oldObj := &cachev1alpha1.Memcached{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Now())}}
		oldObj.Spec.Size, oldObj.Spec.MemoryMegabytes = new(int32(17)), new(int32(64))
		_, err := (&MemcachedCustomValidator{}).ValidateUpdate(ctx, oldObj, oldObj.DeepCopy())
		Expect(err).NotTo(HaveOccurred())
	})
})
