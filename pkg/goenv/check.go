package goenv

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/diag"
)

// An Error is a setting that prevents the go command from working on a project, with its fix.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

func errorf(format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...)}
}

// Check returns an *Error if a setting prevents the go command from working on the packages of the module in
// dir. In these cases the go command mostly prints that it does not find packages.
func (e *Environment) Check(dir string) error {
	if e.Setting("GO111MODULE") == "off" {
		return errorf("GO111MODULE=off disables Go modules, and the project is a module; %s", e.unset("GO111MODULE"))
	}
	home := homeVariable()
	if e.Get(home) == "" && e.Setting("GOPATH") == "" && e.Setting("GOMODCACHE") == "" {
		return errorf("the go command has no module cache because %s, GOPATH and GOMODCACHE are not set; "+
			"set one of them", home)
	}
	return e.checkWorkspace(dir)
}

// unset returns how to unset a setting.
func (e *Environment) unset(name string) string {
	if e.Get(name) == "" {
		return "run 'go env -u " + name + "'"
	}
	return "unset " + name
}

// checkWorkspace returns an error unless the go.work file that applies to dir, if any, lists the module in dir. Modules
// inside a project need not be listed.
func (e *Environment) checkWorkspace(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "PROJECT")); err != nil {
		return nil
	}
	name := e.Workspace(dir)
	if name == "" {
		return nil
	}
	origin, remedy := "go.work", "set GOWORK=off"
	if e.Setting("GOWORK") != "" {
		origin, remedy = "GOWORK", e.unset("GOWORK")
	}
	shown := name
	if rel, err := filepath.Rel(dir, name); err == nil {
		shown = filepath.ToSlash(rel)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return errorf("%s %q: %v; %s", origin, shown, diag.Cause(err), remedy)
	}
	file, err := modfile.ParseWork(name, data, nil)
	if err != nil {
		return nil // the go command reports it
	}
	module, err := os.Stat(dir)
	if err != nil || slices.ContainsFunc(file.Use, func(use *modfile.Use) bool {
		path := use.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(name), path)
		}
		info, err := os.Stat(path)
		return err == nil && os.SameFile(info, module)
	}) {
		return nil
	}
	return errorf("%s %q: the workspace does not list the project; run 'go work use .' in the project to add it, "+
		"or %s", origin, shown, remedy)
}

// Workspace returns the go.work file that applies to a directory, or "".
func (e *Environment) Workspace(dir string) string {
	switch name := e.Setting("GOWORK"); name {
	case "":
		return findWorkspace(dir)
	case "off":
		return ""
	default:
		return name
	}
}

// findWorkspace returns the nearest go.work file of dir and its parents, or "".
func findWorkspace(dir string) string {
	for {
		name := filepath.Join(dir, "go.work")
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return name
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
