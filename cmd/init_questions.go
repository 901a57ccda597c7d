package cmd

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/prompt"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
)

// askInit asks for the layout unless flags decide it, for the domain if it is not given, and for the project name and the module path of a
// Go project if they cannot be derived.
func (a *app) askInit(c *cobra.Command, root string, o *initOptions) error {
	layouts := a.initLayouts(c)
	return a.askFlags(c, func(answers prompt.Answers) []prompt.Step {
		var steps []prompt.Step
		facts := cmp.Or(o.Plugins.Layout, layout.Go())
		if len(layouts) > 1 {
			step := prompt.Step{Name: "plugins", Decides: true, Question: prompt.Question{Text: "What do you write the operator with?"}}
			for _, l := range layouts {
				step.Options = append(step.Options, prompt.Option{Value: l.Family(), Text: l.Name})
				if l.Family() == answers["plugins"] {
					facts = l
				}
			}
			steps = append(steps, step)
			if answers["plugins"] == "" {
				return steps
			}
		}
		return append(steps, a.initSteps(c, root, o, facts, answers)...)
	})
}

// initLayouts returns the layouts that init asks about: all that have the given flags, or none if flags decide it.
func (a *app) initLayouts(c *cobra.Command) []*layout.Facts {
	if anyGiven(c, []string{"plugins", "domain", "repo"}) {
		return nil
	}
	var layouts []*layout.Facts
	for _, l := range a.layouts() {
		if len(refuse(c, l.Facts, "init")) == 0 {
			layouts = append(layouts, l.Facts)
		}
	}
	return layouts
}

// initSteps returns the questions for a layout.
func (a *app) initSteps(c *cobra.Command, root string, o *initOptions, facts *layout.Facts, answers prompt.Answers) []prompt.Step {
	var steps []prompt.Step
	if !c.Flags().Changed("domain") {
		steps = append(steps, prompt.Step{Name: "domain", Question: prompt.Question{Text: "Domain of the API groups", Example: "example.com", Default: action.DefaultDomain,
			Check: func(domain string) error { return project.CheckDomain(domain).Err() }}})
	}
	name := o.ProjectName
	if name == "" {
		var findings diag.Findings
		if name, findings = project.ProjectNameFromDir(filepath.Base(root)); len(findings) > 0 {
			steps = append(steps, prompt.Step{Name: "project-name", Question: prompt.Question{Text: "Name of the project", Example: "memcached-operator", Default: findings[0].Suggestion,
				Check: func(name string) error { return project.CheckProjectName(name).Err() }}})
			name = answers["project-name"]
		}
	}
	if facts.NoModule != "" {
		return steps
	}
	_, _, underivable := project.InferRepo(a.FS, root, a.GOPATH())
	if exists, err := afero.Exists(a.FS, filepath.Join(root, "go.mod")); o.Repo == "" && underivable != nil && !exists && err == nil {
		steps = append(steps, prompt.Step{Name: "repo", Question: prompt.Question{Text: "Go module path", Example: "github.com/example/memcached-operator",
			Default: cmp.Or(answers["domain"], o.Domain) + "/" + name, Check: func(repo string) error { return project.CheckRepo(repo).Err() }}})
	}
	return steps
}
