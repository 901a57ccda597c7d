package migrate

import (
	"fmt"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

// namers maps files and directories to a kustomization of the project that refers to them.
type namers map[string]string

// of returns a kustomization that refers to a file, or to its directory if the file is a kustomization, or "".
func (n namers) of(name string) string {
	switch {
	case path.Base(name) == project.KustomizationFile:
		return n[path.Dir(name)]
	case path.Ext(name) == ".yaml":
		return n[name]
	}
	return ""
}

// namers reads the kustomizations of the project.
func (u *upgrader) namers() (namers, error) {
	names, err := u.tree.Walk(project.ConfigDir, nil)
	if err != nil {
		return nil, err
	}
	all := namers{}
	for _, name := range names {
		if path.Base(name) != project.KustomizationFile {
			continue
		}
		text, err := u.tree.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		for line := range strings.Lines(string(text)) {
			entry := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "- "))
			entry = strings.TrimSpace(strings.TrimPrefix(entry, "path:"))
			file := path.Join(path.Dir(name), strings.Trim(entry, `"'`))
			if entry != "" && entry[0] != '#' && all[file] == "" {
				all[file] = name
			}
		}
	}
	return all, nil
}
