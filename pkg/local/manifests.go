package local

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// readFolder gives the objects of a kustomization, or of the YAML files in a folder without one.
func readFolder(root, folder string, globs ...string) ([]*kube.Object, error) {
	full := filepath.Join(root, filepath.FromSlash(folder))
	if isFile(filepath.Join(full, "kustomization.yaml")) {
		data, err := manifest.Build(root, filepath.FromSlash(folder))
		if err != nil {
			return nil, err
		}
		objects, err := kube.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", folder, err)
		}
		return objects, nil
	}
	var objects []*kube.Object
	for _, glob := range globs {
		files, _ := filepath.Glob(filepath.Join(full, filepath.FromSlash(glob)))
		sort.Strings(files)
		for _, file := range files {
			name := path.Join(folder, path.Dir(glob), filepath.Base(file))
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, pathless(err))
			}
			more, err := kube.Decode(data)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, err)
			}
			objects = append(objects, more...)
		}
	}
	return objects, nil
}

// pathless is an error of the file system without the path in it.
func pathless(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// endpoint is where an API server reaches the manager's webhooks.
type endpoint struct {
	port int
	ca   []byte
}

// crds are the project's custom resource definitions. Conversion goes to the webhook at e, or, where
// e is nil, leaves objects as they are.
func crds(root string, e *endpoint) ([]*kube.Object, error) {
	objects, err := readFolder(root, "config/crd", "bases/*.yaml", "bases/*.yml")
	if err != nil {
		return nil, err
	}
	var definitions []*kube.Object
	for _, o := range objects {
		if o.GetKind() != "CustomResourceDefinition" {
			continue
		}
		if dig(o.Object, "spec", "conversion", "strategy") == "Webhook" {
			conversion := map[string]any{"strategy": "None"}
			if e != nil {
				versions := dig(o.Object, "spec", "conversion", "webhook", "conversionReviewVersions")
				conversion = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
					"conversionReviewVersions": versions, "clientConfig": e.clientConfig("/convert"),
				}}
			}
			o.Object["spec"].(map[string]any)["conversion"] = conversion
		}
		definitions = append(definitions, o)
	}
	return definitions, nil
}

// clientConfig tells an API server to call a path of the manager on this machine.
func (e *endpoint) clientConfig(path string) map[string]any {
	return map[string]any{
		"url":      fmt.Sprintf("https://127.0.0.1:%d%s", e.port, path),
		"caBundle": base64.StdEncoding.EncodeToString(e.ca),
	}
}

// webhooks are the project's webhook configurations, pointed at e. Their names start with the
// project's, so that they replace no others.
func webhooks(root, project string, e *endpoint) ([]*kube.Object, error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(webhookManifests)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var objects []*kube.Object
	if err == nil {
		objects, err = kube.Decode(data)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", webhookManifests, pathless(err))
	}
	for _, o := range objects {
		o.SetName(project + "-run-local-" + o.GetName())
		for _, item := range list(o.Object["webhooks"]) {
			webhook, ok := item.(map[string]any)
			if !ok {
				continue
			}
			path, _ := dig(webhook, "clientConfig", "service", "path").(string)
			webhook["clientConfig"] = e.clientConfig(path)
		}
	}
	return objects, nil
}

// samples are the objects of config/samples. A bare "spec:", as peers scaffold it, is an empty one: its null
// would be refused.
func samples(root string) ([]*kube.Object, error) {
	objects, err := readFolder(root, "config/samples", "*.yaml", "*.yml")
	for _, o := range objects {
		if spec, ok := o.Object["spec"]; ok && spec == nil {
			o.Object["spec"] = map[string]any{}
		}
	}
	return objects, err
}
