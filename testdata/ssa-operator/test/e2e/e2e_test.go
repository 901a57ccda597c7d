//go:build e2e

package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.com/ssa-operator/test/utils"
)

// The namespace and the name prefix must match config/default.
const (
	namespace              = "ssa-operator-system"
	serviceAccountName     = "ssa-operator-controller-manager"
	metricsServiceName     = "ssa-operator-controller-manager-metrics-service"
	metricsReaderRoleName  = "ssa-operator-metrics-reader"
	metricsRoleBindingName = "ssa-operator-metrics-binding"
)

var _ = Describe("Manager", Ordered, func() {
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(time.Second)

	var controllerPodName string

	BeforeAll(func() {
		By("creating a namespace that enforces the restricted Pod Security Standard")
		_, err := utils.Run(exec.Command("kubectl", "create", "namespace", namespace))
		Expect(err).NotTo(HaveOccurred())
		_, err = utils.Run(exec.Command("kubectl", "label", "--overwrite", "namespace", namespace,
			"pod-security.kubernetes.io/enforce=restricted"))
		Expect(err).NotTo(HaveOccurred())

		By("deploying the manager with its CRDs")
		_, err = utils.Run(exec.Command("make", "deploy", "IMG="+managerImage))
		Expect(err).NotTo(HaveOccurred())
	})

	AfterAll(func() {
		By("removing what the tests created")
		_, _ = utils.Run(exec.Command("kubectl", "delete", "clusterrolebinding", metricsRoleBindingName,
			"--ignore-not-found"))
		_, _ = utils.Run(exec.Command("make", "undeploy", "ignore-not-found=true"))
		_, _ = utils.Run(exec.Command("kubectl", "delete", "namespace", namespace, "--ignore-not-found"))
	})

	AfterEach(func() {
		if !CurrentSpecReport().Failed() {
			return
		}
		for _, args := range [][]string{
			{"logs", "--selector", "control-plane=controller-manager", "--tail", "-1"},
			{"describe", "pods", "--selector", "control-plane=controller-manager"},
			{"get", "events", "--sort-by", ".lastTimestamp"},
		} {
			args = append(args, "--namespace", namespace)
			output, err := utils.Run(exec.Command("kubectl", args...))
			if err != nil {
				output = err.Error()
			}
			AddReportEntry("kubectl "+strings.Join(args, " "), output)
		}
	})

	Context("Deployment", func() {
		It("should run one manager pod", func() {
			verifyPodRunning := func(g Gomega) {
				output, err := utils.Run(exec.Command("kubectl", "get", "pods", "--namespace", namespace,
					"--selector", "control-plane=controller-manager", "--field-selector", "status.phase=Running",
					"--output", "name"))
				g.Expect(err).NotTo(HaveOccurred())
				pods := utils.GetNonEmptyLines(output)
				g.Expect(pods).To(HaveLen(1), "One pod should be running")
				controllerPodName = strings.TrimPrefix(pods[0], "pod/")
			}
			Eventually(verifyPodRunning).Should(Succeed())
		})

		It("should serve metrics to authorized clients", func() {
			By("waiting for the manager to be ready")
			_, err := utils.Run(exec.Command("kubectl", "wait", "pod", controllerPodName, "--namespace", namespace,
				"--for", "condition=Ready", "--timeout", "3m"))
			Expect(err).NotTo(HaveOccurred())

			By("waiting for the endpoints of the webhook service")
			Eventually(func(g Gomega) {
				output, err := utils.Run(exec.Command("kubectl", "get", "endpointslices.discovery.k8s.io",
					"--namespace", namespace,
					"--selector", "kubernetes.io/service-name=ssa-operator-webhook-service",
					"--output", "jsonpath={.items[*].endpoints[*].addresses[*]}"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(output).NotTo(BeEmpty())
			}, "3m", "1s").Should(Succeed())
			// +kubebuilder:scaffold:e2e-metrics-webhooks-readiness

			By("forwarding a local port to the metrics service")
			url := forwardMetrics()

			By("requesting metrics without credentials")
			Eventually(func() (int, error) {
				status, _, err := getMetrics(url, "")
				return status, err
			}).Should(Equal(http.StatusUnauthorized))

			By("requesting metrics with the token of an authorized service account")
			_, err = utils.Run(exec.Command("kubectl", "create", "clusterrolebinding", metricsRoleBindingName,
				"--clusterrole", metricsReaderRoleName, "--serviceaccount", namespace+":"+serviceAccountName))
			Expect(err).NotTo(HaveOccurred())
			token, err := utils.Run(exec.Command("kubectl", "create", "token", serviceAccountName, "--namespace", namespace))
			Expect(err).NotTo(HaveOccurred())

			verifyMetrics := func(g Gomega) {
				status, body, err := getMetrics(url, strings.TrimSpace(token))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(status).To(Equal(http.StatusOK), body)
				// The metrics also count reconciliations:
				// controller_runtime_reconcile_total{controller="...",result="success"}.
				g.Expect(body).To(ContainSubstring("go_goroutines"))
			}
			Eventually(verifyMetrics).Should(Succeed())
		})

		It("should have a certificate for the webhook server", func() {
			Eventually(func(g Gomega) {
				_, err := utils.Run(exec.Command("kubectl", "get", "secret", "ssa-operator-webhook-server-cert", "--namespace", namespace))
				g.Expect(err).NotTo(HaveOccurred())
			}, "3m", "1s").Should(Succeed())
		})
		It("should have a CA in the configuration of the defaulting webhooks", func() {
			Eventually(func(g Gomega) {
				output, err := utils.Run(exec.Command("kubectl", "get",
					"mutatingwebhookconfigurations.admissionregistration.k8s.io",
					"ssa-operator-mutating-webhook-configuration",
					"--output", "jsonpath={.webhooks[*].clientConfig.caBundle}"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(output).NotTo(BeEmpty())
			}, "3m", "1s").Should(Succeed())
		})
		It("should have a CA in the configuration of the validation webhooks", func() {
			Eventually(func(g Gomega) {
				output, err := utils.Run(exec.Command("kubectl", "get",
					"validatingwebhookconfigurations.admissionregistration.k8s.io",
					"ssa-operator-validating-webhook-configuration",
					"--output", "jsonpath={.webhooks[*].clientConfig.caBundle}"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(output).NotTo(BeEmpty())
			}, "3m", "1s").Should(Succeed())
		})
		// +kubebuilder:scaffold:e2e-webhooks-checks

		It("should accept the samples", func() {
			if _, err := os.Stat(filepath.Join("..", "..", "config", "samples", "kustomization.yaml")); err != nil {
				Skip("the project has no samples")
			}
			DeferCleanup(func() {
				_, err := utils.Run(exec.Command("kubectl", "delete", "-k", "config/samples", "--namespace", namespace,
					"--ignore-not-found"))
				Expect(err).NotTo(HaveOccurred())
			})
			applySamples := func(g Gomega) {
				_, err := utils.Run(exec.Command("kubectl", "apply", "-k", "config/samples", "--namespace", namespace))
				g.Expect(err).NotTo(HaveOccurred())
			}
			Eventually(applySamples).Should(Succeed())

			// TODO: check with Eventually that the status of each sample, and the objects that it owns, are as expected.
		})
	})
})

// forwardMetrics forwards a free local port to the metrics service until the test ends, and returns the URL of the
// metrics.
func forwardMetrics() string {
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "kubectl", "port-forward", "service/"+metricsServiceName, ":8443",
		"--namespace", namespace)
	output, err := cmd.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	cmd.Stderr = GinkgoWriter
	Expect(cmd.Start()).To(Succeed())
	DeferCleanup(func() {
		cancel()
		_ = cmd.Wait()
	})

	line, err := bufio.NewReader(output).ReadString('\n')
	Expect(err).NotTo(HaveOccurred(), "kubectl port-forward stopped")
	var port int
	_, err = fmt.Sscanf(line, "Forwarding from 127.0.0.1:%d", &port)
	Expect(err).NotTo(HaveOccurred(), line)
	return fmt.Sprintf("https://127.0.0.1:%d/metrics", port)
}

// getMetrics requests the metrics, with a bearer token unless it is empty.
func getMetrics(url, token string) (status int, body string, err error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The certificate is for the name of the service, not for the local address.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}
