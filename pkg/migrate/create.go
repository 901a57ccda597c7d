package migrate

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
)

// create adds a file that the older scaffold did not have. A file that it had was removed by the user.
func (u *upgrader) create(name string) error {
	if isWhole(name) || u.wroteBefore(name) || u.removedDir(path.Dir(name)) || strings.HasPrefix(name, project.ConfigDir+"/") && !u.exists(project.ConfigDir) {
		return nil
	}
	note, err := u.superfluous(name)
	if err != nil {
		return err
	}
	if note != "" {
		u.add(name, Kept, note)
		return nil
	}
	u.tree.WriteFile(name, u.withoutMissing(name), 0o644)
	u.add(name, Created, "")
	return nil
}

// withoutMissing returns the text of a new file. In a kustomization, it leaves out samples that the project does not
// have, for example under another name, and directories whose kustomization the user removed.
func (u *upgrader) withoutMissing(name string) []byte {
	text := u.theirs[name]
	if !isKustomization(name) {
		return text
	}
	for _, entry := range entries(name, text, "resources") {
		file := entryPath(path.Dir(name), entry)
		kustomization := path.Join(file, project.KustomizationFile)
		removed := !u.tree.Exists(kustomization) && u.wroteBefore(kustomization)
		if file != "" && (removed || strings.HasPrefix(file, project.SamplesDir+"/") && !u.exists(file)) {
			text = bytes.Replace(text, []byte(strings.Join(entry.Head, "")), nil, 1)
		}
	}
	return text
}

// removedDir reports whether the project lacks a directory in which the release that scaffolded it wrote files.
func (u *upgrader) removedDir(dir string) bool {
	if u.exists(dir) {
		return false
	}
	for name := range u.o.Fingerprints.files {
		if path.Dir(name) == dir && u.wroteBefore(name) {
			return true
		}
	}
	return false
}

// complete adds missing manifests of the current scaffold to which a kustomization now refers, and kustomizations of
// such directories. Files that the user removed are not added.
func (u *upgrader) complete() error {
	named, err := u.namers()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(u.theirs)) {
		if !strings.HasPrefix(name, project.ConfigDir+"/") || u.tree.Exists(name) || u.wroteBefore(name) {
			continue
		}
		if named.of(name) == "" {
			continue
		}
		u.tree.WriteFile(name, u.theirs[name], 0o644)
		u.add(name, Created, "")
		if named, err = u.namers(); err != nil { // the references of the new file
			return err
		}
	}
	return nil
}

// carryObjects merges manifests into new files of the current scaffold with the same objects, to keep the user's edits.
func (u *upgrader) carryObjects() {
	created := map[string]string{} // object → new file
	for _, name := range slices.Sorted(maps.Keys(u.theirs)) {
		if u.ours[name] != nil || !isManifest(name) || u.wroteBefore(name) || u.removedDir(path.Dir(name)) {
			continue
		}
		if ids := objectIDs(u.theirs[name]); len(ids) == 1 {
			created[ids[0]] = name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.ours)) {
		if u.theirs[name] != nil || !isManifest(name) || !u.isResource(name) || u.unedited(name) {
			continue
		}
		root, err := merge.Parse(name, u.ours[name])
		b := u.baseOf(name)
		if err != nil || b == nil {
			continue
		}
		texts := map[string][]byte{}
		for i, document := range root.Nodes {
			text := document.Text()
			if i == len(root.Nodes)-1 {
				text = append(text, strings.Join(root.Tail, "")...)
			}
			if ids := objectIDs(text); len(ids) == 1 && created[ids[0]] != "" && !u.references()[ids[0]] {
				file := created[ids[0]]
				if m, err := mergeFile(file, text, u.theirs[file], b, merge.Options{}); err == nil && m.conflicts == 0 {
					texts[file] = m.text
				}
			}
		}
		if len(root.Nodes) > 0 && len(texts) == len(root.Nodes) {
			maps.Copy(u.theirs, texts)
			u.carried[name] = nil
		}
	}
}
