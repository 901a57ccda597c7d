package cmd

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/project"
)

// provisionalDomain is the domain of a project whose first API is still to say which it is: the commands
// of old took it from --api-version.
const provisionalDomain = "example.com"

// retiredNew are the flags of new that have no meaning today.
func retiredNew() []retired {
	notGo := "belongs to operators in Ansible or Helm; this program makes operators in Go"
	return []retired{
		{name: "type", today: "must be go: " + notGo[len("belongs to operators in Ansible or Helm; "):], fine: []string{"go"}},
		{name: "dep-manager", today: "must be modules: projects are Go modules", fine: []string{"modules"}},
		{name: "git-init", today: "is done by 'git init' in the new folder", boolean: true, fine: []string{"false"}},
		{name: "skip-git-init", today: "is what happens anyway", boolean: true, fine: []string{"true"}},
		{name: "skip-validation", today: "has no use: the project is complete as it is written", boolean: true, fine: []string{"true", "false"}},
		{name: "vendor", today: "is done by 'go mod vendor' in the new folder", boolean: true, fine: []string{"false"}},
		{name: "make-manifests", today: "is done by 'generate manifests' once there is an API", boolean: true, fine: []string{"false"}},
		{name: "cluster-scoped", today: "must be true: without it, 'init --namespaced' makes a manager for one namespace", boolean: true, fine: []string{"true"}},
		{name: "api-version", today: notGo + ", where 'create api' adds an API to a project"},
		{name: "kind", today: notGo + ", where 'create api' adds an API to a project"},
		{name: "crd-version", today: "must be v1", fine: []string{"v1"}},
		{name: "generate-playbook", today: notGo, boolean: true, fine: []string{"false"}},
		{name: "helm-chart", today: notGo},
		{name: "helm-chart-repo", today: notGo},
		{name: "helm-chart-version", today: notGo},
	}
}

func newOldNew(a *app) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a project in a new directory (now 'init')",
		Long: `Create a directory and an operator project in it, like 'init', under the name of that command before
operator-sdk 1.0. The first 'add api' sets the domain if --domain is not given.`,
		Example: fmt.Sprintf("  %[1]s new memcached-operator --repo github.com/example/memcached-operator\n  %[1]s init --domain example.com --repo github.com/example/memcached-operator", a.program),
		Args:    oneArgument("the name of the project"),
		RunE:    func(c *cobra.Command, args []string) error { return a.runOldNew(c, args[0], o) },
	}
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
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	root := filepath.Join(dir, name)
	made, err := a.newFolder(root, name)
	if err != nil {
		return err
	}
	words := slices.Concat([]string{a.program, "init", "--domain", o.Domain}, given("repo", o.Repo), given("license-file", o.File))
	a.notef("note: '%s' is now '%s' in a new directory", c.CommandPath(), joinWords(words))
	o.ProjectName, o.License = name, "apache2"
	err = a.initIn(c, root, o)
	if err != nil && made {
		_ = a.FS.Remove(root) // it stays where there is something in it
	}
	return err
}

// newFolder makes the folder of a project, unless it is there and empty.
func (a *app) newFolder(root, name string) (made bool, err error) {
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
		return false, fmt.Errorf("making the folder %s: %w", name, reason(err))
	}
	return true, nil
}
