package local

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
)

// defaultWebhookPort is controller-runtime's default.
const defaultWebhookPort = 9443

// MainPackage returns the manager's package for go build, relative to the project's root: the one with cmd/main.go in go/v4, main.go in
// go/v3, or cmd/manager/main.go in older layouts.
func MainPackage(root string) (string, error) {
	for _, p := range []struct{ file, pkg string }{
		{project.MainFile, "./cmd"}, {project.OldMainFile, "."}, {"cmd/manager/main.go", "./cmd/manager"},
	} {
		if isFile(filepath.Join(root, filepath.FromSlash(p.file))) {
			return p.pkg, nil
		}
	}
	return "", fmt.Errorf("the project has no manager: cmd/main.go and main.go not found")
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// webhookPort returns the port of the manager's webhook server from its source: the port in the server's options, or the default of the
// flag webhook-port, which older scaffolds don't have.
func webhookPort(root, mainPackage string) int {
	files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(mainPackage), "*.go"))
	pattern := regexp.MustCompile(`(?:\bPort:|"webhook-port",)\s*(\d+)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the build reports it
		}
		if m := pattern.FindSubmatch(text); m != nil {
			if port, err := strconv.Atoi(string(m[1])); err == nil && port > 0 {
				return port
			}
		}
	}
	return defaultWebhookPort
}

// ofMachine reports whether a variable of the manager's pod is set by the machine that the manager runs on: it names programs and
// directories, which are others than in the pod. Ansible executes modules from its temporary directory, for example.
func ofMachine(name, value string) bool {
	switch name {
	case manifest.IssuerSecretVar: // the manager gets a certificate for this machine
		return true
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "KUBECONFIG":
		return true
	}
	for _, prefix := range []string{"XDG_", "LD_", "DYLD_", "PYTHON", "GIT_", "SSH_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return strings.HasPrefix(name, "ANSIBLE_") && strings.ContainsAny(value, `/\~`)
}

// managerEnv returns the environment variables of the manager in its manifests that have a value outside of a pod and are not of the
// machine. namespace is the manager's.
func managerEnv(objects []*kube.Object, namespace string) (env []string) {
	manager := stage.ManagerOf(objects)
	if manager == nil {
		return nil
	}
	for _, entry := range kube.ListAt(managerContainer(manager), "env") {
		variable := kube.ValueAt(entry, "name")
		if value, ok := kube.ValueAt(entry, "value").(string); ok && ofMachine(fmt.Sprint(variable), value) {
			continue
		} else if ok {
			env = append(env, fmt.Sprintf("%s=%s", variable, value))
		} else if kube.ValueAt(entry, "valueFrom", "fieldRef", "fieldPath") == "metadata.namespace" {
			env = append(env, fmt.Sprintf("%s=%s", variable, namespace))
		}
	}
	return env
}

// managerContainer returns the container named manager, or the first one.
func managerContainer(deployment *kube.Object) any {
	containers := kube.ListAt(deployment.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		if kube.ValueAt(c, "name") == "manager" {
			return c
		}
	}
	if len(containers) == 0 {
		return nil
	}
	return containers[0]
}
