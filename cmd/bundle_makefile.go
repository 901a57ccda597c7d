package cmd

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// bundleTarget is the target of a Makefile that generates the bundle.
const bundleTarget = "bundle"

// followMakefile sets the options that the command line leaves open to the flags that the bundle target of the project's
// Makefile gives generate bundle and generate kustomize manifests.
func (a *app) followMakefile(c *cobra.Command, o *bundleFlags) error {
	root, err := a.projectRoot()
	if err != nil {
		return err
	}
	m, err := calls.ReadMakefile(worktree.NewTree(a.FS, root))
	if m == nil || err != nil {
		return err
	}
	o.ProjectVersion = m.Value("VERSION")
	// Flags that commands share are fields of the app, and those of the Makefile are not the user's.
	other := &app{Env: a.Env, result: &result{}, program: a.program}
	for _, command := range m.Commands(bundleTarget) {
		for _, words := range m.SimpleCommands(command) {
			i := slices.Index(words, "generate")
			if i < 1 {
				continue
			}
			var flags *pflag.FlagSet
			switch rest := words[i+1:]; {
			case len(rest) > 0 && rest[0] == "bundle":
				flags, words = newGenerateBundle(other).Flags(), rest[1:]
			case len(rest) > 1 && rest[0] == "kustomize" && rest[1] == "manifests":
				flags, words = newGenerateKustomizeManifests(other).Flags(), rest[2:]
			default:
				continue
			}
			flags.BoolP("quiet", "q", false, "")
			flags.Bool("verbose", false, "")
			flags.StringSlice("plugins", nil, "")
			if err := flags.Parse(words); err != nil {
				a.notef("note: %s: the flags of this command are not followed: %v", command.Position, err)
				continue
			}
			if err := a.applyFlags(c, flags, m, command.Position, root, o); err != nil {
				return err
			}
		}
	}
	if action.BundleVersionProblem(o.ProjectVersion) != "" {
		o.ProjectVersion = ""
	}
	return nil
}

// applyFlags sets flags of bundle, and of its steps, that were parsed from a command of the Makefile.
func (a *app) applyFlags(c *cobra.Command, flags *pflag.FlagSet, m *calls.Makefile, at diag.Position, root string, o *bundleFlags) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		own := c.Flags().Lookup(f.Name)
		switch {
		case err != nil || slices.Contains([]string{"quiet", "verbose", "plugins", "interactive"}, f.Name):
		case !m.IsResolved(value):
			a.notef("note: %s: --%s is not followed, as it depends on the output of a command", at, f.Name)
		case f.Name == allowRemoteFlag:
			a.notef("note: %s: --%s is not followed; only you can allow it", at, f.Name)
		case f.Name == "version":
			o.ProjectVersion = value
		case f.Name == "overwrite":
			o.KeepMetadata = value == "false" && !c.Flags().Changed("channels") && !c.Flags().Changed("default-channel")
		case f.Name == "input-dir" && flags.Lookup("apis-dir") != nil:
			o.Base.InputDir = absolute(root, filepath.FromSlash(value))
		case f.Name == "output-dir" && flags.Lookup("apis-dir") != nil:
			o.Base.OutputDir = absolute(root, filepath.FromSlash(value))
		case f.Name == "apis-dir":
			o.Base.APIsDir = absolute(root, filepath.FromSlash(value))
		case own == nil:
			a.notef("note: %s: --%s is not followed; use '%s generate bundle' where the bundle depends on it", at, f.Name, a.program)
		case own.Changed:
		default:
			if s, ok := f.Value.(pflag.SliceValue); ok {
				err = own.Value.(pflag.SliceValue).Replace(s.GetSlice())
			} else {
				if f.Name == "output-dir" || f.Name == "kustomize-dir" {
					value = absolute(root, filepath.FromSlash(value))
				}
				err = own.Value.Set(value)
			}
			if err != nil {
				err = fmt.Errorf("%s: --%s %q: %w", at, f.Name, f.Value, err)
			}
			a.verbosef("%s: --%s %s", at, f.Name, f.Value)
		}
	})
	return err
}
