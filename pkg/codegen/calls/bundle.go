package calls

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/makefile"
)

// BundleTarget is the target of a Makefile that generates the bundle.
const BundleTarget = "bundle"

// Bundle describes how the Makefile of a project generates its bundle.
type Bundle struct {
	// Target is the target that generates it: bundle, otherwise the first with the command generate bundle in its recipe. It is
	// empty if there is none.
	Target string
	// Version is the value of the variable VERSION.
	Version string
	// Commands are the commands to follow, in order.
	Commands []BundleCommand
	// Notes describe the other commands of the target and of its prerequisites, each after FILE:LINE.
	Notes []string
}

// A BundleStep is what a command does for a bundle.
type BundleStep int

const (
	// GenerateBundle is the command generate bundle.
	GenerateBundle BundleStep = iota
	// KustomizeManifests is the command generate kustomize manifests.
	KustomizeManifests
	// SetImage is the command kustomize edit set image.
	SetImage
)

// A BundleCommand is a command of a Makefile, or of a script that it runs.
type BundleCommand struct {
	diag.Position
	Step BundleStep
	// Args are the arguments after the name of the step. IsResolved reports whether one can be followed. Text is for messages.
	Args []string
	Text string
	// Dir is the directory that the command runs in, relative to the project.
	Dir string
	// Piped reports whether the command reads the output of others. Build is the kustomization among these, relative to the
	// project, and empty if there is none, and BuildFlags are the flags of kustomize build.
	Piped      bool
	Build      string
	BuildFlags []string
}

// A build is the kustomization that a command builds, relative to the project, or empty, and its flags.
type build struct {
	dir   string
	flags []string
}

// FindBundle returns how the Makefile of a project generates its bundle. It returns nil if there is no Makefile.
func FindBundle(files Files) (*Bundle, error) {
	f := newFinder(files)
	m, err := f.evaluate()
	if m == nil || err != nil {
		return nil, err
	}
	version := m.Value("VERSION")
	for _, target := range append([]string{BundleTarget}, m.Targets()...) {
		if target != BundleTarget && !generatesBundle(m, target) {
			continue
		}
		other := newFinder(files)
		other.nestings, other.bundle = f.nestings, &Bundle{Target: target, Version: version}
		other.targets(m, ".", target)
		if other.err != nil {
			return nil, other.err
		}
		f = other
		if slices.ContainsFunc(f.bundle.Commands, func(c BundleCommand) bool { return c.Step == GenerateBundle }) {
			f.bundle.Notes = f.notes
			return f.bundle, nil
		}
	}
	return &Bundle{Version: version}, f.err
}

// generatesBundle reports whether the recipe of a target itself generates a bundle.
func generatesBundle(m *makefile.Makefile, target string) bool {
	return slices.ContainsFunc(m.Commands(target), func(c makefile.Command) bool {
		return c.Target == target && strings.Contains(c.Text, "generate") && strings.Contains(c.Text, "bundle")
	})
}

// IsResolved reports whether a word does not depend on unknown output of a command or on an unknown variable of the shell.
func IsResolved(word string) bool {
	return !strings.Contains(word, unresolvedStart) && !makefile.IsUnresolved(word)
}

// installs matches a command that installs a program.
var installs = lazyregexp.New(`(?s)\bgo (install|get) |\b(curl|wget)\b.*(\bbin/|releases/download)|\bbin/.*\b(curl|wget)\b`)

// recipes returns the commands of targets. For a bundle, these do not include prerequisites that only install programs, and those
// with calls of controller-gen, which Find reports about.
func (f *finder) recipes(m *makefile.Makefile, targets []string) []makefile.Command {
	commands := m.Commands(targets...)
	if f.bundle == nil {
		return commands
	}
	var skipped []string
	for _, command := range commands {
		if installs.MatchString(command.Text) || providesProgram(m, command.Target) {
			skipped = append(skipped, command.Target)
		}
	}
	for _, command := range m.Commands("manifests", "generate") {
		skipped = append(skipped, command.Target)
	}
	return slices.DeleteFunc(commands, func(c makefile.Command) bool {
		return slices.Contains(skipped, c.Target) && !slices.Contains(targets, c.Target)
	})
}

// providesProgram reports whether a target is a program in a directory bin, or has the name of a variable for a program, such as
// operator-sdk and OPERATOR_SDK.
func providesProgram(m *makefile.Makefile, target string) bool {
	if path.Base(path.Dir(target)) == "bin" {
		return true
	}
	name := path.Base(target)
	value := m.Describe(m.Value(strings.ToUpper(strings.ReplaceAll(name, "-", "_"))))
	return isProgram(value, name) && (!strings.Contains(value, "/") || strings.Contains(value, "bin/"))
}

// summarize runs a nested makefile or script. If it does nothing to follow for the bundle, one note about the command replaces
// those about what it runs.
func (s *shell) summarize(words []string, run func()) {
	if s.bundle == nil {
		run()
		return
	}
	commands, notes := len(s.bundle.Commands), len(s.notes)
	run()
	if len(s.bundle.Commands) == commands && len(s.notes) > notes {
		s.notes = s.notes[:notes]
		s.noteCommand(words)
	}
}

// bundleCommand records a command that generates a part of the bundle. It returns false for other commands.
func (s *shell) bundleCommand(words []string) bool {
	if args, ok := s.kustomize(words); ok {
		switch {
		case args[0] != "edit":
			return s.writes == ""
		case len(args) > 3 && args[1] == "set" && args[2] == "image":
			s.follow(SetImage, args[3:])
			return true
		}
		return false
	}
	switch path.Base(words[0]) {
	case "echo", "printf", "grep":
		return false
	case "cp", "rm":
		// Some targets copy PROJECT to run operator-sdk in another directory.
		return slices.ContainsFunc(words, func(word string) bool { return path.Base(word) == "PROJECT" })
	}
	if i := slices.Index(words, "bundle"); i >= 0 && i+1 < len(words) && words[i+1] == "validate" {
		return true // every bundle is validated
	}
	i := slices.Index(words, "generate")
	if i < 0 {
		return false
	}
	flags, rest := i+1, i+1
	for rest < len(words) && strings.HasPrefix(words[rest], "-") {
		rest++
	}
	global := words[flags:rest]
	switch rest := words[rest:]; {
	case len(rest) > 0 && rest[0] == "bundle":
		s.follow(GenerateBundle, slices.Concat(global, rest[1:]))
	case len(rest) > 1 && rest[0] == "kustomize" && rest[1] == "manifests":
		s.follow(KustomizeManifests, slices.Concat(global, rest[2:]))
	default:
		return false
	}
	return true
}

// kustomize returns the arguments of a command that runs kustomize. A variable for the program may be set only in the environment.
func (s *shell) kustomize(words []string) ([]string, bool) {
	if words[0] == "build" || words[0] == "edit" {
		return words, true
	}
	if len(words) > 1 && words[1] == "kustomize" && slices.Contains([]string{"kubectl", "oc"}, path.Base(words[0])) {
		return append([]string{"build"}, words[2:]...), true
	}
	args, ok := s.argumentsOf(words, "kustomize")
	return args, ok && len(args) > 0 && args[0] != "manifests"
}

// follow records a command.
func (s *shell) follow(step BundleStep, args []string) {
	c := BundleCommand{Position: s.at, Step: step, Args: slices.Clone(args), Text: s.readable(strings.Join(args, " ")), Dir: s.dir, Piped: len(s.pipeline) > 0}
	for _, built := range s.pipeline {
		if built.dir != "" {
			c.Build, c.BuildFlags = built.dir, built.flags
		}
	}
	s.bundle.Commands = append(s.bundle.Commands, c)
}

// built returns what a command builds with kustomize.
func (s *shell) built(words []string) build {
	args, ok := s.kustomize(words)
	if !ok || args[0] != "build" {
		return build{}
	}
	b := build{dir: s.dir}
	for i := 1; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains([]string{"--load-restrictor", "--reorder", "--output", "-o", "--env", "-e", "--helm-command", "--mount", "--network-name"}, arg) && i+1 < len(args):
			i++
			b.flags = append(b.flags, arg+" "+args[i])
		case strings.HasPrefix(arg, "-"):
			b.flags = append(b.flags, arg)
		default:
			b.dir = s.relative(arg)
		}
	}
	return b
}
