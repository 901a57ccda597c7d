package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// initOptions are the flags of init.
type initOptions struct {
	domain, repo, projectName   string
	owner, license, licenseFile string
	multigroup, namespaced      bool
	fetchDeps, skipGoCheck      bool
	// interactive asks at a terminal for what flags leave open.
	interactive bool
}

// defaultDomain is the domain that the peers use without --domain, too.
const defaultDomain = "my.domain"

func newInit(a *app) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "Create an operator project in the current directory",
		Long: `Create a Go operator project: the manager, its manifests, Makefile, Dockerfile, tests and CI
workflows, with complete go.mod and go.sum. No network is used and no program is run.

Existing files that the project does not need, such as a README.md, are kept. If files are in the
way, all of them are listed and nothing is written.`,
		Example: fmt.Sprintf(`  # In an empty directory:
  %[1]s init --domain example.com --repo github.com/example/memcached-operator

  # In a directory with a go.mod, or in a clone, which give the module path:
  %[1]s init --domain example.com

  # For several groups, with a manager for one namespace and an MIT header:
  %[1]s init --domain example.com --multigroup --namespaced --license mit --owner "Example Inc."`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runInit(c, o) },
	}
	f := c.Flags()
	f.StringVar(&o.domain, "domain", defaultDomain, "`domain` of the project's API groups, such as example.com")
	f.StringVar(&o.repo, "repo", "", "Go module `path` (default: from go.mod, GOPATH or the git remote)")
	f.StringVar(&o.projectName, "project-name", "", "project `name`, the prefix of deployed objects (default: the directory name)")
	f.StringVar(&o.owner, "owner", "", "copyright `owner` in the license header")
	f.StringVar(&o.license, "license", "apache2", "license header of Go files")
	f.StringVar(&o.licenseFile, "license-file", "", "`file` with the header, a Go comment; takes precedence over --license")
	f.BoolVar(&o.multigroup, "multigroup", false, "write APIs to api/<group>/<version>, for several groups")
	f.BoolVar(&o.namespaced, "namespaced", false, "watch one namespace, with Roles instead of ClusterRoles")
	a.addPlugins(f, "`layout` of the project; only go/v4 is supported")
	a.addProjectVersion(f)
	f.BoolVar(&o.fetchDeps, "fetch-deps", false, "download the modules of go.mod afterwards (go mod download)")
	f.BoolVar(&o.skipGoCheck, "skip-go-version-check", false, "accepted for compatibility; init does not run go")
	completeValues(c, "license", "apache2", "mit", "copyright", "none")
	a.addOutput(c, textOutput, jsonOutput)
	completeValues(c, "plugins", "go/v4")
	completeValues(c, "project-version", project.ProjectVersion)
	return c
}

func (a *app) runInit(c *cobra.Command, o initOptions) error {
	root, err := a.workDir()
	if err != nil {
		return err
	}
	o.interactive = a.InTerminal
	return a.initIn(c, root, o)
}

// initIn starts a project in a folder.
func (a *app) initIn(c *cobra.Command, root string, o initOptions) error {
	if done, err := a.settle(c.Context(), root); done || err != nil {
		return err
	}
	if err := a.checkNew(root); err != nil {
		return err
	}
	if o.interactive {
		if err := a.askInit(c, root, &o); err != nil {
			return err
		}
	}
	data, err := a.initData(root, o)
	if err != nil {
		return err
	}
	err = a.apply(c.Context(), root, func(tree *worktree.Tree) error {
		if err := a.checkNew(root); err != nil {
			return err
		}
		return a.scaffoldInit(tree, data)
	})
	if err != nil || a.dryRun {
		return err
	}
	if o.fetchDeps {
		if err := a.fetchDeps(c.Context(), root); err != nil {
			return err
		}
	}
	if o.domain == defaultDomain {
		a.notef("note: the domain of the API groups is %s; --domain chooses another", o.domain)
	}
	a.nextf("add an API with '%s create api'", a.program)
	return nil
}

// checkNew refuses a folder that is part of a project.
func (a *app) checkNew(root string) error {
	known, err := project.FindRoot(a.FS, root)
	switch {
	case errors.Is(err, project.ErrNotAProject):
		return nil
	case err != nil:
		return err
	case known == root:
		return fmt.Errorf("this directory is already a project: it has a %s file; nothing was written", project.FileName)
	}
	if _, err := project.Load(a.FS, known); err != nil {
		return nil
	}
	rel, err := filepath.Rel(root, known)
	if err != nil {
		return err
	}
	return fmt.Errorf("this directory is part of the project in %s; start a project outside of it, or run '%s create api' to add to it",
		filepath.ToSlash(rel), a.program)
}

// askInit asks for the domain if it is not given, and for the project name and module path if nothing else
// determines them.
func (a *app) askInit(c *cobra.Command, root string, o *initOptions) error {
	ask := func(flag string, value *string, q Question) (err error) {
		if *value, err = a.prompt().Input(q); err == nil {
			a.answered = append(a.answered, "--"+flag, *value)
		}
		return err
	}
	if !c.Flags().Changed("domain") {
		if err := ask("domain", &o.domain, Question{Text: "Domain of the API groups", Example: "example.com", Default: defaultDomain,
			Check: func(domain string) error { return project.CheckDomain(domain).Err() }}); err != nil {
			return err
		}
	}
	name := o.projectName
	if name == "" {
		var wrong project.Findings
		if name, wrong = project.ProjectNameFromDir(filepath.Base(root)); len(wrong) > 0 {
			if err := ask("project-name", &o.projectName, Question{Text: "Name of the project", Example: "memcached-operator", Default: wrong[0].Suggestion,
				Check: func(name string) error { return project.CheckProjectName(name).Err() }}); err != nil {
				return err
			}
			name = o.projectName
		}
	}
	_, unknown := project.InferRepo(a.FS, root, a.gopath())
	if exists, err := afero.Exists(a.FS, filepath.Join(root, "go.mod")); o.repo == "" && unknown != nil && !exists && err == nil {
		return ask("repo", &o.repo, Question{Text: "Go module path", Example: "github.com/example/memcached-operator", Default: o.domain + "/" + name,
			Check: func(repo string) error { return project.CheckRepo(repo).Err() }})
	}
	return nil
}

// initData validates everything at once and gives what the templates need.
func (a *app) initData(root string, o initOptions) (scaffold.Data, error) {
	var findings project.Findings
	findings = append(findings, project.CheckDomain(o.domain)...)
	findings = append(findings, project.CheckProjectVersion(a.projectVersion)...)
	plugins, wrong := project.CheckPlugins(a.plugins)
	findings = append(findings, wrong...)
	if plugins.DeployImage {
		findings = append(findings, project.Finding{
			Field: "--plugins", Value: "deploy-image/v1-alpha", Problem: "belongs to create api, as does --image; leave it out here",
		})
	}
	findings = append(findings, a.checkHeader(o)...)
	name := o.projectName
	if name == "" {
		name, wrong = project.ProjectNameFromDir(filepath.Base(root))
		findings = append(findings, wrong...)
	} else {
		findings = append(findings, project.CheckProjectName(name)...)
	}
	repo := o.repo
	if repo == "" {
		var err error
		repo, err = project.InferRepo(a.FS, root, a.gopath())
		if err != nil {
			findings = append(findings, project.Finding{Field: "--repo", Problem: "cannot be derived: " + err.Error()})
		}
	} else {
		findings = append(findings, project.CheckRepo(repo)...)
	}
	if len(findings) > 0 {
		return scaffold.Data{}, findings
	}
	data := scaffold.Data{
		Project: scaffold.Project{
			Name: name, Domain: o.domain, Repo: repo, MultiGroup: o.multigroup, Namespaced: o.namespaced, CLIName: a.program,
		},
		Versions: pinnedVersions(),
	}
	var err error
	data.Project.Boilerplate, err = a.header(o)
	return data, err
}

// checkHeader validates what the header of Go files is made of.
func (a *app) checkHeader(o initOptions) project.Findings {
	var findings project.Findings
	if strings.Contains(o.owner, "*/") || strings.ContainsFunc(o.owner, unicode.IsControl) {
		findings = append(findings, project.Finding{
			Field: "--owner", Value: o.owner, Problem: "must be one line and must not hold */, as it stands in a comment",
		})
	}
	if o.licenseFile == "" {
		return append(findings, project.CheckLicense(o.license)...)
	}
	text, err := a.readGiven(o.licenseFile)
	switch {
	case err != nil:
		findings = append(findings, project.Finding{Field: "--license-file", Value: o.licenseFile, Problem: err.Error()})
	case !action.IsComment(text):
		findings = append(findings, project.Finding{
			Field: "--license-file", Value: o.licenseFile, Problem: "must hold a Go comment, /* … */ or lines that start with //",
		})
	}
	return findings
}

// gopath is what the go command takes GOPATH to be, without running it.
func (a *app) gopath() string {
	if path := a.Getenv("GOPATH"); path != "" {
		return path
	}
	for _, key := range []string{"HOME", "USERPROFILE"} {
		if home := a.Getenv(key); home != "" {
			return filepath.Join(home, "go")
		}
	}
	return ""
}

// header is the comment that starts Go files. checkHeader has passed.
func (a *app) header(o initOptions) (string, error) {
	if o.licenseFile == "" {
		return scaffold.LicenseHeader(o.license, copyright(o.owner, ""))
	}
	return a.readGiven(o.licenseFile)
}

// year is the year of SOURCE_DATE_EPOCH, for the headers of projects that ask for the current one with YEAR. It is empty
// without that variable: the same input gives the same bytes. A header without YEAR does not depend on either.
func (a *app) year() string {
	at, given, err := a.sourceDate()
	if !given || err != nil {
		return ""
	}
	return strconv.Itoa(at.Year())
}

// copyright is the notice of the header, empty where there is neither an owner nor a year.
func copyright(owner, year string) string {
	words := strings.TrimSpace(year + " " + owner)
	if words == "" {
		return ""
	}
	return "Copyright " + strings.TrimSuffix(words, ".") + "."
}

// scaffoldInit writes the project and its PROJECT file into the tree.
func (a *app) scaffoldInit(tree *worktree.Tree, data scaffold.Data) error {
	report, err := scaffold.Init(tree, data)
	if err != nil {
		return err
	}
	config, err := project.New(project.Options{
		Domain: data.Project.Domain, Repo: data.Project.Repo, ProjectName: data.Project.Name,
		MultiGroup: data.Project.MultiGroup, Namespaced: data.Project.Namespaced,
	})
	if err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	if _, err := scaffold.UpdateRequirements(tree); err != nil {
		return err
	}
	if len(report.Kept) > 0 {
		a.notef("kept as they are: %s", strings.Join(report.Kept, ", "))
	}
	return nil
}

// fetchDeps fills the module cache; it is the one step of init that needs a network.
func (a *app) fetchDeps(ctx context.Context, root string) error {
	a.progressf("downloading modules: go mod download")
	err := a.runGo(ctx, root, nil, a.Err, a.Err, "mod", "download")
	switch {
	case is[*codegen.EnvironmentError](err):
		return fmt.Errorf("the project is complete, but its modules could not be downloaded: %w, then run 'go mod download'", err)
	case err != nil:
		return fmt.Errorf("the project is complete, but its modules could not be downloaded: %w; run 'go mod download' when the network is back", err)
	}
	return nil
}
