package codegen

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/diag"
)

// An EnvironmentError is a setting that prevents the go command from working on a project, with its fix.
type EnvironmentError struct{ text string }

func (e *EnvironmentError) Error() string { return e.text }

func environmentErrorf(format string, args ...any) error {
	return &EnvironmentError{fmt.Sprintf(format, args...)}
}

// CheckGo returns an *EnvironmentError if a setting prevents the go command from working on the packages of the module in
// dir. In these cases the go command mostly prints that it does not find packages.
func CheckGo(environ []string, dir string) error { return newEnvironment(environ, false).check(dir) }

// check checks the settings for a module: see CheckGo.
func (e *environment) check(dir string) error {
	if e.setting("GO111MODULE") == "off" {
		return environmentErrorf("GO111MODULE=off disables Go modules, and the project is a module; %s", e.unset("GO111MODULE"))
	}
	home := homeVariable()
	if e.get(home) == "" && e.setting("GOPATH") == "" && e.setting("GOMODCACHE") == "" {
		return environmentErrorf("the go command has no module cache because %s, GOPATH and GOMODCACHE are not set; "+
			"set one of them", home)
	}
	return e.checkWorkspace(dir)
}

// unset returns how to unset a setting.
func (e *environment) unset(name string) string {
	if e.get(name) == "" {
		return "run 'go env -u " + name + "'"
	}
	return "unset " + name
}

// checkWorkspace returns an error unless the go.work file that applies to dir, if any, lists the module in dir. Modules
// inside a project need not be listed.
func (e *environment) checkWorkspace(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "PROJECT")); err != nil {
		return nil
	}
	name := e.setting("GOWORK")
	if name == "off" {
		return nil
	}
	origin, remedy := "go.work", "set GOWORK=off"
	if name != "" {
		origin, remedy = "GOWORK", e.unset("GOWORK")
	} else if name = findWorkspace(dir); name == "" {
		return nil
	}
	shown := name
	if rel, err := filepath.Rel(dir, name); err == nil {
		shown = filepath.ToSlash(rel)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return environmentErrorf("%s %q: %v; %s", origin, shown, diag.Cause(err), remedy)
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
	return environmentErrorf("%s %q: the workspace does not list the project; run 'go work use .' in the project to add it, "+
		"or %s", origin, shown, remedy)
}

// findWorkspace returns the nearest go.work file of dir and its parents, or an empty string.
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
