package codegen

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// relative returns a path relative to the root, also if it is absolute.
func (g *generation) relative(name string) string {
	if rel, err := filepath.Rel(g.opts.Root, filepath.FromSlash(name)); filepath.IsAbs(filepath.FromSlash(name)) && err == nil {
		return filepath.ToSlash(rel)
	}
	return name
}

// tasks returns the tasks of all calls that the options select, with their packages and headers.
func (g *generation) tasks() ([]*task, diag.Findings, error) {
	var selected []*task
	var warnings diag.Findings
	all, err := tasksOf(g.opts.Calls)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range all {
		if t.kind&g.opts.Generators == 0 || t.discarded {
			continue
		}
		if dir, ok := g.isOutside(t); ok {
			warnings = append(warnings, t.warning("%s: not generated: directory %s is outside of the project", t.name, dir))
			continue
		}
		warnings = append(warnings, g.selectPackages(t)...)
		found, err := g.prepare(t)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, found...)
		selected = append(selected, t)
	}
	return selected, warnings, nil
}

// warning returns a finding at the source of a task's call.
func (t *task) warning(format string, args ...any) diag.Finding {
	return diag.Finding{Position: t.call.Source, Problem: fmt.Sprintf(format, args...)}
}

// isOutside makes the output directories of a task relative to the root. It reports whether one is outside of the project,
// and which.
func (g *generation) isOutside(t *task) (string, bool) {
	for _, dir := range []*string{&t.config, &t.code} {
		if *dir = g.relative(*dir); *dir == ".." || strings.HasPrefix(*dir, "../") {
			return *dir, true
		}
	}
	return "", false
}

// selectPackages sets the packages that the paths of a task select, in the order of the loader: import paths first.
func (g *generation) selectPackages(t *task) diag.Findings {
	var warnings diag.Findings
	isFile := func(p string) bool { return strings.HasPrefix(p, ".") || filepath.IsAbs(filepath.FromSlash(p)) }
	paths := slices.Concat(slices.DeleteFunc(slices.Clone(t.paths), isFile),
		slices.DeleteFunc(slices.Clone(t.paths), func(p string) bool { return !isFile(p) }))
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, given := range paths {
		nameOf := func(p *sourcePackage) string { return p.path }
		pattern := strings.TrimPrefix(given, "./")
		if isFile(given) {
			nameOf = func(p *sourcePackage) string { return p.dir }
			pattern = g.relative(t.call.path(given))
		}
		prefix, recursive := strings.CutSuffix("/"+pattern, "/...")
		prefix = strings.TrimPrefix(prefix, "/")
		matched := false
		for _, p := range g.project.packages {
			name := nameOf(p)
			if recursive && (prefix == "" || name == prefix || strings.HasPrefix(name, prefix+"/")) || name == pattern {
				matched = true
				if !slices.Contains(t.packages, p) {
					t.packages = append(t.packages, p)
				}
			}
		}
		if !matched && given != "./..." {
			warnings = append(warnings, t.warning("%s: paths=%s matches no package of the project", t.name, given))
		}
	}
	return warnings
}

// selected returns the packages of all tasks, in the order of the project.
func (g *generation) selected() []*sourcePackage {
	wanted := map[*sourcePackage]bool{}
	for _, t := range g.all {
		for _, p := range t.packages {
			wanted[p] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(g.project.packages), func(p *sourcePackage) bool { return !wanted[p] })
}

// rootsOf returns the packages of a task with their syntax.
func (s *syntax) rootsOf(t *task) []*parsedPackage {
	var roots []*parsedPackage
	for _, p := range t.packages {
		if parsed := s.byPath[p.path]; parsed != nil && parsed.dir == p.dir {
			roots = append(roots, parsed)
		}
	}
	return roots
}
