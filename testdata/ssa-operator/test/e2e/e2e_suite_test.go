//go:build e2e

// Package e2e tests ssa-operator on a Kind cluster of its own.
package e2e

import (
	"os"
	"os/exec"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.com/ssa-operator/test/utils"
)

// managerImage is built from the working tree and loaded into the cluster; no registry is involved.
const managerImage = "example.com/ssa-operator:v0.0.1"

// TestE2E runs the suite against the current kubectl context, which make test-e2e points to a
// Kind cluster. CERT_MANAGER_INSTALL_SKIP=true leaves cert-manager alone, and KUBECTL_KUBERC=true
// applies your kubectl preferences, which could change what the commands print.
func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "ssa-operator e2e suite")
}

// removeCertManager tells that this suite installed cert-manager and has to take it away.
var removeCertManager bool

var _ = BeforeSuite(func() {
	if os.Getenv("KUBECTL_KUBERC") != "true" {
		Expect(os.Setenv("KUBECTL_KUBERC", "false")).To(Succeed())
	}

	By("building the manager's image")
	_, err := utils.Run(exec.Command("make", "docker-build", "IMG="+managerImage))
	Expect(err).NotTo(HaveOccurred(), "The image could not be built")

	By("loading the image into the Kind cluster")
	Expect(utils.LoadImageToKindClusterWithName(managerImage)).To(Succeed(), "The image could not be loaded")

	if os.Getenv("CERT_MANAGER_INSTALL_SKIP") == "true" || utils.IsCertManagerCRDsInstalled() {
		return
	}
	By("installing cert-manager")
	// Set before the installation, so that half of one is removed as well.
	removeCertManager = true
	Expect(utils.InstallCertManager()).To(Succeed(), "cert-manager could not be installed")
})

var _ = AfterSuite(func() {
	if removeCertManager {
		By("removing cert-manager")
		utils.UninstallCertManager()
	}
})
