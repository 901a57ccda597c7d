package ansiblerole

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Files are the files of a project by their paths, which are relative to its directory and separated by slashes. The content of a file
// that is larger than MaxFileSize may be nil.
type Files map[string][]byte

// Relevant reports whether a file of a project can matter here.
func Relevant(name string) bool {
	parts := strings.Split(name, "/")
	if slices.ContainsFunc(parts, func(part string) bool {
		return strings.HasPrefix(part, ".") || part == "node_modules" || part == "molecule" || part == "__pycache__"
	}) {
		return false
	}
	switch parts[0] {
	case "collections":
		return len(parts) > 6 && parts[1] == "ansible_collections" && parts[4] == "roles"
	case "config":
		return strings.HasPrefix(name, "config/crd/bases/")
	case "bin", "bundle", "docs", "hack", "testing", "tests":
		return false
	}
	return true
}

// MaxFileSize is the maximum size in bytes of a file that is analyzed.
const MaxFileSize = 1 << 20

// The private characters that enclose references in rendered templates; see reference.
const (
	referenceBegin = "\ue000"
	referenceEnd   = "\ue001"
)

// tooLarge returns the finding about a file that is too large, or nil.
func (a *analysis) tooLarge(name string) *diag.Finding {
	data, ok := a.files[name]
	if len(data) > MaxFileSize || data == nil && ok {
		return &diag.Finding{Position: diag.Position{File: name}, Problem: "the file is too large to be read; the manager's role may lack permissions that it needs"}
	}
	return nil
}

// read returns the text of a file with line feeds only. A note reports a file that is too large.
func (a *analysis) read(name string) string {
	if finding := a.tooLarge(name); finding != nil {
		a.notef(finding.Position, "%s", finding.Problem)
		return ""
	}
	data := bytes.ReplaceAll(bytes.TrimPrefix(a.files[name], []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	return strings.NewReplacer(referenceBegin, "?", referenceEnd, "?", unknown, "?").Replace(string(data))
}

// load returns the content of a YAML file with one document, or nil. Files that are not YAML are noted.
func (a *analysis) load(name string) *yaml.Node {
	if node, ok := a.loaded[name]; ok {
		return node
	}
	if finding := a.tooLarge(name); finding != nil { // read notes it in the final pass only, and files are loaded once
		a.unreadable[name], a.loaded[name] = *finding, nil
		return nil
	}
	documents, err := safeyaml.Documents[yaml.Node]([]byte(a.read(name)))
	var node *yaml.Node
	switch {
	case err != nil:
		a.unreadable[name] = diag.Finding{Position: diag.Position{File: name},
			Problem: "invalid YAML: " + strings.TrimPrefix(err.Error(), "yaml: ") + "; the manager's role may lack permissions that the file needs"}
	case len(documents) > 0:
		node = content(documents[0])
	}
	a.loaded[name] = node
	return node
}

// content returns the value of a document or alias.
func content(node *yaml.Node) *yaml.Node {
	for n := 0; node != nil && n < 10; n++ {
		switch {
		case node.Kind == yaml.DocumentNode && len(node.Content) > 0:
			node = node.Content[0]
		case node.Kind == yaml.AliasNode:
			node = node.Alias
		default:
			return node
		}
	}
	return nil
}

// list returns the paths of all files, sorted.
func (f Files) list() []string {
	paths := make([]string, 0, len(f))
	for name := range f {
		paths = append(paths, name)
	}
	slices.Sort(paths)
	return paths
}

// home is the directory of the project in the image of the operator.
const home = "/opt/ansible"

// projectPath converts a path in a task to one of the project. ok is false for a path outside of it, such as one in /tmp. The path may
// contain unknown parts.
func projectPath(name string) (string, bool) {
	name = path.Clean(name)
	if after, ok := strings.CutPrefix(name, home+"/"); ok {
		return after, true
	}
	return name, !path.IsAbs(name) && name != ".." && !strings.HasPrefix(name, "../")
}

// match returns the files that a path can refer to: the one with that name in the first of the directories that has it, or all in
// these directories that match a path with unknown parts. Directories are absolute; see home.
func (a *analysis) match(name string, dirs ...string) []string {
	if path.IsAbs(name) {
		dirs = []string{""}
	}
	var found []string
	for _, dir := range dirs {
		p, ok := projectPath(path.Join(dir, name))
		if !ok {
			continue
		}
		if !strings.Contains(p, unknown) {
			if _, ok := a.files[p]; ok {
				return []string{p}
			}
			continue
		}
		a.spend(len(a.paths) / 4)
		for _, candidate := range a.paths {
			if matches(p, candidate) && !slices.Contains(found, candidate) {
				found = append(found, candidate)
			}
		}
	}
	return found
}

// matches reports whether a text can be one with unknown parts.
func matches(pattern, text string) bool {
	parts := strings.Split(pattern, unknown)
	if len(parts) == 1 {
		return pattern == text
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
