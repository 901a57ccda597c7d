package codegen

import (
	"context"
	"slices"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/filecache"
)

// A unit is what is generated from types at once and cached: the deepcopy methods or the apply configurations of a package,
// or the CRDs of a group.
type unit struct {
	task  *task
	group string           // of CRDs and apply configurations
	apply string           // the directory of apply configurations
	roots []*parsedPackage // the packages that are input
	key   filecache.Digest
	generated
}

func (g *generation) units() ([]*unit, error) {
	var units []*unit
	for _, t := range g.all {
		roots := g.syntax.rootsOf(t)
		switch t.kind {
		case Object:
			for _, pkg := range roots {
				if pkg.copies {
					units = append(units, &unit{task: t, roots: []*parsedPackage{pkg}})
				}
			}
		case ApplyConfiguration:
			for _, pkg := range roots {
				dir, err := g.syntax.applyDir(pkg)
				if err != nil {
					return nil, err
				}
				if dir != "" {
					units = append(units, &unit{task: t, group: pkg.group, apply: dir, roots: []*parsedPackage{pkg}})
				}
			}
		case CRD:
			units = append(units, groups(t, roots)...)
		case schemaPatches:
			units = append(units, &unit{task: t, roots: roots})
		}
	}
	for _, u := range units {
		u.key = g.unitKey(u)
	}
	return units, nil
}

// groups returns a unit for each API group among the roots of a task.
func groups(t *task, roots []*parsedPackage) []*unit {
	var units []*unit
	seen := map[string]bool{}
	for _, pkg := range roots {
		if !pkg.kinds || seen[pkg.group] {
			continue
		}
		seen[pkg.group] = true
		u := &unit{task: t, group: pkg.group}
		for _, other := range roots {
			// A package without a group may contain a version of any kind without one.
			if other.group == pkg.group {
				u.roots = append(u.roots, other)
			}
		}
		units = append(units, u)
	}
	return units
}

// types generates units. It first reads only the declarations of dependencies. After an error it reads them completely, so
// that the result is the same as controller-gen's, with the correct positions.
func (g *generation) types(ctx context.Context, units []*unit) ([]*loader.Package, error) {
	loaded, findings, err := g.tryTypes(ctx, units, true)
	if err == nil && len(findings) > 0 {
		loaded, findings, err = g.tryTypes(ctx, units, false)
	}
	if err != nil {
		return nil, err
	}
	return loaded, findings.Sort().Err()
}

func (g *generation) packagesOf(units []*unit) []*parsedPackage {
	var list []*parsedPackage
	for _, pkg := range g.syntax.packages {
		if slices.ContainsFunc(units, func(u *unit) bool { return slices.Contains(u.roots, pkg) }) {
			list = append(list, pkg)
		}
	}
	return list
}

// tryTypes generates units, with reduced dependencies or with complete ones.
func (g *generation) tryTypes(ctx context.Context, units []*unit, reduced bool) ([]*loader.Package, diag.Findings, error) {
	roots := g.packagesOf(units)
	load := g.load
	if reduced {
		load = g.assemble
	}
	loaded, err := load(ctx, roots)
	if err != nil {
		return nil, nil, err
	}
	var findings diag.Findings
	for _, pass := range g.passes(units, loaded) {
		if over := g.provideSyntax(pass.roots, pass.generator.CheckFilter(), reduced); over != nil {
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
	return loaded, onePerField(findings.Sort()), nil
}

func rootsOf(loaded []*loader.Package, units []*unit) []*loader.Package {
	return slices.DeleteFunc(slices.Clone(loaded), func(root *loader.Package) bool {
		return !slices.ContainsFunc(units, func(u *unit) bool {
			return slices.ContainsFunc(u.roots, func(pkg *parsedPackage) bool { return pkg.path == root.PkgPath })
		})
	})
}
