package codegen

import (
	"context"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"
)

// unit is what is generated from types in one go: the copy methods or the apply configurations of a package, or the
// CRDs of a group.
type unit struct {
	task  *task
	group string    // of CRDs and apply configurations
	apply string    // the directory of apply configurations
	roots []*parsed // the packages that the unit is made of
	copy  bool      // the unit is the copy methods of a package
	key   digest
	files map[string][]byte
}

// units divides what is to be generated from types.
func (g *generation) units() ([]*unit, error) {
	var units []*unit
	for _, t := range g.all {
		roots := g.syntax.rootsOf(t)
		switch t.kind {
		case Object:
			for _, one := range roots {
				if one.copies {
					units = append(units, g.unit(&unit{task: t, copy: true, roots: []*parsed{one}}))
				}
			}
		case ApplyConfiguration:
			for _, one := range roots {
				dir, err := g.syntax.applyDir(one)
				if err != nil {
					return nil, err
				}
				if dir != "" {
					units = append(units, g.unit(&unit{task: t, group: one.group, apply: dir, roots: []*parsed{one}}))
				}
			}
		case CRD:
			units = append(units, g.groups(t, roots)...)
		case schemaPatches:
			units = append(units, g.unit(&unit{task: t, roots: roots}))
		}
	}
	return units, nil
}

// groups returns a unit for each API group among the roots of a task.
func (g *generation) groups(t *task, roots []*parsed) []*unit {
	var units []*unit
	seen := map[string]bool{}
	for _, one := range roots {
		if !one.kinds || seen[one.group] {
			continue
		}
		seen[one.group] = true
		u := &unit{task: t, group: one.group}
		for _, other := range roots {
			// A package without a group may hold a version of any kind without one.
			if other.group == one.group {
				u.roots = append(u.roots, other)
			}
		}
		units = append(units, g.unit(u))
	}
	return units
}

func (g *generation) unit(u *unit) *unit {
	u.key = g.unitKey(u)
	u.files = map[string][]byte{}
	return u
}

// types generates units. Dependencies are read as their declarations first. Should that lead to any error
// they are read in full, so that the outcome is that of controller-gen, and errors have the right places.
func (g *generation) types(ctx context.Context, units []*unit) ([]*loader.Package, error) {
	loaded, findings, err := g.attempt(ctx, units, true)
	if err == nil && len(findings) > 0 {
		loaded, findings, err = g.attempt(ctx, units, false)
	}
	if err != nil {
		return nil, err
	}
	return loaded, findings.err()
}

// packagesOf returns the packages of units.
func (g *generation) packagesOf(units []*unit) []*parsed {
	var list []*parsed
	for _, one := range g.syntax.packages {
		if slices.ContainsFunc(units, func(u *unit) bool { return slices.Contains(u.roots, one) }) {
			list = append(list, one)
		}
	}
	return list
}

func (g *generation) attempt(ctx context.Context, units []*unit, reduced bool) ([]*loader.Package, Findings, error) {
	roots := g.packagesOf(units)
	load := g.load
	if reduced {
		load = g.assemble
	}
	loaded, err := load(ctx, roots)
	if err != nil {
		return nil, nil, err
	}
	var findings Findings
	for _, pass := range g.passes(units, loaded) {
		if over := g.provide(pass.roots, pass.generator.CheckFilter(), reduced); over != nil {
			return nil, over, nil
		}
		findings = append(findings, pass.run(g)...)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		visit(loaded, func(p *packages.Package) {
			if p.PkgPath != "unsafe" {
				p.Types, p.TypesInfo, p.IllTyped = nil, nil, false
			}
			p.Errors = nil
		})
	}
	return loaded, findings.tidy(), nil
}

// rootsOf are the loaded packages of units.
func rootsOf(loaded []*loader.Package, units []*unit) []*loader.Package {
	var roots []*loader.Package
	for _, root := range loaded {
		for _, u := range units {
			if u.has(root.PkgPath) {
				roots = append(roots, root)
				break
			}
		}
	}
	return roots
}

func (u *unit) has(importPath string) bool {
	for _, root := range u.roots {
		if root.path == importPath {
			return true
		}
	}
	return false
}

// take moves the files that a pass made to the units they belong to.
func (g *generation) take(files map[string][]byte, units []*unit) {
	for name, content := range files {
		for _, u := range units {
			var own bool
			switch u.task.kind {
			case Object:
				own = path.Dir(name) == u.roots[0].dir
			case CRD:
				own = strings.HasPrefix(path.Base(name), u.group+"_")
			default:
				own = true
			}
			if own {
				u.files[name] = content
			}
		}
	}
}
