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

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// customresourcedefinitionMissing is a client of a cluster without any CustomResourceDefinition.
// The API server of this suite does not serve the kind. To test against it, add the directory of the kind's CRD to
// CRDDirectoryPaths in suite_test.go and use k8sClient.
type customresourcedefinitionMissing struct{ client.Client }

func (customresourcedefinitionMissing) Get(
	_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption,
) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "customresourcedefinitions"}, key.Name)
}

var _ = Describe("CustomResourceDefinition controller", func() {
	var reconciler *CustomResourceDefinitionReconciler

	BeforeEach(func() {
		reconciler = &CustomResourceDefinitionReconciler{
			Client: customresourcedefinitionMissing{k8sClient},
			Scheme: k8sClient.Scheme(),
		}
	})

	It("ignores an object that does not exist", func() {
		key := types.NamespacedName{Namespace: "default", Name: "missing"}
		result, err := reconciler.Reconcile(ctx, ctrl.Request{NamespacedName: key})
		Expect(err).NotTo(HaveOccurred())
		Expect(result).To(Equal(ctrl.Result{}))
	})
})
