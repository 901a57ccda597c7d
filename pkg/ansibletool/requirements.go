package ansibletool

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// RequirementsFile is the file of a project that lists the collections it uses.
const RequirementsFile = "requirements.yml"

// A Requirement is a collection in a requirements file.
type Requirement struct {
	// Name is NAMESPACE.NAME, or empty if the source of the collection is a URL, an archive or a directory.
	Name string
	// Version is the range of versions as in the file: "3.2.0", ">=2.0,<4"; empty or "*" is any.
	Version string
	// Source is the URL, the archive or the directory of a collection without Name.
	Source string
	// Type is the type of the source as in the file, such as git or dir; it may be empty.
	Type string
	// Position is the place of the entry in the file.
	Position diag.Position
}

var collectionName = lazyregexp.New(`^[a-zA-Z_]\w*\.[a-zA-Z_]\w*$`)

// maxSource limits the size of a file that is read.
const maxSource = 1 << 20

// ReadRequirements returns the collections that the requirements file of a project lists; none if it has no such file.
func ReadRequirements(project fs.FS) ([]Requirement, error) {
	data, err := safeyaml.ReadFile(project, RequirementsFile, maxSource)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", RequirementsFile, diag.Cause(err))
	}
	return Requirements(RequirementsFile, data)
}

// Requirements returns the collections that a requirements file lists. file is its name in positions.
func Requirements(file string, data []byte) ([]Requirement, error) {
	var document yaml.Node
	if err := safeyaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	root := document.Content[0]
	if root.Kind == yaml.SequenceNode {
		return nil, nil // the old format, which lists roles only
	}
	list := safeyaml.Child(root, "collections")
	if list == nil || list.Kind == yaml.ScalarNode && list.Tag == "!!null" {
		return nil, nil
	}
	at := func(node *yaml.Node) diag.Position {
		return diag.Position{File: file, Line: node.Line, Column: node.Column}
	}
	if list.Kind != yaml.SequenceNode {
		return nil, diag.Finding{Position: at(list), Problem: "collections must be a list"}
	}
	var requirements []Requirement
	for _, entry := range list.Content {
		entry = safeyaml.Resolve(entry)
		r := Requirement{Position: at(entry)}
		if entry.Kind == yaml.ScalarNode {
			if r.Name, r.Version, _ = strings.Cut(entry.Value, ":"); !collectionName.MatchString(r.Name) {
				r.Name, r.Version = entry.Value, ""
			}
		} else {
			r.Name, r.Version = safeyaml.ChildText(entry, "name"), safeyaml.ChildText(entry, "version")
		}
		if r.Version == "*" {
			r.Version = ""
		}
		r.Type = safeyaml.ChildText(entry, "type")
		if !collectionName.MatchString(r.Name) {
			r.Name, r.Source = "", r.Name
		}
		requirements = append(requirements, r)
	}
	return requirements, nil
}

var (
	exactVersion = lazyregexp.New(`^(==)?\d+\.\d+\.\d+[-+.0-9A-Za-z]*$`)
	commit       = lazyregexp.New(`^[0-9a-f]{40}$`)
)

// isExact reports whether the entry names one version, which is always the same.
func (r Requirement) isExact() bool {
	if r.Name != "" && (r.Type == "" || r.Type == "galaxy") {
		return exactVersion.MatchString(r.Version)
	}
	return r.Type == "git" && commit.MatchString(r.Version)
}

// CheckCollections returns the required collections that are not installed, that are installed in another version, or in one that
// doesn't work with this machine's Ansible. It doesn't advise to install what wouldn't work.
func (m *Machine) CheckCollections(required []Requirement) (missing, other diag.Findings) {
	for _, r := range required {
		installed, ok := m.Collections[r.Name]
		fix := "run 'ansible-galaxy collection install -r " + r.Position.File + "'"
		version := r.oldest()
		isOther := ok && !inRange(installed, r.Version)
		if ok && !isOther {
			version = installed
		}
		problem, otherFix := m.incompatible(r.Name, version)
		if problem != "" {
			problem, fix = "; "+version+" "+problem, otherFix
		}
		switch {
		case r.Name == "":
		case !ok:
			missing = append(missing, diag.Finding{Position: r.Position, Problem: "collection " + r.Name + " is not installed" + problem, Fix: fix})
		case isOther:
			other = append(other, diag.Finding{Position: r.Position, Fix: fix, Problem: fmt.Sprintf("collection %s %s is installed, but %s is required%s", r.Name, installed, r.Version, problem)})
		case problem != "":
			other = append(other, diag.Finding{Position: r.Position, Fix: fix, Problem: fmt.Sprintf("collection %s is installed%s", r.Name, problem)})
		}
	}
	return missing, other
}

var rangePart = lazyregexp.New(`^(==|!=|>=|<=|>|<|)\s*(\d.*)$`)

// inRange reports whether a version is in a range of a requirements file. It accepts parts of the range that it does not support.
func inRange(version, required string) bool {
	if version == "*" {
		return true
	}
	for part := range strings.SplitSeq(required, ",") {
		found := rangePart.FindStringSubmatch(strings.TrimSpace(part))
		if found == nil {
			continue
		}
		newer, older := atLeast(version, found[2]), atLeast(found[2], version)
		ok := map[string]bool{"": newer && older, "==": newer && older, "!=": !newer || !older, ">=": newer, "<=": older, ">": !older, "<": !newer}
		if !ok[found[1]] {
			return false
		}
	}
	return true
}

// Uses reports whether a file of a project mentions a module, a plugin or a role of a collection by its full name, NAMESPACE.NAME.ITEM.
// It reads text files of roles, playbooks and watches.yaml. What it cannot read does not count.
func Uses(project fs.FS, collection string) bool {
	used := false
	name := regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(collection) + `\.[a-z_]`)
	_ = fs.WalkDir(project, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() {
			if top, _, _ := strings.Cut(file, "/"); file != "." && (strings.HasPrefix(d.Name(), ".") || !slices.Contains([]string{"roles", "playbooks"}, top)) {
				return fs.SkipDir
			}
			return nil
		}
		if ext := path.Ext(file); ext != ".yml" && ext != ".yaml" && ext != ".j2" {
			return nil
		}
		data, err := safeyaml.ReadFile(project, file, maxSource)
		if err != nil || !name.Match(data) {
			return nil
		}
		used = true
		return fs.SkipAll
	})
	return used
}
