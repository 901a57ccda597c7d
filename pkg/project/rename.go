package project

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// SetProjectName changes the name of the project.
func (c *Config) SetProjectName(name string) error { return c.put([]any{"projectName"}, name) }

// SetRepo changes the module path of the project, also in the import paths of its types.
func (c *Config) SetRepo(repo string) error {
	old, resources := c.Repo(), c.Resources()
	c.module = ""
	return c.atomically(func() error {
		if err := c.put([]any{"repo"}, repo); err != nil {
			return err
		}
		for _, r := range resources {
			if rest, own := strings.CutPrefix(r.Path, old+"/"); own {
				r.Path = path.Join(repo, rest)
				if err := c.UpdateResource(r); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// SetDomain changes the domain of the project, but not of its resources.
func (c *Config) SetDomain(domain string) error { return c.put([]any{"domain"}, domain) }

// RenameResource replaces the resource of a group, version and kind by r, also in the entries of plugins.
func (c *Config) RenameResource(from GVK, r Resource) error {
	i := c.resourceIndex(from)
	identity := map[string]string{"group": r.Group, "domain": r.Domain, "version": r.Version, "kind": r.Kind}
	rename := func(list []any, i int) error {
		for _, key := range slices.Sorted(maps.Keys(identity)) {
			if err := c.put(append(join(list, i), key), textOrNil(identity[key])); err != nil {
				return err
			}
		}
		return nil
	}
	return c.atomically(func() error {
		for _, plugin := range []string{keyImages, keyState} {
			list := []any{"plugins", plugin, "resources"}
			if j := indexOf(safeyaml.Child(c.root, "plugins", plugin, "resources"), from); j >= 0 {
				if err := rename(list, j); err != nil {
					return err
				}
			}
		}
		if err := rename([]any{"resources"}, i); err != nil {
			return err
		}
		// A regular plural is not written.
		if r.Plural == RegularPlural(r.Kind) {
			if err := c.put([]any{"resources", i, "plural"}, nil); err != nil {
				return err
			}
		}
		return c.UpdateResource(r)
	})
}

// CheckRenamed reports conflicts of renamed resources with others: of kinds, plurals, groups, packages, controllers and import
// aliases. The fields of the findings are the flags of the new names.
func CheckRenamed(c *Config, renamed []Resource) diag.Findings {
	var findings diag.Findings
	for _, r := range renamed {
		for _, other := range c.Resources() {
			if other.GVK != r.GVK {
				findings = append(findings, renamedCollisions(c, r, other)...)
			}
		}
	}
	for i := range findings {
		flag, ok := strings.CutPrefix(findings[i].Field, "--")
		if !ok {
			continue // about PROJECT
		}
		findings[i].Field = "--to-" + flag
		findings[i].Problem = strings.ReplaceAll(findings[i].Problem, "with --plural", "with --to-plural")
	}
	return findings.Distinct()
}

// renamedCollisions reports conflicts of a renamed resource with another one.
func renamedCollisions(c *Config, r, other Resource) diag.Findings {
	o := ResourceOptions{Group: r.Group, Version: r.Version, Kind: r.Kind, API: true, Force: true}
	if r.API != nil {
		o.Namespaced = r.API.Namespaced
	}
	findings := append(apiCollisions(c, r, other, o), aliasCollisions(c, r, other)...)
	for _, name := range r.Controllers {
		for _, taken := range other.Controllers {
			if sameController(c, r, name, other, taken) {
				findings = append(findings, one("--kind", r.Kind,
					fmt.Sprintf("controller %s of %s has the file, type or name of the renamed kind's controller", taken, other.GVK), "")...)
			}
		}
	}
	return findings
}
