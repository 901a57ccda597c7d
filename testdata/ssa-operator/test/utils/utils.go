// Package utils runs the command-line tools that the end-to-end tests are made of.
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

// Run runs a command in the project's root and returns what it printed. The command and its
// output are in the test's log.
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

// GetProjectDir returns the folder of the project's go.mod, at or above the working directory.
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

// GetNonEmptyLines splits a command's output into lines and leaves out those without text.
func GetNonEmptyLines(output string) []string {
	var lines []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// LoadImageToKindClusterWithName copies an image from the local container engine into the Kind
// cluster that KIND_CLUSTER names. KIND names the kind program.
func LoadImageToKindClusterWithName(image string) error {
	kind, cluster := envOr("KIND", "kind"), envOr("KIND_CLUSTER", "kind")
	_, err := Run(exec.Command(kind, "load", "docker-image", image, "--name", cluster))
	return err
}

// IsCertManagerCRDsInstalled tells whether the cluster knows cert-manager's certificates.
func IsCertManagerCRDsInstalled() bool {
	_, err := Run(exec.Command("kubectl", "get", "crd", "certificates.cert-manager.io"))
	return err == nil
}

// InstallCertManager installs cert-manager and waits until it issues certificates.
func InstallCertManager() error {
	if _, err := Run(exec.Command("kubectl", "apply", "-f", certManagerManifest)); err != nil {
		return err
	}
	_, err := Run(exec.Command("kubectl", "wait", "deployment/cert-manager-webhook",
		"--namespace", "cert-manager", "--for", "condition=Available", "--timeout", "5m"))
	return err
}

// UninstallCertManager removes what InstallCertManager installed. It is called when the tests are
// over, so a failure is logged only.
func UninstallCertManager() {
	if _, err := Run(exec.Command("kubectl", "delete", "--ignore-not-found", "-f", certManagerManifest)); err != nil {
		logf("cert-manager is not removed completely: %v\n", err)
	}
	// cert-manager leaves its leader election behind, which delays the next installation.
	if _, err := Run(exec.Command("kubectl", "delete", "lease", "--namespace", "kube-system", "--ignore-not-found",
		"cert-manager-controller", "cert-manager-cainjector-leader-election")); err != nil {
		logf("cert-manager's leases are not removed: %v\n", err)
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
