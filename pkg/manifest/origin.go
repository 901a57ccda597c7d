package manifest

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// AtOrigins returns the objects that a kustomization was built to, with the positions of the manifests that they come from. Objects
// keep their positions in the output if they are generated, or if several manifests could be their origin. read reads the files of the
// kustomization in dir, by slash-separated name.
func AtOrigins(objects []Object, dir string, read func(name string) ([]byte, error)) []Object {
	o := origins{read: read, found: map[string][]Document{}, visited: map[string]bool{}}
	o.visit(dir, "", "")
	objects = slices.Clone(objects)
	for i, object := range objects {
		if from := o.found[originKey(object.APIVersion(), object.Kind(), object.Name())]; len(from) == 1 {
			objects[i].Position, objects[i].source = from[0].Position, from[0].Data
		}
	}
	return objects
}

// origins are the manifests of a kustomization by the names that their objects get.
type origins struct {
	read    func(name string) ([]byte, error)
	found   map[string][]Document
	visited map[string]bool
}

// visit finds the manifests of a kustomization and of those that it lists. It reads a kustomization that is listed twice only once.
func (o *origins) visit(dir, prefix, suffix string) {
	if o.visited[dir] {
		return
	}
	o.visited[dir] = true
	var content []byte
	for _, name := range KustomizationFiles() {
		if data, err := o.read(path.Join(dir, name)); err == nil {
			content = data
			break
		}
	}
	var k struct{ NamePrefix, NameSuffix string }
	if content == nil || safeyaml.UnmarshalJSON(content, &k) != nil {
		return
	}
	prefix, suffix = prefix+k.NamePrefix, k.NameSuffix+suffix
	for _, entry := range Listed(content) {
		name := path.Join(dir, entry)
		data, err := o.read(name)
		if err != nil {
			o.visit(name, prefix, suffix) // a directory
			continue
		}
		for _, doc := range Split(name, data) {
			apiVersion, kind, object := header(doc.Data)
			key := originKey(apiVersion, kind, prefix+object+suffix)
			if isUnprefixed(kind) {
				key = originKey(apiVersion, kind, object)
			}
			o.found[key] = append(o.found[key], doc)
		}
	}
}

// headerLine matches the lines of a manifest in block style that identify its object. CRDs can be large, so manifests aren't parsed.
var headerLine = lazyregexp.New(`(?m)^(apiVersion|kind|metadata|  name):[ \t]*(\S*)`)

// header returns what identifies the object of a manifest, or empty strings.
func header(data []byte) (apiVersion, kind, name string) {
	inMetadata := false
	for _, match := range headerLine.FindAllSubmatch(data, -1) {
		value := strings.Trim(string(match[2]), `"'`)
		switch string(match[1]) {
		case "apiVersion":
			apiVersion = value
		case "kind":
			kind = value
		case "metadata":
			inMetadata = true
			continue
		case "  name":
			if inMetadata {
				name = value
			}
		}
		inMetadata = false
	}
	return apiVersion, kind, name
}

// isUnprefixed reports whether kustomize keeps the names of a kind when it adds prefixes and suffixes.
func isUnprefixed(kind string) bool {
	return kind == "CustomResourceDefinition" || kind == "APIService" || kind == "Namespace"
}

// originKey identifies an object. kustomize names a Namespace after the namespace of the kustomization.
func originKey(apiVersion, kind, name string) string {
	if kind == "Namespace" {
		name = ""
	}
	return apiVersion + "\n" + kind + "\n" + name
}

// inMappings returns the steps of a path before the first index of a list: patches can add items.
func inMappings(steps []string) []string {
	if i := slices.IndexFunc(steps, func(step string) bool { _, err := strconv.Atoi(step); return err == nil }); i >= 0 {
		return steps[:i]
	}
	return steps
}
