package refactor

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// listFiles lists the project's files, except released bundles and catalogs: what clusters have installed
// under the old names does not change.
func (x *renamer) listFiles() ([]string, error) {
	names, err := x.tree.Walk(".", x.skipDir)
	if err != nil {
		return nil, err
	}
	if x.released == nil {
		x.released = x.findReleased(names)
	}
	return slices.DeleteFunc(names, func(name string) bool { return x.released[name] != "" }), nil
}

// findReleased returns the files of released bundles, package manifests and catalogs, each with the path to list for
// it: the path of the bundle's or package's directory, or of the catalog file.
func (x *renamer) findReleased(names []string) map[string]string {
	var dirs []string
	for _, name := range names {
		switch dir, base := path.Split(name); {
		case strings.HasSuffix(dir, "/metadata/") && base == "annotations.yaml":
			dirs = append(dirs, path.Dir(path.Dir(name)))
		case strings.HasSuffix(base, ".package.yaml"):
			dirs = append(dirs, path.Dir(name))
		}
	}
	released := map[string]string{}
	for _, name := range names {
		if i := slices.IndexFunc(dirs, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }); i >= 0 {
			released[name] = dirs[i]
		} else if x.isCatalog(name) {
			released[name] = name
		}
	}
	return released
}

// isCatalog reports whether a file holds a part of a file-based catalog, or a template of one.
func (x *renamer) isCatalog(name string) bool {
	if !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
		return false
	}
	data, err := x.tree.ReadFile(name)
	if err != nil || !bytes.Contains(data, []byte("olm.")) {
		return false
	}
	docs, err := safeyaml.Documents[yaml.Node](data)
	return err == nil && slices.ContainsFunc(docs, func(doc *yaml.Node) bool {
		if len(doc.Content) != 1 {
			return false
		}
		schema := safeyaml.Child(doc.Content[0], "schema")
		return schema != nil && strings.HasPrefix(schema.Value, "olm.")
	})
}
