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

// Package utils runs the commands of the end-to-end tests.
package utils

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2"
)

const (
	certManagerVersion  = "v1.20.2"
	certManagerManifest = "https://github.com/cert-manager/cert-manager/releases/download/" +
		certManagerVersion + "/cert-manager.yaml"
)

// Run runs a command in the root of the project, logs it, and returns its output.
func Run(cmd *exec.Cmd) (string, error) {
	root, err := GetProjectDir()
	if err != nil {
		return "", err
	}
	cmd.Dir = root
	line := strings.Join(cmd.Args, " ")
	logf("$ %s\n", line)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("%s: %w\n%s", line, err, output)
	}
	return string(output), nil
}

// GetProjectDir returns the root of the project: the working directory or its nearest parent with a go.mod.
func GetProjectDir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the project's root: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("finding the project's root: no go.mod at or above the working directory")
		}
		dir = parent
	}
}

// GetNonEmptyLines returns the lines of a command's output that are not blank.
func GetNonEmptyLines(output string) []string {
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// LoadImageToKindClusterWithName loads an image from the local container engine into the Kind cluster KIND_CLUSTER.
// KIND is the name of the kind program.
func LoadImageToKindClusterWithName(image string) error {
	kind, cluster := envOr("KIND", "kind"), envOr("KIND_CLUSTER", "kind")
	_, err := Run(exec.Command(kind, "load", "docker-image", image, "--name", cluster))
	return err
}

// IsCertManagerCRDsInstalled reports whether the cluster has the CRDs of cert-manager.
func IsCertManagerCRDsInstalled() bool {
	_, err := Run(exec.Command("kubectl", "get", "crd", "certificates.cert-manager.io"))
	return err == nil
}

// InstallCertManager installs cert-manager and waits until it is available.
func InstallCertManager() error {
	if _, err := Run(exec.Command("kubectl", "apply", "-f", certManagerManifest)); err != nil {
		return err
	}
	_, err := Run(exec.Command("kubectl", "wait", "deployment/cert-manager-webhook",
		"--namespace", "cert-manager", "--for", "condition=Available", "--timeout", "5m"))
	return err
}

// UninstallCertManager removes cert-manager. It only logs errors, as it runs after the tests.
func UninstallCertManager() {
	if _, err := Run(exec.Command("kubectl", "delete", "--ignore-not-found", "-f", certManagerManifest)); err != nil {
		logf("Failed to remove cert-manager: %v\n", err)
	}
	// The leases of cert-manager's leader election remain and would delay the next installation.
	if _, err := Run(exec.Command("kubectl", "delete", "lease", "--namespace", "kube-system", "--ignore-not-found",
		"cert-manager-controller", "cert-manager-cainjector-leader-election")); err != nil {
		logf("Failed to remove the leases of cert-manager: %v\n", err)
	}
}

func envOr(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

func logf(format string, args ...any) {
	_, _ = fmt.Fprintf(ginkgo.GinkgoWriter, format, args...)
}
