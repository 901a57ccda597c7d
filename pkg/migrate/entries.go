package migrate

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/merge"
)

// entryPath returns the path of a kustomization entry relative to the project, or "".
func entryPath(dir string, n *merge.Node) string {
	key := strings.SplitN(n.Key, "#", 2)[0]
	if n.Off || key == "" || strings.ContainsAny(key, " :") || !strings.Contains(key, ".") && !strings.Contains(key, "/") {
		return ""
	}
	return path.Join(dir, key)
}

// canAdd reports whether everything exists to which a new entry of a kustomization refers.
func (u *upgrader) canAdd(kustomization string, p []string, n *merge.Node) bool {
	if n.Off {
		return true
	}
	dir := path.Dir(kustomization)
	if slices.Contains(p, "replacements") {
		text := string(n.Text())
		return (!strings.Contains(text, "kind: Certificate") || u.isOn(kustomization, "../certmanager")) &&
			(!strings.Contains(text, "webhook-service") || u.isOn(kustomization, "../webhook"))
	}
	name := entryPath(dir, n)
	if name == "" {
		return true
	}
	if u.withoutRoles(kustomization, n.Key) {
		return false
	}
	if u.exists(name) {
		return !u.tree.Exists(name) || u.sameKinds(name) && u.ownObjects(kustomization, name)
	}
	if u.theirs[name] != nil {
		note, err := u.superfluous(name)
		return err == nil && note == "" && !u.wroteBefore(name) && !u.removedDir(path.Dir(name))
	}
	for other := range u.theirs {
		if strings.HasPrefix(other, name+"/") {
			return !u.removedDir(name)
		}
	}
	return false
}

// withoutRoles reports whether an entry is a role for users of an API, and the user disabled or removed the release's roles.
func (u *upgrader) withoutRoles(kustomization, entry string) bool {
	kind, ok := strings.CutSuffix(entry, "_admin_role.yaml")
	if !ok {
		return false
	}
	on, listed := findEntry(kustomization, u.ours[kustomization], "resources", kind+"_editor_role.yaml")
	return !on && (listed || u.releaseLists(kustomization, kind+"_editor_role.yaml"))
}

func (u *upgrader) releaseLists(kustomization, resource string) bool {
	return u.releaseBase(kustomization).Has(merge.Fact{Path: []string{"document", "resources", resource}, Part: merge.Exists})
}

// isOn reports whether a kustomization of the project lists a resource, or will.
func (u *upgrader) isOn(kustomization, resource string) bool {
	ours, ok := findEntry(kustomization, u.ours[kustomization], "resources", resource)
	if ok {
		return ours
	}
	theirs, _ := findEntry(kustomization, u.theirs[kustomization], "resources", resource)
	return theirs && !u.releaseLists(kustomization, resource)
}

// findEntry finds an entry of a list in a kustomization. on reports whether it is not commented out.
func findEntry(name string, text []byte, list, entry string) (on, ok bool) {
	for _, n := range entries(name, text, list) {
		if n.Key == entry {
			return !n.Off, true
		}
	}
	return false, false
}

// hasEntry reports whether a kustomization has an entry, not commented out, at a path of keys.
func hasEntry(name string, text []byte, p []string) bool {
	n, err := merge.Parse(name, text)
	if err != nil {
		return false
	}
	for _, key := range p {
		i := slices.IndexFunc(n.Nodes, func(child *merge.Node) bool { return child.Key == key && !child.Off })
		if i < 0 {
			return false
		}
		n = n.Nodes[i]
	}
	return true
}

func entries(name string, text []byte, list string) []*merge.Node {
	root, err := merge.Parse(name, text)
	if err != nil {
		return nil
	}
	for _, document := range root.Nodes {
		for _, field := range document.Nodes {
			if field.Key == list {
				return field.Nodes
			}
		}
	}
	return nil
}

// canRemove reports whether an entry may be removed from a kustomization: not if it names an edited file.
func (u *upgrader) canRemove(dir string, n *merge.Node) bool {
	name := entryPath(dir, n)
	if name == "" {
		return true
	}
	if text := u.ours[name]; text != nil {
		return u.isObsolete(name)
	}
	// For a directory, all files are removed.
	return !u.exists(name)
}

// hasEditedGenerator reports whether the user edited a generator of a kustomization, which is kept then with its options.
func (u *upgrader) hasEditedGenerator(name string) bool {
	b := u.baseOf(name)
	return b == nil || slices.ContainsFunc(facts(name, u.ours[name]), func(f merge.Fact) bool {
		isGenerator := len(f.Path) > 1 && (f.Path[1] == "configMapGenerator" || f.Path[1] == "secretGenerator")
		return isGenerator && f.Part == merge.HeadLines && !b.Has(f)
	})
}

// isUnusedVariable reports whether an entry is a variable of a kustomization that no kept manifest uses.
func (u *upgrader) isUnusedVariable(p []string, _ *merge.Node) bool {
	if len(p) < 2 || p[len(p)-2] != "vars" {
		return false
	}
	named, err := u.namers()
	if err != nil {
		return false
	}
	use := []byte("$(" + p[len(p)-1] + ")")
	for name := range named {
		if !isManifest(name) || u.isObsolete(name) || u.theirs[name] != nil && u.unedited(name) {
			continue
		}
		if text, err := u.tree.ReadFile(name); err == nil && bytes.Contains(text, use) {
			return false
		}
	}
	return true
}
