package goenv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// VendorList is the list of vendored modules, relative to the directory of the module.
const VendorList = "vendor/modules.txt"

// Requirements returns what determines the versions of modules and the files of packages that the go command uses for the
// modules in directories of a project: settings, go.mod and go.sum files, and the workspace. read returns the content of a file
// in the project by its slash-separated name relative to root, which is absolute.
func (e *Environment) Requirements(root string, read func(name string) ([]byte, error), dirs ...string) [][]byte {
	settings, _ := os.ReadFile(filepath.Join(e.Root(), "go.env"))
	context := e.BuildContext()
	parts := [][]byte{
		e.Identity(), e.Toolchain(), settings, fmt.Appendf(nil, "%s %s %t", context.GOOS, context.GOARCH, context.CgoEnabled),
	}
	for _, dir := range dirs {
		for _, name := range []string{"go.mod", "go.sum", VendorList} {
			data, _ := read(path.Join(dir, name))
			parts = append(parts, []byte(dir), data)
			if name != "go.mod" {
				continue
			}
			// Replacements take part in the selection of versions even if no package of theirs is imported.
			if file, err := modfile.Parse(name, data, nil); err == nil { // else the go command reports it
				parts = append(parts, goMods(filepath.Join(root, filepath.FromSlash(dir)), file.Replace, nil)...)
			}
		}
	}
	return append(parts, e.WorkspaceFiles(root, read)...)
}

// WorkspaceFiles returns the content of the go.work that applies to a project, and of the go.mod files it refers to, or nil if
// there is none. It takes the same arguments as Requirements.
func (e *Environment) WorkspaceFiles(root string, read func(name string) ([]byte, error)) [][]byte {
	name := e.Setting("GOWORK")
	if name == "off" {
		return nil
	}
	work, err := read("go.work")
	sums, _ := read("go.work.sum")
	dir := root
	if err != nil || name != "" {
		if name == "" {
			name = findWorkspace(filepath.Dir(root))
		}
		if name == "" {
			return nil
		}
		dir = filepath.Dir(name)
		work, _ = os.ReadFile(name)
		sums, _ = os.ReadFile(name + ".sum")
	}
	parts := [][]byte{work, sums}
	if file, err := modfile.ParseWork("go.work", work, nil); err == nil {
		parts = append(parts, goMods(dir, file.Replace, file.Use)...)
	}
	return parts
}

// goMods returns the go.mod and go.sum files of the directories that the directives of a go.mod or go.work in dir name.
func goMods(dir string, replace []*modfile.Replace, use []*modfile.Use) [][]byte {
	var parts [][]byte
	add := func(name string) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		data, _ := os.ReadFile(filepath.Join(name, "go.mod"))
		sums, _ := os.ReadFile(filepath.Join(name, "go.sum"))
		parts = append(parts, data, sums)
	}
	for _, r := range replace {
		if modfile.IsDirectoryPath(r.New.Path) {
			add(r.New.Path)
		}
	}
	for _, u := range use {
		add(u.Path)
	}
	return parts
}

// DependsOnPlace reports whether the go command may find packages of other modules in directories relative to a project: of
// replacements, a workspace or vendored modules. It takes the same arguments as Requirements.
func (e *Environment) DependsOnPlace(root string, read func(name string) ([]byte, error)) bool {
	data, _ := read("go.mod")
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil || len(e.WorkspaceFiles(root, read)) > 0 {
		return true
	}
	_, err = os.Lstat(filepath.Join(root, "vendor"))
	return !errors.Is(err, fs.ErrNotExist) || slices.ContainsFunc(file.Replace, func(r *modfile.Replace) bool {
		return modfile.IsDirectoryPath(r.New.Path)
	})
}

// ReplacesFiles reports whether the go command reads other files than those with the names that it prints.
func (e *Environment) ReplacesFiles() bool {
	flags := e.Setting("GOFLAGS")
	return strings.Contains(flags, "-modfile") || strings.Contains(flags, "-overlay")
}
