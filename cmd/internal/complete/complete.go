// Package complete sets what shells offer for the flags and arguments of commands: files and directories where usage names them, and
// names from the project that the shell is in.
package complete

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/help"
	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scenario"
	"github.com/operon-sdk/operon/pkg/scorecard"
)

// A completer returns the values that a shell offers for a flag, given the arguments before it. Shells filter them by what the
// user has typed.
type completer func(c *cobra.Command, args []string) []string

// A Project is the project that the shell is in.
type Project struct {
	FS afero.Fs
	// Dir is the directory that arguments are relative to.
	Dir string
	// Root finds the directory of the project, and Config reads PROJECT. It returns nil if there is none.
	Root   func() (string, error)
	Config func() *project.Config
	// Contexts returns the names of the contexts of a kubeconfig, given the value of --kubeconfig.
	Contexts func(kubeconfig string) []string
}

// All sets the completion of all flags and arguments of a command and its sub-commands. Those without known values offer
// nothing, not even the files of the directory.
func (p *Project) All(c *cobra.Command) {
	values := p.flagValues()
	for _, flags := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) { completeFlag(c, flags, f, values) })
	}
	if c.ValidArgsFunction == nil && c.ValidArgs == nil && !c.HasSubCommands() {
		c.ValidArgsFunction = argumentPaths(c.Use)
	}
	for _, sub := range c.Commands() {
		p.All(sub)
	}
}

// fileExtensions returns the extensions of the files that a flag names, or none if it takes files with any.
func fileExtensions(flag string) []string {
	switch flag {
	case "icon":
		return []string{"svg", "png"}
	case "metadata-file":
		return []string{"yaml", "yml", "json"}
	case "config":
		return []string{"yaml", "yml"}
	}
	return nil
}

// completeFlag sets the completion of a flag by the name of its value, or else of the flag.
func completeFlag(c *cobra.Command, flags *pflag.FlagSet, f *pflag.Flag, values map[string]completer) {
	if _, ok := c.GetFlagCompletionFunc(f.Name); ok {
		return
	}
	complete := cobra.NoFileCompletions
	switch help.ValueName(f) {
	case "file", "paths":
		_ = cobra.MarkFlagFilename(flags, f.Name, fileExtensions(f.Name)...) // the only error is a flag that does not exist
		return
	case "directory":
		_ = cobra.MarkFlagDirname(flags, f.Name)
		return
	}
	if f.Value.Type() == "bool" {
		complete = cobra.FixedCompletions([]string{"true", "false"}, cobra.ShellCompDirectiveNoFileComp)
	} else if valuesOf, ok := values[f.Name]; ok {
		_, list := f.Value.(pflag.SliceValue)
		complete = func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			offers := slices.Clone(valuesOf(c, args))
			if i := strings.LastIndex(typed, ","); list && i >= 0 {
				for j := range offers {
					offers[j] = typed[:i+1] + offers[j]
				}
			}
			slices.Sort(offers)
			return slices.Compact(offers), cobra.ShellCompDirectiveNoFileComp
		}
	}
	_ = c.RegisterFlagCompletionFunc(f.Name, complete)
}

// argumentPaths returns the completion of arguments that are paths, according to their names in a usage line.
func argumentPaths(use string) cobra.CompletionFunc {
	_, arguments, _ := strings.Cut(use, " ")
	first, _, _ := strings.Cut(strings.Trim(arguments, "[]"), " ")
	switch {
	case first == "ARGUMENT]...": // another program's arguments
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	case first == "DIR":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case strings.Contains(first, "ARCHIVE"):
		return cobra.FixedCompletions([]string{"tgz"}, cobra.ShellCompDirectiveFilterFileExt)
	case strings.Contains(first, "DIR"), first == "SOURCE", first == "IMAGE...": // tarballs, too
		return cobra.FixedCompletions([]string{"tar"}, cobra.ShellCompDirectiveFilterFileExt)
	}
	return cobra.NoFileCompletions
}

// flagValues returns the values of flags by name, from the project that the shell is in.
func (p *Project) flagValues() map[string]completer {
	fixed := func(values ...string) completer {
		return func(*cobra.Command, []string) []string { return values }
	}
	versions := p.resourceNames(func(r project.Resource) []string { return []string{r.Version} })
	others := func(c *cobra.Command, args []string) []string {
		given := c.Flags().Lookup("version").Value.String()
		return slices.DeleteFunc(versions(c, args), func(version string) bool { return version == given })
	}
	channels := fixed("alpha", "beta", "candidate", "fast", "stable")
	platforms := fixed("linux/amd64", "linux/arm64", "linux/ppc64le", "linux/s390x")
	return map[string]completer{
		"group":           p.resourceNames(func(r project.Resource) []string { return []string{r.Group} }),
		"kind":            p.resourceNames(func(r project.Resource) []string { return []string{r.Kind} }),
		"version":         versions,
		"spoke":           p.spokes,
		"from":            func(c *cobra.Command, args []string) []string { return append(others(c, args), project.NoVersion) },
		"controller-name": p.resourceNames(func(r project.Resource) []string { return r.Controllers }),
		"api-version":     p.resourceNames(func(r project.Resource) []string { return []string{r.QualifiedGroup() + "/" + r.Version} }),
		"domain": func(c *cobra.Command, _ []string) []string {
			if config := p.Config(); config != nil {
				return []string{config.Domain()}
			}
			return nil
		},
		"context": func(c *cobra.Command, _ []string) []string {
			return p.Contexts(c.Flags().Lookup("kubeconfig").Value.String())
		},
		"package": p.name, "operator-name": p.name,
		"plugins":         fixed(layout.Go().Short()),
		"project-version": fixed(project.ProjectVersion),
		"channel":         channels, "channels": channels, "default-channel": channels, "csv-channel": channels,
		"platform":        platforms,
		"maturity":        fixed("planning", "pre-alpha", "alpha", "beta", "stable", "mature", "inactive", "deprecated"),
		"selector":        p.testLabels,
		"select-optional": validatorLabels,
		"scenario":        p.scenarios,
	}
}

// name returns the name of the project, which is also its package's name.
func (p *Project) name(*cobra.Command, []string) []string {
	if config := p.Config(); config != nil {
		return []string{config.ProjectName()}
	}
	return nil
}

// resourceNames completes a flag by the project's resources.
func (p *Project) resourceNames(names func(project.Resource) []string) completer {
	return func(c *cobra.Command, _ []string) []string {
		anyVersion := c.Flags().Lookup("spoke") != nil || c.Flags().Lookup("from") != nil // the version is a new one, or one of two
		var found []string
		_, resources := p.resources(c, anyVersion)
		for _, r := range resources {
			found = append(found, names(r)...)
		}
		return found
	}
}

// spokes completes the versions that webhooks convert, or no longer convert.
func (p *Project) spokes(c *cobra.Command, _ []string) []string {
	var found []string
	config, resources := p.resources(c, false)
	for _, r := range resources {
		if c.Parent().Name() == "delete" {
			found = append(found, r.Webhooks.Spoke...)
		} else {
			found = append(found, config.MissingWebhooks(r).Spoke...)
		}
	}
	return found
}

// resources returns the project's resources that a command accepts, as far as they match --group, --version and --kind if these are given.
// Commands with flags of these names that are not about a resource get none.
func (p *Project) resources(c *cobra.Command, anyVersion bool) (*project.Config, []project.Resource) {
	config := p.Config()
	if config == nil || c.Flags().Lookup("kind") == nil {
		return nil, nil
	}
	matches := func(flag, name string) bool {
		f := c.Flags().Lookup(flag)
		return f == nil || !f.Changed || f.Value.String() == name
	}
	var found []project.Resource
	for _, r := range config.Resources() {
		if accepts(c, config, r) && matches("group", r.Group) && matches("kind", r.Kind) && (anyVersion || matches("version", r.Version)) {
			found = append(found, r)
		}
	}
	return config, found
}

// accepts reports whether a command can do something with a resource.
func accepts(c *cobra.Command, config *project.Config, r project.Resource) bool {
	_, command, _ := strings.Cut(c.CommandPath(), " ")
	switch command {
	case "create webhook":
		missing := config.MissingWebhooks(r)
		return r.Path != "" && (missing.Defaulting || missing.Validation || missing.Conversion || c.Flags().Changed("force"))
	case "delete webhook":
		return r.Webhooks != nil
	case "delete api":
		return r.HasAPI() || r.HasController()
	case "rename api":
		return config.Owns(r)
	}
	return true
}

// scenarios returns the names of the project's scenarios.
func (p *Project) scenarios(*cobra.Command, []string) []string {
	root, err := p.Root()
	if err != nil {
		return nil
	}
	names, _ := scenario.Names(afero.NewIOFS(afero.NewBasePathFs(p.FS, root))) // there is nothing to offer
	return names
}

// testLabels returns selectors of the scorecard tests of the bundle that is the argument, or else of the project's.
func (p *Project) testLabels(_ *cobra.Command, args []string) []string {
	dir := env.Absolute(p.Dir, "bundle")
	if len(args) > 0 {
		dir = env.Absolute(p.Dir, filepath.FromSlash(args[0]))
	} else if root, err := p.Root(); err == nil {
		dir = env.Absolute(root, "bundle")
	}
	config, err := scorecard.ReadConfig(scorecard.Bundle{FS: afero.NewIOFS(afero.NewBasePathFs(p.FS, dir))}, nil)
	if err != nil {
		return nil
	}
	var selectors []string
	for _, stage := range config.Stages {
		for _, test := range stage.Tests {
			for _, label := range slices.Sorted(maps.Keys(test.Labels)) {
				selectors = append(selectors, label+"="+test.Labels[label])
			}
		}
	}
	return selectors
}

// validatorLabels returns selectors of the optional validators of bundles.
func validatorLabels(*cobra.Command, []string) []string {
	var selectors []string
	for _, optional := range validate.Optionals() {
		selectors = append(selectors, "name="+optional.Name)
		if optional.Suite != "" {
			selectors = append(selectors, "suite="+optional.Suite)
		}
	}
	return selectors
}
