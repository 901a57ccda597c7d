//go:build e2e

/*
Copyright Example.

Licensed under the MIT License; see the LICENSE file of this project.

SPDX-License-Identifier: MIT
*/

// Package e2e tests minimal-operator on a Kind cluster of its own.
package e2e

import (
	"os"
	"os/exec"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"example.org/minimal-operator/test/utils"
)

// managerImage is built from the working tree and loaded into the cluster without a registry.
const managerImage = "example.com/minimal-operator:v0.0.1"

// TestE2E runs the suite against the current kubectl context, which make test-e2e sets to a Kind cluster.
// CERT_MANAGER_INSTALL_SKIP=true does not install cert-manager. KUBECTL_KUBERC=true applies the user's kubectl
// preferences, which may change the output of commands.
func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "minimal-operator e2e suite")
}

// removeCertManager reports whether this suite has installed cert-manager and must remove it.
var removeCertManager bool

var _ = BeforeSuite(func() {
	if os.Getenv("KUBECTL_KUBERC") != "true" {
		Expect(os.Setenv("KUBECTL_KUBERC", "false")).To(Succeed())
	}

	By("building the image of the manager")
	_, err := utils.Run(exec.Command("make", "docker-build", "IMG="+managerImage))
	Expect(err).NotTo(HaveOccurred(), "Failed to build the image")

	By("loading the image into the Kind cluster")
	Expect(utils.LoadImageToKindClusterWithName(managerImage)).To(Succeed(), "Failed to load the image")

	if os.Getenv("CERT_MANAGER_INSTALL_SKIP") == "true" || utils.IsCertManagerCRDsInstalled() {
		return
	}
	By("installing cert-manager")
	// Set this first, so that a partial installation is removed too.
	removeCertManager = true
	Expect(utils.InstallCertManager()).To(Succeed(), "Failed to install cert-manager")
})

var _ = AfterSuite(func() {
	if removeCertManager {
		By("removing cert-manager")
		utils.UninstallCertManager()
	}
})
