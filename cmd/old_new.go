package cmd

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/old"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// provisionalDomain is the domain of a project until its first API is created: old commands take the domain from
// --api-version.
const provisionalDomain = "example.com"

func newOldNew(a *app) *cobra.Command {
	var o initOptions
	c := newOld(a, "new NAME", "Create a project in a new directory (now 'init')",
		`Create a directory and an operator project in it, like 'init', under the name of that command before
operator-sdk 1.0. The first 'add api' sets the domain if --domain is not given.`,
		`  %[1]s new memcached-operator --repo github.com/example/memcached-operator
  %[1]s init --domain example.com --repo github.com/example/memcached-operator`,
		func(c *cobra.Command, args []string) error { return replacement{a, c}.newProject(args[0], o) })
	c.Args = oneArgument("the name of the project")
	f := c.Flags()
	f.StringVar(&o.Domain, "domain", provisionalDomain, "`domain` of the project's API groups")
	f.StringVar(&o.Repo, "repo", "", "Go module `path` (default: from GOPATH or the git remote)")
	f.StringVar(&o.File, "header-file", "", "`file` with the header of Go files, a Go comment")
	old.OfNew().AddTo(f)
	return c
}

// newProject creates a project in a new directory.
func (r replacement) newProject(name string, o initOptions) error {
	findings := append(old.OfNew().Used(r.called.Flags()), project.CheckProjectName(name)...)
	if len(findings) > 0 {
		return findings
	}
	root := filepath.Join(r.Dir, name)
	created, err := r.createDirectory(root, name)
	if err != nil {
		return err
	}
	flags := slices.Concat([]string{r.program, "init", "--domain", o.Domain}, old.Given("repo", o.Repo), old.Given("license-file", o.File))
	r.print.Notef("note: '%s' is now '%s' in a new directory", r.called.CommandPath(), words.Join(flags))
	o.ProjectName, o.License = name, "apache2"
	err = r.initIn(r.called, root, &o)
	if err != nil && created {
		_ = r.FS.Remove(root) // fails unless it is empty
	}
	return err
}

// createDirectory creates the directory of a project, unless it exists and is empty.
func (r replacement) createDirectory(root, name string) (created bool, err error) {
	if exists, err := afero.DirExists(r.FS, root); err != nil || exists {
		empty, err := afero.IsEmpty(r.FS, root)
		if err == nil && !empty {
			return false, fmt.Errorf("the directory %s exists and is not empty; to start a project in it, run '%s init' there", name, r.program)
		}
		return false, err
	}
	if r.dryRun {
		return false, nil
	}
	if err := r.FS.Mkdir(root, 0o755); err != nil {
		return false, fmt.Errorf("creating the directory %s: %w", name, diag.Cause(err))
	}
	return true, nil
}
