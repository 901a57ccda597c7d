// Package follow completes the options of the command bundle from the project's Makefile, whose bundle target generates the bundle
// with several commands: it parses their flags, and sets the options that the user's flags leave open.
package follow

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/codegen/calls"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// allowRemote is the flag that only the user can give.
const allowRemote = "allow-remote-resources"

// A followed command is one of the Makefile, with its parsed flags.
type followed struct {
	calls.BundleCommand
	flags *pflag.FlagSet
	// dir is the directory that the command runs in.
	dir string
	// unresolved are flags whose values depend on the output of commands.
	unresolved []string
}

// value returns the value of a flag, or empty if it is not given.
func (f *followed) value(flag string) string {
	if !f.flags.Changed(flag) {
		return ""
	}
	return f.flags.Lookup(flag).Value.String()
}

// path returns the value of a flag for a directory, or the default relative to the directory of the command.
func (f *followed) path(flag, fallback string) string {
	if given := f.value(flag); given != "" {
		fallback = given
	}
	return env.Absolute(f.dir, filepath.FromSlash(fallback))
}

// A Bundle is the call of the command bundle whose options are completed.
type Bundle struct {
	// Program is the name of the program in notes.
	Program string
	// Root is the directory of the project, and Dir the directory that the flags are relative to.
	Root, Dir string
	FS        afero.Fs
	// Flags are the flags of the call, and Options what they set.
	Flags   *pflag.FlagSet
	Options *bundles.Options
	// NewFlags returns the flags of the command of a step. The flags of the Makefile are not the user's: they set nothing else.
	NewFlags func(calls.BundleStep) *pflag.FlagSet
	// Notef prints a note, and Verbosef a detail.
	Notef, Verbosef func(format string, args ...any)
}

// Makefile sets the options that the command line leaves open to what the bundle target of the project's Makefile does, and
// reports the commands of the target that have no counterpart.
func (b *Bundle) Makefile() error {
	o := b.Options
	tree := worktree.NewTree(b.FS, b.Root)
	found, err := calls.FindBundle(tree)
	if found == nil || err != nil {
		return err
	}
	o.ProjectVersion = found.Version
	bundle, base := b.selectCommands(found)
	if base != nil {
		if err := b.applyFlags(base); err != nil {
			return err
		}
	}
	if bundle != nil {
		if err := b.applyFlags(bundle); err != nil {
			return err
		}
		o.KeepBase = base == nil && !b.setsBase()
		if err := b.followBuild(bundle); err != nil {
			return err
		}
		if bundle.Dir != "." {
			b.Notef("note: %s: this command writes its Dockerfile to %s; '%s bundle' writes it to the directory of the project", bundle.Position, bundle.Dir, b.Program)
		}
	}
	if bundles.VersionProblem(o.ProjectVersion) != "" {
		o.ProjectVersion = ""
	}
	if tree.CheckConflicts() == nil { // notes about a makefile with conflicts would follow from these
		b.noteImages(tree, found)
		for _, note := range found.Notes {
			b.Notef("note: %s", note)
		}
	}
	return nil
}

// followBuild sets the options of building the kustomization, and which one it is, unless the user gives one.
func (b *Bundle) followBuild(bundle *followed) error {
	o := b.Options
	for _, flag := range bundle.BuildFlags {
		if strings.ReplaceAll(flag, "=", " ") == "--load-restrictor LoadRestrictionsNone" {
			o.Loose = true
		} else {
			b.Notef("note: %s: %s of kustomize build is not followed", bundle.Position, flag)
		}
	}
	switch {
	case b.Flags.Changed("kustomize-dir"):
	case !calls.IsResolved(bundle.Build):
		return diag.Finding{Position: bundle.Position, Problem: "the directory of kustomize build depends on the output of a command", Fix: "pass it with --kustomize-dir"}
	case bundle.Build != "":
		o.Build, o.Source = env.Absolute(b.Root, filepath.FromSlash(bundle.Build)), bundle.Position
	case bundle.Piped:
		o.Source = bundle.Position
	}
	return nil
}

// setsBase reports whether flags of the user change the base.
func (b *Bundle) setsBase() bool {
	base := b.NewFlags(calls.KustomizeManifests)
	changes := false
	b.Flags.Visit(func(f *pflag.Flag) {
		changes = changes || f.Name == "replaces" || f.Name == "skip-range" || f.Name != "package" && base.Lookup(f.Name) != nil
	})
	return changes
}

// selectCommands returns the commands that generate the bundle and its base, or nil. Of several bundles, it is the one that flags
// name, otherwise the first that has the package of the project, as its last command generates it.
func (b *Bundle) selectCommands(found *calls.Bundle) (bundle, base *followed) {
	var bundles, bases []*followed
	for _, command := range found.Commands {
		if command.Step == calls.SetImage {
			continue
		}
		f, err := b.parse(command)
		switch {
		case err != nil:
			b.Notef("note: %s: the flags of this command are not followed: %v", command.Position, err)
		case command.Step == calls.GenerateBundle:
			bundles = append(bundles, f)
		default:
			bases = append(bases, f)
		}
	}
	if len(bundles) == 0 {
		if len(bases) > 0 {
			base = bases[len(bases)-1]
		}
		return nil, base
	}
	output := func(f *followed) string { return f.path("output-dir", project.BundleDir) }
	given := func(f *followed) bool {
		for _, flag := range []string{"output-dir", "kustomize-dir", "package"} {
			own := b.Flags.Lookup(flag)
			if own.Changed && (f.value(flag) == own.Value.String() || env.Absolute(b.Dir, filepath.FromSlash(own.Value.String())) == f.path(flag, "")) {
				return true
			}
		}
		return false
	}
	first := slices.IndexFunc(bundles, given)
	if first < 0 {
		first = max(0, slices.IndexFunc(bundles, func(f *followed) bool { return f.value("package") == "" }))
	}
	var others []string
	for _, f := range bundles {
		if output(f) == output(bundles[first]) {
			bundle = f
		} else if rel, err := filepath.Rel(b.Root, output(f)); err == nil && !slices.Contains(others, filepath.ToSlash(rel)) {
			others = append(others, filepath.ToSlash(rel))
		}
	}
	if len(others) > 0 {
		b.Notef("note: %s: the target %s generates other bundles, too: %s; --output-dir selects one", bundle.Position, found.Target, strings.Join(others, ", "))
	}
	if found.Target != calls.BundleTarget {
		b.Notef("note: %s: the Makefile has no target %s; this is the bundle of the target %s", bundle.Position, calls.BundleTarget, found.Target)
	}
	// The base belongs to the kustomization, if there is one for several.
	for _, f := range bases {
		if f.value("package") != bundle.value("package") {
			continue
		}
		out := f.path("output-dir", project.ManifestsDir)
		if base == nil || out == env.Absolute(b.Root, filepath.FromSlash(bundle.Build)) || out == bundle.path("kustomize-dir", project.ManifestsDir) {
			base = f
		}
	}
	return bundle, base
}

// parse parses the flags of a command of the Makefile.
func (b *Bundle) parse(command calls.BundleCommand) (*followed, error) {
	flags := b.NewFlags(command.Step)
	flags.BoolP("quiet", "q", false, "")
	flags.Bool("verbose", false, "")
	flags.StringSlice("plugins", nil, "")
	args, unresolved := resolved(command.Args)
	return &followed{command, flags, env.Absolute(b.Root, filepath.FromSlash(command.Dir)), unresolved}, flags.Parse(args)
}

// resolved returns arguments without those that depend on the output of commands, and the flags that these belong to.
func resolved(all []string) (args, unresolved []string) {
	for _, arg := range all {
		if calls.IsResolved(arg) {
			args = append(args, arg)
			continue
		}
		name, _, ok := strings.Cut(arg, "=")
		if last := len(args) - 1; !ok && last >= 0 && strings.HasPrefix(args[last], "-") {
			name, args = args[last], args[:last]
		}
		if strings.HasPrefix(name, "-") {
			unresolved = append(unresolved, name)
		}
	}
	return args, unresolved
}

// noteImages reports the images that the target sets and that the kustomizations do not have.
func (b *Bundle) noteImages(tree *worktree.Tree, found *calls.Bundle) {
	for _, command := range found.Commands {
		isManager := command.Dir == project.ManagerDir
		if command.Step != calls.SetImage || isManager && b.Options.Image != "" || !slices.ContainsFunc(command.Args, func(arg string) bool { return setsImage(tree, command.Dir, arg) }) {
			continue
		}
		advice := ""
		if isManager {
			advice = "; pass the image of the manager with --image"
		}
		b.Notef("note: %s: not run: kustomize edit set image %s%s", command.Position, command.Text, advice)
	}
}

// setsImage reports whether NAME=REFERENCE changes an image in the kustomization of a directory. The placeholder of the scaffold and
// an empty reference do not.
func setsImage(tree *worktree.Tree, dir, arg string) bool {
	name, ref, ok := strings.Cut(arg, "=")
	if !ok || ref == "" || ref == name+":latest" {
		return false
	}
	for _, file := range manifest.KustomizationFiles() {
		if data, err := tree.ReadOptional(path.Join(dir, file)); err == nil && data != nil {
			return manifest.ImageIn(data, name) != ref
		}
	}
	return false
}

// applyFlags sets flags of bundle, and of its steps, that were parsed from a command of the Makefile.
func (b *Bundle) applyFlags(from *followed) (err error) {
	o := b.Options
	at, isBase := from.Position, from.Step == calls.KustomizeManifests
	for _, flag := range from.unresolved {
		b.Notef("note: %s: %s is not followed, as it depends on the output of a command", at, flag)
	}
	from.flags.Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		own := b.Flags.Lookup(f.Name)
		switch {
		case err != nil || slices.Contains([]string{"quiet", "verbose", "plugins", "interactive"}, f.Name):
		case !calls.IsResolved(from.Dir) && strings.HasSuffix(f.Name, "-dir"):
			b.Notef("note: %s: --%s is not followed, as its directory depends on the output of a command", at, f.Name)
		case f.Name == allowRemote:
			b.Notef("note: %s: --%s is not followed; only you can allow it", at, f.Name)
		case f.Name == "version":
			o.ProjectVersion = value
		case f.Name == "overwrite":
			o.KeepMetadata = value == "false" && !b.Flags.Changed("channels") && !b.Flags.Changed("default-channel")
		case f.Name == "input-dir" && isBase:
			o.Base.InputDir = from.path(f.Name, "")
		case f.Name == "output-dir" && isBase:
			o.Base.OutputDir = from.path(f.Name, "")
		case f.Name == "apis-dir":
			o.Base.APIsDir = from.path(f.Name, "")
		case own == nil:
			b.Notef("note: %s: --%s is not followed; use '%s generate bundle' where the bundle depends on it", at, f.Name, b.Program)
		case own.Changed:
		default:
			if s, ok := f.Value.(pflag.SliceValue); ok {
				err = own.Value.(pflag.SliceValue).Replace(s.GetSlice())
			} else {
				if f.Name == "output-dir" || f.Name == "kustomize-dir" {
					value = from.path(f.Name, "")
				}
				err = own.Value.Set(value)
			}
			if err != nil {
				err = fmt.Errorf("%s: --%s %q: %w", at, f.Name, f.Value, err)
			}
			if f.Name == useDigests {
				o.DigestsSetAt = digestsSetAt(worktree.NewTree(b.FS, b.Root), at)
			}
			b.Verbosef("%s: --%s %s", at, f.Name, f.Value)
		}
	})
	return err
}
