package migrate

import (
	"fmt"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// namers maps files and directories to a kustomization of the project that refers to them.
type namers map[string]string

// of returns a kustomization that refers to a file, or to its directory if the file is a kustomization, or "".
func (n namers) of(name string) string {
	switch {
	case isKustomization(name):
		return n[path.Dir(name)]
	case path.Ext(name) == ".yaml":
		return n[name]
	}
	return ""
}

// namers reads the kustomizations of the project.
func (u *upgrader) namers() (namers, error) {
	files, err := readConfig(u.tree, isKustomization)
	if err != nil {
		return nil, err
	}
	all := namers{}
	for _, f := range files {
		for line := range strings.Lines(string(f.text)) {
			entry := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- "))
			entry = strings.TrimSpace(strings.TrimPrefix(entry, "path:"))
			file := path.Join(path.Dir(f.name), strings.Trim(entry, `"'`))
			if entry != "" && entry[0] != '#' && all[file] == "" {
				all[file] = f.name
			}
		}
	}
	return all, nil
}

// A configFile is a file below config.
type configFile struct {
	name string
	text []byte
}

// readConfig reads the files of a tree below config whose names are wanted.
func readConfig(tree *worktree.Tree, wanted func(name string) bool) ([]configFile, error) {
	names, err := tree.Walk(project.ConfigDir, nil)
	if err != nil {
		return nil, fmt.Errorf("listing config: %w", err)
	}
	var files []configFile
	for _, name := range names {
		if !wanted(name) {
			continue
		}
		text, err := tree.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		files = append(files, configFile{name, text})
	}
	return files, nil
}

func isKustomization(name string) bool { return path.Base(name) == project.KustomizationFile }
