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
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	cachev1alpha1 "github.com/example/memcached-operator/api/v1alpha1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	// +kubebuilder:scaffold:imports
)

// The specs in this package run against a real API server, which calls the webhooks of this process as configured in
// config/webhook. "make test" provides the API server and generates the configuration.

var (
	ctx       context.Context
	cancel    context.CancelFunc
	testEnv   *envtest.Environment
	cfg       *rest.Config
	k8sClient client.Client
)

// root is the path from this package to the root of the project.
var root = filepath.Join("..", "..", "..")

func TestWebhooks(t *testing.T) {
	RegisterFailHandler(Fail)

	RunSpecs(t, "Webhook Suite")
}

var _ = BeforeSuite(func() {
	logf.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))

	ctx, cancel = context.WithCancel(context.Background())

	var err error
	err = cachev1alpha1.AddToScheme(scheme.Scheme)
	Expect(err).NotTo(HaveOccurred())
	// +kubebuilder:scaffold:scheme

	By("starting the API server")
	testEnv = &envtest.Environment{
		// CRDs get the conversion webhook if several versions of their kinds are registered above.
		CRDDirectoryPaths: []string{filepath.Join(root, "config", "crd", "bases")},
		WebhookInstallOptions: envtest.WebhookInstallOptions{
			Paths: []string{filepath.Join(root, "config", "webhook")},
		},
		BinaryAssetsDirectory: binaryAssets(),
		// The default of 20 seconds can be too short when the suites of several packages start at once on a small CI machine.
		ControlPlaneStartTimeout: 2 * time.Minute,
		ControlPlaneStopTimeout:  2 * time.Minute,
	}
	cfg, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred(), `the API server did not start; run the tests with "make test"`)
	Expect(cfg).NotTo(BeNil())

	k8sClient, err = client.New(cfg, client.Options{Scheme: scheme.Scheme})
	Expect(err).NotTo(HaveOccurred())
	Expect(k8sClient).NotTo(BeNil())

	By("starting the webhook server")
	serving := testEnv.WebhookInstallOptions
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme: scheme.Scheme,
		WebhookServer: webhook.NewServer(webhook.Options{
			Host:    serving.LocalServingHost,
			Port:    serving.LocalServingPort,
			CertDir: serving.LocalServingCertDir,
		}),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	Expect(err).NotTo(HaveOccurred())

	// The configuration includes webhooks of other packages. Here they allow all requests.
	mgr.GetWebhookServer().Register("/", &webhook.Admission{
		Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
			return admission.Allowed("")
		}),
	})

	err = SetupMemcachedWebhookWithManager(mgr)
	Expect(err).NotTo(HaveOccurred())
	// +kubebuilder:scaffold:webhook

	go func() {
		defer GinkgoRecover()
		Expect(mgr.Start(ctx)).To(Succeed())
	}()
	address := net.JoinHostPort(serving.LocalServingHost, strconv.Itoa(serving.LocalServingPort))
	Eventually(func() error {
		// The certificate is self-signed, and this only checks that the server is up.
		conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", address,
			&tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return err
		}
		return conn.Close()
	}, 10*time.Second, 50*time.Millisecond).Should(Succeed())
})

var _ = AfterSuite(func() {
	By("stopping the webhook server and the API server")
	cancel()
	Expect(testEnv.Stop()).To(Succeed())
})

// binaryAssets returns the directory of the API server's binaries when KUBEBUILDER_ASSETS is not set, as when an editor
// runs the tests: the first directory in bin/k8s, or none.
func binaryAssets() string {
	if os.Getenv("KUBEBUILDER_ASSETS") != "" {
		return ""
	}
	dir := filepath.Join(root, "bin", "k8s")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, entry := range entries {
		if entry.IsDir() {
			return filepath.Join(dir, entry.Name())
		}
	}
	return ""
}
