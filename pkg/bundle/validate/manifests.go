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
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// loadManifests reads the objects of the manifests' directory.
func (c *content) loadManifests() {
	dir := c.manifestsDir
	entries := c.list(dir)
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() }) {
		text := "holds no manifests"
		if _, err := fs.Stat(c.fsys, dir); errors.Is(err, fs.ErrNotExist) {
			text = "does not exist"
		}
		c.bad(dir, 0, "manifests-missing", text, "put the ClusterServiceVersion and the other manifests there, or name their directory in the annotation "+bundle.ManifestsLabel)
		return
	}
	c.mediaType = plainType
	if c.isChart(dir) {
		c.mediaType = helmType
		c.bad(dir, 0, "helm-chart", "is a Helm chart, and a bundle of a chart alone is not supported", "make a bundle with a ClusterServiceVersion with 'operon generate bundle'")
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
			c.bad(name, 0, "nested-directory", "is a directory among the manifests, and OLM reads none", "move its files up, or take it out of the bundle")
		case strings.HasPrefix(entry.Name(), "."):
			c.bad(name, 0, "hidden-file", "is a hidden file among the manifests, and OLM reads all of them", "take it out of the bundle")
		default:
			c.loadFile(name)
		}
	}
	if c.api.CSV == nil && !c.failed() {
		c.bad(dir, 0, "csv-missing", "holds no ClusterServiceVersion", "make one with 'operon generate bundle'")
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
		c.problems("not-yaml", "take the file out of the bundle: manifests are YAML or JSON", problems)
		return
	}
	if err := c.manifests.Check(data); err != nil {
		c.problems("too-complex", "take the file out of the bundle, or make it smaller: OLM stores a bundle in objects of at most 1.5 MiB", manifest.Problems{manifest.Unbounded(shown, err)})
		return
	}
	docs := manifest.Split(shown, data)
	if len(docs) == 0 {
		c.bad(name, 0, "empty-file", "holds no object", "take the file out of the bundle, or write the object")
		return
	}
	if bytes.HasPrefix(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("%")) {
		c.bad(name, 1, "leading-document", "begins with a directive of YAML, which OLM takes for a document of its own", "take the lines up to --- out")
		return
	}
	if startsEmpty(data) {
		c.bad(name, 1, "leading-document", "begins with a document that is empty but for comments, and OLM reads the first one only", "take the line --- out")
		return
	}
	obj, problems := docs[0].Object()
	if problems != nil {
		fix := "correct the YAML: each level is indented by the same number of blanks"
		if errors.Is(problems[0], manifest.ErrNotKubernetes) {
			fix = "take the file out of the bundle, or write a Kubernetes object with apiVersion, kind and metadata.name"
		}
		c.problems("not-an-object", fix, problems)
		return
	}
	if _, err := schema.ParseGroupVersion(obj.APIVersion()); err != nil {
		c.findings = append(c.findings, Finding{
			Position: obj.Locate("apiVersion"), Level: Error, Rule: "api-version", Object: describe(obj), Field: "apiVersion",
			Text: fmt.Sprintf("%q is no group and version", obj.APIVersion()), Fix: "write the API's group and version, such as v1 or apps/v1",
		})
		return
	}
	for _, doc := range docs[1:] {
		// The reader that OLM shares with operator-sdk takes what follows these two for a part of them.
		if _, problems := doc.Object(); problems != nil && !isMapping(doc.Data) && (obj.Kind() == csvKind || obj.Kind() == crdKind) {
			c.bad(name, doc.Line, "further-document", "is a further document of the file, and no mapping: OLM reads it together with the first one", "take it out of the file")
			continue
		}
		c.warn(doc.Position, "further-document", "is a further document of the file, which OLM does not read", "write it into a file of its own")
	}
	c.duplicateKeys(docs[0])
	c.add(obj, path.Base(name))
}

// startsEmpty tells whether a file begins with a document of blank lines and comments alone, which is
// what OLM's reader makes of anything before the first line ---.
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

// add puts an object in its place.
func (c *content) add(obj manifest.Object, base string) {
	c.objects = append(c.objects, obj)
	c.api.Objects = append(c.api.Objects, &unstructured.Unstructured{Object: obj.Fields})
	switch obj.Kind() {
	case csvKind:
		if c.api.CSV != nil {
			c.findings = append(c.findings, Finding{
				Position: obj.Position, Level: Error, Rule: "csv-twice", Object: describe(obj),
				Text: fmt.Sprintf("is a second ClusterServiceVersion; the first one is in %s", c.csv.File),
				Fix:  "keep the one that this version of the bundle is about",
			})
			return
		}
		csv := &v1alpha1.ClusterServiceVersion{}
		if err := obj.Into(csv); err != nil && !c.withoutRelease(obj, csv) {
			c.decodeError(obj, err)
		}
		if c.mediaType == plainType {
			c.mediaType = registryType
		}
		if len(csv.Spec.Icon) == 0 {
			csv.Spec.Icon = nil // a validator takes a list that is there for one that has an item
		}
		c.csv, c.api.CSV, c.api.Name = obj, csv, csv.Name
		c.asRead(csv)
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

// asRead puts the CSV among the objects as its type has read it: a validator that reads the object again
// takes no number for a text, and would say so on the standard output.
func (c *content) asRead(csv *v1alpha1.ClusterServiceVersion) {
	data, err := json.Marshal(csv)
	if err != nil {
		return
	}
	fields := map[string]any{}
	if json.Unmarshal(data, &fields) == nil {
		c.api.Objects[len(c.api.Objects)-1] = &unstructured.Unstructured{Object: fields}
	}
}

// isChart tells whether a directory is a Helm chart.
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

// compressedSize is how much of OLM's ConfigMap a file takes: gzip, then base64.
func compressedSize(data []byte) int64 {
	packed, err := encoding.GzipBase64Encode(data)
	if err != nil {
		return int64(len(data))
	}
	return int64(len(packed))
}
