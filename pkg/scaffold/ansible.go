package scaffold

import (
	"bytes"
	"maps"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// The events of kinds of Ansible projects: roleEvent and playbookEvent contain what the operator runs, watchEvent the entry in
// watches.yaml.
const (
	roleEvent     = "role"
	playbookEvent = "playbook"
	watchEvent    = "watch"
)

// RoleDir returns the directory of the role that create api writes for a kind.
func RoleDir(kind string) string { return path.Join(project.RolesDir, strings.ToLower(kind)) }

// PlaybookFile returns the path of the playbook that create api writes for a kind.
func PlaybookFile(kind string) string {
	return path.Join(project.PlaybooksDir, strings.ToLower(kind)+".yml")
}

// VariableName returns the name of the variable with an object of the kind in runs, without its leading underscore:
// cache_example_com_memcached.
func (r Resource) VariableName() string {
	return variables.ObjectName(r.QualifiedGroup, r.Kind)[1:]
}

// CreateRuns writes the role and the playbook of a kind that data selects. Existing ones are kept, and reported, unless force is set.
func CreateRuns(tree *worktree.Tree, data Data, force bool) (*Report, error) {
	report := &Report{}
	files := map[string][]byte{}
	for _, run := range []struct {
		event, path string
		wanted      bool
	}{
		{roleEvent, RoleDir(data.Resource.Kind), data.Resource.Role},
		{playbookEvent, PlaybookFile(data.Resource.Kind), data.Resource.Playbook},
	} {
		if !run.wanted {
			continue
		}
		if tree.Exists(run.path) && !force {
			report.Kept = append(report.Kept, run.path)
			continue
		}
		rendered, err := Render(run.event, data)
		if err != nil {
			return nil, err
		}
		maps.Copy(files, rendered.Files)
	}
	written, err := writeFiles(tree, files, force, "move away what is listed")
	if err != nil {
		return nil, err
	}
	report.Kept = append(report.Kept, written.Kept...)
	return report, nil
}

// TestFile returns the path of the Molecule test of a kind.
func TestFile(kind string) string {
	return path.Join(project.MoleculeTestsDir, strings.ToLower(kind)+"_test.yml")
}

// MoveTest rewrites the test of a kind whose version in removed was deleted for the version in data, unless the test was edited.
func MoveTest(tree *worktree.Tree, removed, data Data) error {
	name := TestFile(data.Resource.Kind)
	content, err := tree.ReadOptional(name)
	if err != nil || content == nil {
		return err
	}
	before, err := RenderFile(apiEvent, name, removed)
	if err != nil || !bytes.Equal(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), before) {
		return err
	}
	after, err := RenderFile(apiEvent, name, data)
	if err == nil {
		tree.WriteFile(name, after, worktree.FileMode)
	}
	return err
}

// AddAnsibleWatch returns watches.yaml with the entry of a kind: at the marker, or without one after the last entry.
func AddAnsibleWatch(content []byte, data Data) ([]byte, error) {
	rendered, err := Render(watchEvent, data)
	if err != nil {
		return nil, err
	}
	blocks := rendered.Inserts[watches.FileName]
	if added, err := Insert(content, watches.FileName, blocks); err == nil {
		if list, err := watches.ParseAnsible(watches.FileName, added, nil); err == nil && hasWatch(list, data) {
			return added, nil
		}
	}
	entry, err := AnsibleWatch(data)
	if err != nil {
		return nil, err
	}
	return watches.AddAnsible(content, entry)
}

// AnsibleWatch returns the entry of a kind in watches.yaml as create api writes it.
func AnsibleWatch(data Data) (watches.AnsibleWatch, error) {
	rendered, err := Render(watchEvent, data)
	if err != nil {
		return watches.AnsibleWatch{}, err
	}
	for _, text := range rendered.Inserts[watches.FileName] {
		list, err := watches.ParseAnsible(watches.FileName, []byte(text), nil)
		if err != nil {
			return watches.AnsibleWatch{}, err
		}
		return list[0], nil
	}
	return watches.AnsibleWatch{}, nil
}

// hasWatch reports whether one of the entries is for a kind.
func hasWatch(list []watches.AnsibleWatch, data Data) bool {
	r := data.Resource
	for _, w := range list {
		if w.Group == r.QualifiedGroup && w.Version == r.Version && w.Kind == r.Kind {
			return true
		}
	}
	return false
}

// RunFiles renders the files of the role and the playbook of a kind.
func RunFiles(data Data) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, event := range []string{roleEvent, playbookEvent} {
		rendered, err := Render(event, data)
		if err != nil {
			return nil, err
		}
		maps.Copy(files, rendered.Files)
	}
	return files, nil
}

// RunPairs renders the role and the playbook of a kind, in all forms, and the comments of its entry in watches.yaml, with the old and
// with the new names. The values of the entry have a clear meaning, but its lines may differ from the scaffold's.
func RunPairs(old, now Data) ([]RenderedPair, error) {
	var all []RenderedPair
	entry, err := renderPair(watchEvent, old, now)
	if err != nil {
		return nil, err
	}
	for _, pair := range entry {
		pair.Old, pair.New = comments(pair.Old), comments(pair.New)
		all = append(all, pair)
	}
	for _, run := range []struct{ role, playbook bool }{{true, false}, {false, true}, {true, true}} {
		old.Resource.Role, old.Resource.Playbook = run.role, run.playbook
		now.Resource.Role, now.Resource.Playbook = run.role, run.playbook
		var events []string
		if run.role {
			events = append(events, roleEvent)
		}
		if run.playbook {
			events = append(events, playbookEvent)
		}
		for _, event := range events {
			pairs, err := renderPair(event, old, now)
			if err != nil {
				return nil, err
			}
			all = append(all, pairs...)
		}
	}
	return all, nil
}

// comments returns the lines of a text that are comments.
func comments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}
