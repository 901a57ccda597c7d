package local

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
)

// projectManifests reads the manifests of the project at root.
type projectManifests struct {
	root string
	// config is PROJECT as it was in the beginning.
	config *project.Config
	// build builds the kustomization in a directory; nil refuses references to other machines.
	build func(dir string) ([]byte, error)
}

func (m projectManifests) name() string { return project.DefaultDir }

// servesWebhooks also looks into PROJECT, which alone names webhooks for conversion.
func (m projectManifests) servesWebhooks() bool {
	if found, err := m.webhooks(); len(found) > 0 || err != nil { // the error is reported when they are registered
		return true
	}
	config, err := project.Load(afero.NewOsFs(), m.root)
	if err != nil {
		config = m.config
	}
	return slices.ContainsFunc(config.Resources(), func(res project.Resource) bool {
		return res.Webhooks != nil && (res.Webhooks.Conversion || res.Webhooks.Defaulting || res.Webhooks.Validation)
	})
}

// readDir returns the objects of a kustomization, or of the YAML files in a directory without one.
func (m projectManifests) readDir(dir string, globs ...string) ([]*kube.Object, error) {
	full := filepath.Join(m.root, filepath.FromSlash(dir))
	if isFile(filepath.Join(full, "kustomization.yaml")) {
		build := m.build
		if build == nil {
			build = func(dir string) ([]byte, error) { return manifest.Build(m.root, dir) }
		}
		data, err := build(filepath.FromSlash(dir))
		if err != nil {
			return nil, err
		}
		objects, err := kube.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", dir, err)
		}
		return objects, nil
	}
	var names []string
	for _, glob := range globs {
		files, _ := filepath.Glob(filepath.Join(full, filepath.FromSlash(glob)))
		sort.Strings(files)
		for _, file := range files {
			names = append(names, path.Join(dir, path.Dir(glob), filepath.Base(file)))
		}
	}
	return kube.DecodeFiles(names, func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(m.root, filepath.FromSlash(name))) })
}

func (m projectManifests) crds() ([]*kube.Object, error) {
	objects, err := m.readDir(project.CRDDir, "bases/*.yaml", "bases/*.yml")
	return ofKinds(objects, kube.CRDKind), err
}

func (m projectManifests) deployed() ([]*kube.Object, error) {
	if !isFile(filepath.Join(m.root, filepath.FromSlash(project.DefaultKustomization))) {
		return nil, nil
	}
	return m.readDir(project.DefaultDir)
}

func (m projectManifests) webhooks() ([]*kube.Object, error) {
	return m.readFile(project.WebhookManifests)
}

func (m projectManifests) manager() ([]*kube.Object, error) { return m.readFile(project.ManagerFile) }

// readFile returns the objects of a file, which may be missing.
func (m projectManifests) readFile(name string) ([]*kube.Object, error) {
	data, err := os.ReadFile(filepath.Join(m.root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var objects []*kube.Object
	if err == nil {
		objects, err = kube.Decode(data)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	}
	return objects, nil
}

func (m projectManifests) samples() ([]*kube.Object, error) {
	objects, err := m.readDir(project.SamplesDir, "*.yaml", "*.yml")
	return withSpecs(objects), err
}

func (m projectManifests) webhookPort() (int, error) {
	pkg, err := MainPackage(m.root)
	if err != nil {
		return 0, err
	}
	return webhookPort(m.root, pkg), nil
}

// endpoint is the endpoint of the manager's webhooks.
type endpoint struct {
	port int
	ca   []byte
}

// converted makes definitions convert objects with the webhook at e, or not at all if e is nil.
func converted(definitions []*kube.Object, e *endpoint) []*kube.Object {
	for _, o := range definitions {
		if kube.ValueAt(o.Object, "spec", "conversion", "strategy") == "Webhook" {
			conversion := map[string]any{"strategy": "None"}
			if e != nil {
				versions := kube.ValueAt(o.Object, "spec", "conversion", "webhook", "conversionReviewVersions")
				conversion = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
					"conversionReviewVersions": versions, "clientConfig": e.clientConfig("/convert"),
				}}
			}
			o.Object["spec"].(map[string]any)["conversion"] = conversion
		}
	}
	return definitions
}

// clientConfig returns the configuration of a webhook at a path of the manager.
func (e *endpoint) clientConfig(path string) map[string]any {
	return map[string]any{
		"url":      fmt.Sprintf("https://127.0.0.1:%d%s", e.port, path),
		"caBundle": base64.StdEncoding.EncodeToString(e.ca),
	}
}

// configured makes configurations of webhooks call the manager at e. Their names get a prefix, so that they replace no others.
func configured(configurations []*kube.Object, prefix string, e *endpoint) []*kube.Object {
	for _, o := range configurations {
		o.SetName(prefix + o.GetName())
		for _, item := range kube.ListAt(o.Object, "webhooks") {
			webhook, ok := item.(map[string]any)
			if !ok {
				continue
			}
			path := kube.StringAt(webhook, "clientConfig", "service", "path")
			webhook["clientConfig"] = e.clientConfig(path)
		}
	}
	return configurations
}

// withSpecs replaces a "spec:" without a value, as scaffolded by peers, by an empty object, since API servers reject null.
func withSpecs(objects []*kube.Object) []*kube.Object {
	for _, o := range objects {
		if spec, ok := o.Object["spec"]; ok && spec == nil {
			o.Object["spec"] = map[string]any{}
		}
	}
	return objects
}
