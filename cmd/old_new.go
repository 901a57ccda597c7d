package cmd

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// provisionalDomain is the domain of a project until its first API is created: old commands take the domain from
// --api-version.
const provisionalDomain = "example.com"

// modulesOnly is the reason why other dependency managers are not supported.
const modulesOnly = "must be modules: projects are Go modules"

// retiredNew are the flags of new that are no longer supported.
func retiredNew() []retired {
	return append([]retired{
		{"type", "must be go; for a Helm or Ansible operator, run 'init --plugins helm' or 'init --plugins ansible' in a new directory", []string{"go"}},
		{"dep-manager", modulesOnly, []string{"modules"}},
		{"git-init", "is done by 'git init' in the new directory", []string{"false"}},
		{"skip-git-init", "is the default behavior", []string{"true"}},
		{"skip-validation", "is not needed: the new project is complete", []string{"true", "false"}},
		{"vendor", "is done by 'go mod vendor' in the new directory", []string{"false"}},
		{"make-manifests", "is done by 'generate manifests' after the first API is created", []string{"false"}},
		{"cluster-scoped", "must be true; use 'init --namespaced' for a manager of one namespace", []string{"true"}},
		{"api-version", "is replaced by 'create api' in the new project", nil},
		{"kind", "is replaced by 'create api' in the new project", nil},
	}, retiredAdd()...)
}

func newOldNew(a *app) *cobra.Command {
	var o initOptions
	c := a.oldCommand("new NAME", "Create a project in a new directory (now 'init')",
		`Create a directory and an operator project in it, like 'init', under the name of that command before
operator-sdk 1.0. The first 'add api' sets the domain if --domain is not given.`,
		`  %[1]s new memcached-operator --repo github.com/example/memcached-operator
  %[1]s init --domain example.com --repo github.com/example/memcached-operator`,
		func(c *cobra.Command, args []string) error { return a.runOldNew(c, args[0], o) })
	c.Args = oneArgument("the name of the project")
	f := c.Flags()
	f.StringVar(&o.Domain, "domain", provisionalDomain, "`domain` of the project's API groups")
	f.StringVar(&o.Repo, "repo", "", "Go module `path` (default: from GOPATH or the git remote)")
	f.StringVar(&o.File, "header-file", "", "`file` with the header of Go files, a Go comment")
	addRetired(c, retiredNew())
	return c
}

func (a *app) runOldNew(c *cobra.Command, name string, o initOptions) error {
	findings := append(retiredUsed(c, retiredNew()), project.CheckProjectName(name)...)
	if len(findings) > 0 {
		return findings
	}
	dir := a.Dir
	root := filepath.Join(dir, name)
	created, err := a.createDirectory(root, name)
	if err != nil {
		return err
	}
	flags := slices.Concat([]string{a.program, "init", "--domain", o.Domain}, given("repo", o.Repo), given("license-file", o.File))
	a.print.Notef("note: '%s' is now '%s' in a new directory", c.CommandPath(), words.Join(flags))
	o.ProjectName, o.License = name, "apache2"
	err = a.initIn(c, root, o)
	if err != nil && created {
		_ = a.FS.Remove(root) // fails unless it is empty
	}
	return err
}

// createDirectory creates the directory of a project, unless it exists and is empty.
func (a *app) createDirectory(root, name string) (created bool, err error) {
	if exists, err := afero.DirExists(a.FS, root); err != nil || exists {
		empty, err := afero.IsEmpty(a.FS, root)
		if err == nil && !empty {
			return false, fmt.Errorf("the directory %s exists and is not empty; to start a project in it, run '%s init' there", name, a.program)
		}
		return false, err
	}
	if a.dryRun {
		return false, nil
	}
	if err := a.FS.Mkdir(root, 0o755); err != nil {
		return false, fmt.Errorf("creating the directory %s: %w", name, diag.Cause(err))
	}
	return true, nil
}
