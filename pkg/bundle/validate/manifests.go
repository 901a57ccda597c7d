package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/encoding"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// loadManifests reads the objects of the manifests directory.
func (c *content) loadManifests() {
	dir := c.manifestsDir
	entries := c.list(dir)
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() }) {
		text := "has no manifests"
		if _, err := fs.Stat(c.fsys, dir); errors.Is(err, fs.ErrNotExist) {
			text = "does not exist"
		}
		c.bad(dir, 0, "manifests-missing", text, "put the ClusterServiceVersion and the other manifests there, or set their directory in the annotation "+bundle.ManifestsLabel)
		return
	}
	c.mediaType = plainType
	if c.isChart(dir) {
		c.mediaType = helmType
		c.bad(dir, 0, "helm-chart", "is a Helm chart, and bundles without a ClusterServiceVersion are unsupported", "generate a bundle with 'operon generate bundle'")
		return
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		isDir := entry.IsDir()
		if info, err := fs.Stat(c.fsys, name); err == nil {
			isDir = info.IsDir()
		}
		switch {
		case isDir:
			c.bad(name, 0, "nested-directory", "is a directory among the manifests, which OLM does not read", "move its files up, or remove it from the bundle")
		case strings.HasPrefix(entry.Name(), "."):
			c.bad(name, 0, "hidden-file", "is a hidden file among the manifests, which OLM reads, too", "remove it from the bundle")
		default:
			c.loadFile(name)
		}
	}
	if c.api.CSV == nil && !c.failed() {
		c.bad(dir, 0, "csv-missing", "has no ClusterServiceVersion", "generate one with 'operon generate bundle'")
	}
	c.api.Size, c.api.CompressedSize = c.size, c.compressed
}

// loadFile reads the object of one manifest.
func (c *content) loadFile(name string) {
	data, ok := c.read(name)
	if !ok {
		return
	}
	c.size += int64(len(data))
	c.compressed += compressedSize(data)
	shown := c.show(name)
	if problems := manifest.Unreadable(shown, data); problems != nil {
		c.problems("not-yaml", "remove the file from the bundle: manifests are YAML or JSON", problems)
		return
	}
	if err := c.manifests.Check(data); err != nil {
		c.problems("too-complex", "remove the file from the bundle, or make it smaller: OLM stores a bundle in objects of at most 1.5 MiB", diag.Findings{manifest.Unbounded(shown, err)})
		return
	}
	docs := manifest.Split(shown, data)
	if len(docs) == 0 {
		c.bad(name, 0, "empty-file", "has no object", "remove the file from the bundle, or add the object")
		return
	}
	if bytes.HasPrefix(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("%")) {
		c.bad(name, 1, "leading-document", "starts with a YAML directive, which OLM reads as a separate document", "remove the lines up to ---")
		return
	}
	if startsEmpty(data) {
		c.bad(name, 1, "leading-document", "starts with a document without content, and OLM reads only the first document", "remove the line ---")
		return
	}
	obj, problems := docs[0].Object()
	if problems != nil {
		fix := "correct the YAML: each level must be indented by the same number of spaces"
		if errors.Is(problems[0], manifest.ErrNotKubernetes) {
			fix = "remove the file from the bundle, or write a Kubernetes object with apiVersion, kind and metadata.name"
		}
		c.problems("not-an-object", fix, problems)
		return
	}
	if _, err := schema.ParseGroupVersion(obj.APIVersion()); err != nil {
		c.findings = append(c.findings, diag.Finding{
			Position: obj.Locate("apiVersion"), Severity: diag.Error, Rule: "api-version", Object: describe(obj), Field: "apiVersion",
			Problem: fmt.Sprintf("%q is not a group and version", obj.APIVersion()), Fix: "write the API's group and version, such as v1 or apps/v1",
		})
		return
	}
	for _, doc := range docs[1:] {
		// The reader of OLM and operator-sdk reads documents after these two as a part of them.
		if _, problems := doc.Object(); problems != nil && !isMapping(doc.Data) && (obj.Kind() == csvKind || obj.Kind() == crdKind) {
			c.bad(name, doc.Line, "further-document", "is an additional document that is not a mapping; OLM reads it as part of the first one", "remove it from the file")
			continue
		}
		c.warn(doc.Position, "further-document", "is an additional document of the file, which OLM does not read", "move it to a file of its own")
	}
	c.duplicateKeys(docs[0])
	c.add(obj, path.Base(name))
}

// startsEmpty reports whether a file starts with a document of blank lines and comments. OLM reads anything before the
// first line --- as a document.
func startsEmpty(data []byte) bool {
	for i, line := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "---") && strings.TrimSpace(line[3:]) == "":
			return i > 0
		case trimmed != "" && trimmed[0] != '#':
			return false
		}
	}
	return false
}

func (c *content) add(obj manifest.Object, base string) {
	c.objects = append(c.objects, obj)
	c.api.Objects = append(c.api.Objects, &unstructured.Unstructured{Object: obj.Fields})
	switch obj.Kind() {
	case csvKind:
		if c.api.CSV != nil {
			c.findings = append(c.findings, diag.Finding{
				Position: obj.Position, Severity: diag.Error, Rule: "csv-twice", Object: describe(obj),
				Problem: fmt.Sprintf("is a second ClusterServiceVersion; the first one is in %s", c.csv.File),
				Fix:     "keep the one of this version",
			})
			return
		}
		csv := &v1alpha1.ClusterServiceVersion{}
		if err := obj.Into(csv); err != nil && !c.decodeWithoutRelease(obj, csv) {
			c.decodeError(obj, err)
		}
		if c.mediaType == plainType {
			c.mediaType = registryType
		}
		if len(csv.Spec.Icon) == 0 {
			csv.Spec.Icon = nil // a validator expects an item in every non-nil list
		}
		c.csv, c.api.CSV, c.api.Name = obj, csv, csv.Name
		c.replaceCSV(csv)
	case crdKind:
		c.crds = append(c.crds, obj)
		switch obj.APIVersion() {
		case "apiextensions.k8s.io/v1":
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if err := obj.Into(crd); err != nil {
				c.decodeError(obj, err)
			}
			c.api.V1CRDs = append(c.api.V1CRDs, crd)
		case "apiextensions.k8s.io/v1beta1":
			crd := &apiextensionsv1beta1.CustomResourceDefinition{}
			if err := obj.Into(crd); err != nil {
				c.decodeError(obj, err)
			}
			c.api.V1beta1CRDs = append(c.api.V1beta1CRDs, crd)
		default:
			c.bad(path.Join(c.manifestsDir, base), obj.Line, "crd-version", fmt.Sprintf("has the unknown apiVersion %q", obj.APIVersion()), "write apiVersion: apiextensions.k8s.io/v1")
		}
	}
}

// replaceCSV replaces the CSV among the objects by its decoded form: a validator that decodes the object again rejects
// numbers in place of strings, and prints the error to stdout.
func (c *content) replaceCSV(csv *v1alpha1.ClusterServiceVersion) {
	data, err := json.Marshal(csv)
	if err != nil {
		return
	}
	fields := map[string]any{}
	if json.Unmarshal(data, &fields) == nil {
		c.api.Objects[len(c.api.Objects)-1] = &unstructured.Unstructured{Object: fields}
	}
}

// isChart reports whether a directory is a Helm chart.
func (c *content) isChart(dir string) bool {
	name := path.Join(dir, "Chart.yaml")
	if info, err := fs.Stat(c.fsys, name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	data, err := safeyaml.ReadFile(c.fsys, name, maxFile)
	if err != nil {
		return false
	}
	var chart struct{ Name string }
	return safeyaml.Unmarshal(data, &chart) == nil && chart.Name != ""
}

// compressedSize returns the size of a file in OLM's ConfigMap: gzip, then base64.
func compressedSize(data []byte) int64 {
	packed, err := encoding.GzipBase64Encode(data)
	if err != nil {
		return int64(len(data))
	}
	return int64(len(packed))
}
