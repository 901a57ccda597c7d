package calls

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/makefile"
)

// execute evaluates a command after expansion.
func (s *shell) execute(words []string, local map[string]string) {
	if args, ok := s.controllerGen(words); ok {
		s.foreign = s.foreign || !slices.Contains([]string{"operon", "operator-sdk", "kubebuilder"}, path.Base(words[0]))
		s.call(args)
		return
	}
	if s.bundle != nil && s.bundleCommand(words) {
		return
	}
	program := path.Base(words[0])
	switch {
	case program == "cd" || program == "pushd":
		if program == "pushd" {
			s.stack = append(s.stack, s.dir)
		}
		if len(words) > 1 && words[1] != "-" {
			s.dir = s.relative(words[len(words)-1])
		}
	case program == "popd":
		if n := len(s.stack); n > 0 {
			s.dir, s.stack = s.stack[n-1], s.stack[:n-1]
		}
	case strings.Contains(words[0], "make") && isMake(words[0]):
		s.summarize(words, func() { s.make(words[1:], local) })
	case program == "go" && len(words) > 1 && words[1] == "generate":
		s.goGenerate(s.dir)
	case slices.Contains([]string{"sh", "bash", "source", "."}, program) && len(words) > 1 && s.isScript(words[1]):
		s.summarize(words, func() { s.nested(words[1], words[2:], local) })
	case s.isScript(words[0]):
		s.summarize(words, func() { s.nested(words[0], words[1:], local) })
	case isOperon(words):
		s.scaffolded = true
	case (s.isAfterCall || s.bundle != nil) && !isProgram(words[0], "controller-gen") && (s.writes != "" || !isHarmless(words)):
		s.noteCommand(words)
	}
}

// noteCommand adds a note about a command that may change generated files, one per line of a makefile. A script has one for all its
// commands after controller-gen, and one per line where it generates the bundle.
func (s *shell) noteCommand(words []string) {
	place := s.at.String()
	summarized := s.inScript && s.bundle == nil
	if summarized {
		place = s.at.File
	}
	if s.noted[place] {
		return
	}
	s.noted[place] = true
	text := strings.TrimSpace(strings.Join(words, " ") + " " + s.writes)
	text = strings.ReplaceAll(s.readable(text), s.root+"/", "")
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 80 {
		text = text[:77] + "..."
	}
	if summarized {
		text += ", and the commands after it"
	}
	after := " after controller-gen"
	if s.bundle != nil {
		after = ""
	}
	s.addNote(s.at, "not run%s: %s", after, text)
}

func (s *shell) isScript(word string) bool {
	return path.Ext(word) == ".sh" && s.read(s.relative(word)) != nil
}

// isMake reports whether a word is the make program.
func isMake(word string) bool { return slices.Contains([]string{"make", "gmake"}, path.Base(word)) }

// isOperon reports whether a command is the generate command of Operon.
func isOperon(words []string) bool {
	return len(words) > 1 && strings.TrimSuffix(path.Base(words[0]), ".exe") == "operon" && words[1] == "generate" &&
		(len(words) == 2 || strings.HasPrefix(words[2], "-") || words[2] == "code" || words[2] == "manifests")
}

// programVersion matches the version and the suffix of Windows in the file name of a program.
var programVersion = lazyregexp.New(`(/v\d+)?([-_@]v?\d[^/]*|@[^/]*)?(\.exe)?$`)

// isProgram reports whether a word names a program, such as controller-gen.
func isProgram(word, name string) bool {
	if !strings.Contains(word, name) || strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return false
	}
	if start := strings.LastIndex(word, "$("); start >= 0 && strings.HasSuffix(word, ")") {
		return strings.Contains(word[start:], name)
	}
	return path.Base(programVersion.ReplaceAllString(word, "")) == name
}

// controllerGen returns the arguments of a command that runs controller-gen with a generator.
func (s *shell) controllerGen(words []string) ([]string, bool) {
	args, ok := s.argumentsOf(words, "controller-gen")
	return args, ok && slices.ContainsFunc(args, func(arg string) bool { return codegen.GeneratorOf(arg) != 0 })
}

// argumentsOf returns the arguments of a command that runs a program, itself or through another one.
func (s *shell) argumentsOf(words []string, program string) ([]string, bool) {
	i := slices.IndexFunc(words, func(word string) bool { return isProgram(s.readable(word), program) })
	if i < 0 {
		return nil, false
	}
	if i > 0 {
		switch path.Base(words[0]) {
		case "go":
			if !slices.Contains([]string{"run", "tool"}, words[1]) {
				return nil, false
			}
		case "env", "nice", "xargs", "docker", "podman", "operon", "operator-sdk", "kubebuilder", "bingo", "mise", "asdf":
		default:
			if words[i-1] != "tool" && words[i-1] != "run" {
				return nil, false
			}
		}
	}
	return words[i+1:], true
}

// call adds a call of controller-gen, or a note why it is not supported.
func (s *shell) call(args []string) {
	s.isAfterCall = true
	for _, arg := range args {
		s.found |= codegen.GeneratorOf(arg) & codegen.All
	}
	unsupported := func(problem string) {
		s.addNote(s.at, "controller-gen is not run: %s; set generate.calls in %s", problem, configFile)
	}
	if strings.Contains(s.dir, unresolvedStart) {
		unsupported("directory " + s.readable(s.dir) + " cannot be evaluated")
		return
	}
	for _, arg := range args {
		if readable := s.readable(arg); readable != arg {
			unsupported(readable + " cannot be evaluated")
			return
		}
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, codegen.TagsFlag) {
			unsupported("flag " + arg + " is not supported")
			return
		}
	}
	dir := s.dir
	if dir == "." {
		dir = ""
	}
	s.calls = append(s.calls, codegen.Call{Dir: dir, Args: slices.Clone(args), Source: s.at})
}

// readable returns text with the source of unresolved parts.
func (s *shell) readable(text string) string {
	if s.describe != nil {
		text = s.describe(text)
	}
	return unresolvedParts.Replace(text)
}

var unresolvedParts = strings.NewReplacer(unresolvedStart, "$(", unresolvedEnd, ")", unresolvedSpace, " ")

// relative returns a directory relative to the project. One that is unresolved or outside of the project is not changed.
func (s *shell) relative(dir string) string {
	if rest, ok := strings.CutPrefix(dir, s.root+"/"); ok {
		return path.Clean(rest)
	}
	if dir == s.root {
		return "."
	}
	if path.IsAbs(dir) || strings.Contains(dir, unresolvedStart) {
		return dir
	}
	return path.Join(s.dir, dir)
}

// make evaluates a call of make. Variables before the command are its environment.
func (s *shell) make(words []string, local map[string]string) {
	defer func(env, overrides map[string]string) { s.environment, s.overrides = env, overrides }(s.environment, s.overrides)
	plain := func(value string) string {
		if s.describe != nil {
			return s.describe(value) // placeholders are numbered for each makefile
		}
		return value
	}
	s.environment, s.overrides = maps.Clone(s.environment), maps.Clone(s.overrides)
	for name, value := range local {
		s.environment[name] = plain(value)
	}
	dir, file := s.dir, ""
	var targets []string
	for i := 0; i < len(words); i++ {
		switch word := words[i]; {
		case (word == "-C" || word == "-f") && i+1 < len(words):
			i++
			if word == "-C" {
				dir = s.relative(words[i])
			} else {
				file = words[i]
			}
		case strings.HasPrefix(word, "-"):
		case assignment.MatchString(word):
			name, value, _ := strings.Cut(word, "=")
			s.overrides[name] = plain(value)
		default:
			targets = append(targets, word)
		}
	}
	names := []string{file}
	if file == "" {
		names = makefileNames()
	}
	for _, name := range names {
		if !s.mayNest() || s.read(path.Join(dir, name)) == nil {
			continue
		}
		s.nestings++
		if m, err := s.evaluateIn(dir, name); err == nil {
			if len(targets) == 0 && len(m.Targets()) > 0 {
				targets = m.Targets()[:1]
			}
			s.targets(m, dir, targets...)
		}
		return
	}
}

// evaluateIn evaluates a makefile in a directory, or returns it if it was evaluated with the same variables before.
func (f *finder) evaluateIn(dir, name string) (*makefile.Makefile, error) {
	key := fmt.Sprintf("%q %q %q %q", dir, name, f.environment, f.overrides)
	if m, ok := f.makefiles[key]; ok {
		return m, nil
	}
	m, err := makefile.Evaluate(name, f.options(dir))
	if err == nil {
		f.makefiles[key] = m
	}
	return m, err
}

// nested evaluates a script that a command runs.
func (s *shell) nested(name string, args []string, local map[string]string) {
	inner := &shell{finder: s.finder, dir: s.dir, variables: map[string]string{}, isAfterCall: s.isAfterCall}
	maps.Copy(inner.variables, s.variables)
	maps.Copy(inner.variables, local)
	inner.script(s.relative(name), args)
	s.isAfterCall = inner.isAfterCall
}

// script evaluates a file.
func (s *shell) script(name string, args []string) {
	if !s.mayNest() {
		return
	}
	s.nestings++
	s.depth++
	defer func() { s.depth-- }()
	data := string(s.read(name))
	first, _, _ := strings.Cut(data, "\n")
	s.bash, s.inScript, s.at = strings.Contains(first, "bash"), true, diag.Position{File: name, Line: 1}
	s.arguments = append([]string{"./" + name}, args...)
	if s.dir != "." && s.dir != "" {
		s.arguments[0] = s.root + "/" + name
	}
	s.run(strings.ReplaceAll(data, "\r\n", "\n"))
}

// isHarmless reports whether a command changes no generated files.
func isHarmless(words []string) bool {
	subcommand := func(names string) bool {
		return len(words) > 1 && slices.Contains(strings.Fields(names), words[1])
	}
	switch path.Base(words[0]) {
	case "echo", "printf", "true", ":", "mkdir", "test", "[", "[[", "command", "which", "set", "trap", "exit", "return",
		"chmod", "gofmt", "goimports", "type", "unset", "shift", "popd", "read", "break", "continue", "case", "esac", "ls",
		"wait", "sleep", "diff", "grep", "source", ".":
		return true
	case "go":
		return subcommand("fmt vet install get build mod version env list test work")
	case "git":
		return subcommand("diff status rev-parse describe")
	}
	return strings.HasSuffix(words[0], "golangci-lint")
}
