package local

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/operon-sdk/operon/pkg/kube"
)

// defaultWebhookPort is controller-runtime's.
const defaultWebhookPort = 9443

// webhookManifests is where code generation writes webhook configurations.
const webhookManifests = "config/webhook/manifests.yaml"

// MainPackage is the package of the manager, as go build takes it, at a project's root. Layouts
// differ: cmd/main.go today, main.go in go/v3, cmd/manager/main.go before that.
func MainPackage(root string) (string, error) {
	for _, p := range []struct{ file, pkg string }{
		{"cmd/main.go", "./cmd"}, {"main.go", "."}, {"cmd/manager/main.go", "./cmd/manager"},
	} {
		if isFile(filepath.Join(root, filepath.FromSlash(p.file))) {
			return p.pkg, nil
		}
	}
	return "", fmt.Errorf("the project has no manager: neither cmd/main.go nor main.go is there")
}

// HasWebhooks tells whether a project has webhook configurations.
func HasWebhooks(root string) bool {
	return isFile(filepath.Join(root, filepath.FromSlash(webhookManifests)))
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// webhookPort reads the port of the manager's webhook server off its source: the scaffolds have no
// flag for it, and few projects change the default.
func webhookPort(root, mainPackage string) int {
	files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(mainPackage), "*.go"))
	pattern := regexp.MustCompile(`\bPort:\s*(\d+)`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the build says so
		}
		if m := pattern.FindSubmatch(text); m != nil {
			if port, err := strconv.Atoi(string(m[1])); err == nil && port > 0 {
				return port
			}
		}
	}
	return defaultWebhookPort
}

// managerEnv are the variables that config/manager gives the manager, as far as they have a value
// outside of a pod.
func managerEnv(root, namespace string) ([]string, error) {
	const name = "config/manager/manager.yaml"
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		return nil, nil
	}
	var objects []*kube.Object
	if err == nil {
		objects, err = kube.Decode(data)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, pathless(err))
	}
	var env []string
	for _, o := range objects {
		if o.GetKind() != "Deployment" {
			continue
		}
		for _, entry := range list(dig(managerContainer(o), "env")) {
			variable := dig(entry, "name")
			if value, ok := dig(entry, "value").(string); ok {
				env = append(env, fmt.Sprintf("%s=%s", variable, value))
			} else if dig(entry, "valueFrom", "fieldRef", "fieldPath") == "metadata.namespace" {
				env = append(env, fmt.Sprintf("%s=%s", variable, namespace))
			}
		}
	}
	return env, nil
}

// managerContainer is the container called manager, or else the first.
func managerContainer(deployment *kube.Object) any {
	containers := list(dig(deployment.Object, "spec", "template", "spec", "containers"))
	for _, c := range containers {
		if dig(c, "name") == "manager" {
			return c
		}
	}
	if len(containers) == 0 {
		return nil
	}
	return containers[0]
}

// dig follows keys into nested objects; what is not there is nil.
func dig(value any, keys ...string) any {
	for _, key := range keys {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[key]
	}
	return value
}

func list(value any) []any {
	items, _ := value.([]any)
	return items
}
