package ansiblerole

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
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

// A reader reads the files of a project, each once, and finds the files that a name in a task refers to.
type reader struct {
	*progress
	files Files
	paths []string
	// roleDirs are the directories of the project's roles.
	roleDirs []string
	// copies are the files and directories that have other paths in the image.
	copies []copied
	loaded map[string]*yaml.Node
	// unreadable are the findings about loaded files.
	unreadable map[string]diag.Finding
	// places are where nodes begin. oldPlaces are the places of the pass before, because facts can have its values.
	places, oldPlaces map[*yaml.Node]place
}

func newReader(files Files, p *progress) *reader {
	r := &reader{
		progress: p, files: files, paths: slices.Sorted(maps.Keys(files)), loaded: map[string]*yaml.Node{},
		unreadable: map[string]diag.Finding{}, places: map[*yaml.Node]place{},
	}
	r.roleDirs, r.copies = findRoles(r.paths), readCopies(files)
	return r
}

// tooLarge returns the finding about a file that is too large, or nil.
func (r *reader) tooLarge(name string) *diag.Finding {
	data, ok := r.files[name]
	if len(data) > MaxFileSize || data == nil && ok {
		return &diag.Finding{Position: diag.Position{File: name}, Problem: "the file is too large to be read; the manager's role may lack permissions that it needs"}
	}
	return nil
}

// read returns the text of a file with line feeds only. A note reports a file that is too large.
func (r *reader) read(name string) string {
	if finding := r.tooLarge(name); finding != nil {
		r.notef(finding.Position, "%s", finding.Problem)
		return ""
	}
	data := bytes.ReplaceAll(bytes.TrimPrefix(r.files[name], []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	return strings.NewReplacer(referenceBegin, "?", referenceEnd, "?", markBegin, "?", markEnd, "?", unknown, "?").Replace(string(data))
}

// load returns the content of a YAML file with one document, or nil. Files that are not YAML are noted.
func (r *reader) load(name string) *yaml.Node {
	if node, ok := r.loaded[name]; ok {
		return node
	}
	if finding := r.tooLarge(name); finding != nil { // read notes it in the final pass only, and files are loaded once
		r.unreadable[name], r.loaded[name] = *finding, nil
		return nil
	}
	documents, err := safeyaml.Documents[yaml.Node]([]byte(r.read(name)))
	var node *yaml.Node
	switch {
	case err != nil:
		r.unreadable[name] = diag.Finding{Position: diag.Position{File: name},
			Problem: "invalid YAML: " + strings.TrimPrefix(err.Error(), "yaml: ") + "; the manager's role may lack permissions that the file needs"}
	case len(documents) > 0:
		node = content(documents[0])
	}
	r.loaded[name] = node
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
func (r *reader) match(name string, dirs ...string) []string {
	if path.IsAbs(name) {
		dirs = []string{""}
	}
	var found []string
	for _, dir := range dirs {
		full := path.Join(dir, name)
		p, ok := projectPath(full)
		if _, isHere := r.files[p]; !isHere || !ok {
			if !path.IsAbs(full) {
				full = home + "/" + full
			}
			if file, isCopied := r.original(full); isCopied {
				return []string{file}
			}
		}
		if !ok {
			continue
		}
		if !strings.Contains(p, unknown) {
			if _, ok := r.files[p]; ok {
				return []string{p}
			}
			continue
		}
		r.spend(len(r.paths) / 4)
		for _, candidate := range r.paths {
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

// position returns where an object begins.
func (r *reader) position(node *yaml.Node, otherwise diag.Position) diag.Position {
	for _, places := range []map[*yaml.Node]place{r.places, r.oldPlaces} {
		if p, ok := places[node]; ok {
			return diag.Position{File: p.file, Line: p.line}
		}
	}
	return otherwise
}

// A place is where an object of a template begins.
type place struct {
	file string
	line int
}

// find returns the files that a template, file or task file with a name can be, from the place of a scope.
func (r *reader) find(kind, pattern string, s *scope) []string {
	subdir := map[string]string{"template": "templates", "file": "files", "tasks": "tasks", "vars": "vars"}[kind]
	var dirs []string
	if kind == "tasks" {
		dirs = append(dirs, s.dir)
	}
	for at := s; at != nil; at = at.parent {
		for _, dir := range []string{at.role, at.playbook} {
			if dir == "" {
				continue
			}
			for _, candidate := range []string{dir + "/" + subdir, dir} {
				if !slices.Contains(dirs, candidate) {
					dirs = append(dirs, candidate)
				}
			}
		}
	}
	if kind != "tasks" {
		dirs = append(dirs, s.dir+"/"+subdir, s.dir)
	}
	if !known(pattern) && pattern[0] == unknown[0] { // the unknown part can be a directory, but hardly another role's
		dirs = dirs[:min(1, len(dirs))]
	}
	return r.match(pattern, dirs...)
}

// text returns the text of a scalar, or "".
func text(node *yaml.Node) string {
	if node = content(node); node == nil || node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// topLevelLine is the start of a line of YAML that is neither indented nor a comment or marker.
var topLevelLine = lazyregexp.New(`(?m)^[^#\s-]`)

// mentionsSpecification reports whether a file in the metadata of a role may contain argument specifications.
func (r *reader) mentionsSpecification(name string) bool {
	const key = "argument_specs"
	switch {
	case path.Base(path.Dir(name)) != "meta":
		return false
	case strings.HasPrefix(path.Base(name), key):
		return r.files[name] == nil || topLevelLine.Match(r.files[name]) // create api writes comments only
	}
	return bytes.Contains(r.files[name], []byte(key))
}
