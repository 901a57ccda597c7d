package calls

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/makefile"
)

// shell follows a script far enough to find the calls of controller-gen in it. It takes every branch of a condition and runs
// the body of a for loop for each word, and no program.
type shell struct {
	*finder
	dir       string // relative to the project, of the current command
	at        makefile.Position
	variables map[string]string
	arguments []string
	bash      bool
	// inScript reports whether line numbers count within the script.
	inScript bool
	// follows reports whether a call comes before the current command.
	follows bool
	stack   []string // directories of enclosing subshells
	steps   int
	base    int // the line that the script starts in
}

// maxSteps limits the commands that one script runs, which nested loops multiply.
const maxSteps = 10000

// run follows a script.
func (s *shell) run(script string) {
	s.base = s.at.Line
	s.list(tokenize(script))
}

// list follows tokens.
func (s *shell) list(tokens []token) {
	for i := 0; i < len(tokens) && s.steps < maxSteps; {
		if tokens[i].operator {
			switch tokens[i].text {
			case "(":
				s.stack = append(s.stack, s.dir)
			case ")":
				if n := len(s.stack); n > 0 {
					s.dir, s.stack = s.stack[n-1], s.stack[:n-1]
				}
			}
			i++
			continue
		}
		if tokens[i].text == "for" {
			if end := s.loop(tokens, i); end > i {
				i = end
				continue
			}
		}
		end := i
		for end < len(tokens) && !tokens[end].operator {
			end++
		}
		words := tokens[i:end]
		if s.inScript {
			s.at.Line = s.base + words[0].line
		}
		s.steps++
		s.command(words)
		i = end
	}
}

// loop follows for NAME in WORDS; do LIST; done, and returns the index behind it, or i if the tokens are something else.
func (s *shell) loop(tokens []token, i int) int {
	if i+2 >= len(tokens) || tokens[i+2].text != "in" {
		return i
	}
	words := i + 3
	body := words
	for body < len(tokens) && (tokens[body].operator || tokens[body].text != "do") {
		body++
	}
	depth, end := 0, body
	for ; end < len(tokens); end++ {
		if tokens[end].operator {
			continue
		}
		if tokens[end].text == "do" {
			depth++
		} else if tokens[end].text == "done" {
			if depth--; depth == 0 {
				break
			}
		}
	}
	if end >= len(tokens) {
		return i
	}
	for _, word := range tokens[words:body] {
		if word.operator {
			break
		}
		for _, value := range s.fields(word.text) {
			s.variables[tokens[i+1].text] = value
			s.list(tokens[body+1 : end])
		}
	}
	return end + 1
}

var (
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
	redirect   = regexp.MustCompile(`^[0-9&]*(>>?|<)(&?[0-9-]+$)?`)
)

// command follows a simple command.
func (s *shell) command(tokens []token) {
	for len(tokens) > 0 && slices.Contains([]string{"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "exec"}, tokens[0].text) {
		tokens = tokens[1:]
	}
	local := map[string]string{}
	for len(tokens) > 0 {
		if slices.Contains([]string{"export", "local", "readonly", "declare", "typeset"}, tokens[0].text) || strings.HasPrefix(tokens[0].text, "-") && len(local) > 0 {
			tokens = tokens[1:]
			continue
		}
		if !assignment.MatchString(tokens[0].text) {
			break
		}
		name, value, _ := strings.Cut(tokens[0].text, "=")
		value = strings.Join(s.fields("\"\""+value), " ")
		if plain, ok := strings.CutSuffix(name, "+"); ok {
			name, value = plain, s.variables[plain]+value
		}
		local[name] = value
		tokens = tokens[1:]
	}
	if len(tokens) == 0 {
		for name, value := range local {
			s.variables[name] = value
		}
		return
	}
	var words []string
	for _, word := range withoutRedirects(tokens) {
		words = append(words, s.fields(word.text)...)
	}
	if len(words) > 0 {
		s.execute(words, local)
	}
}

// withoutRedirects returns the words of a command without those that redirect its streams.
func withoutRedirects(tokens []token) []token {
	var words []token
	for i := 0; i < len(tokens); i++ {
		m := redirect.FindString(tokens[i].text)
		if m == "" {
			words = append(words, tokens[i])
		} else if m == tokens[i].text && strings.HasSuffix(strings.TrimSuffix(m, "<"), ">") || m == "<" {
			i++ // the file is the next word
		}
	}
	return words
}

// execute follows a command that is expanded.
func (s *shell) execute(words []string, local map[string]string) {
	if args, ok := s.controllerGen(words); ok {
		s.foreign = s.foreign || !slices.Contains([]string{"operon", "operator-sdk", "kubebuilder"}, path.Base(words[0]))
		s.call(args)
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
		s.make(words[1:])
	case program == "go" && len(words) > 1 && words[1] == "generate":
		s.goGenerate(s.dir)
	case slices.Contains([]string{"sh", "bash", "source", "."}, program) && len(words) > 1 && path.Ext(words[1]) == ".sh":
		s.nested(words[1], words[2:], local)
	case path.Ext(program) == ".sh":
		s.nested(words[0], words[1:], local)
	case isOperon(words):
		s.scaffolded = true
	case s.follows && !isControllerGen(words[0]) && !harmless(words):
		s.leaveOut(words)
	}
}

// leaveOut notes a command that may change what controller-gen wrote. One note is enough for a line and for a script.
func (s *shell) leaveOut(words []string) {
	place := s.at.String()
	if s.inScript {
		place = s.at.File
	}
	if s.leftOut[place] {
		return
	}
	s.leftOut[place] = true
	text := strings.ReplaceAll(s.readable(strings.Join(words, " ")), s.root+"/", "")
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 80 {
		text = text[:77] + "..."
	}
	more := ""
	if s.inScript {
		more = ", and what follows it there"
	}
	s.note(s.at, "not run after controller-gen: %s%s", text, more)
}

// isMake reports whether a word is the make program.
func isMake(word string) bool { return slices.Contains([]string{"make", "gmake"}, path.Base(word)) }

// isOperon reports whether a command is the generate command of Operon.
func isOperon(words []string) bool {
	return len(words) > 1 && strings.TrimSuffix(path.Base(words[0]), ".exe") == "operon" && words[1] == "generate" &&
		(len(words) == 2 || strings.HasPrefix(words[2], "-") || words[2] == "code" || words[2] == "manifests")
}

// programVersion matches what file names add to the name of a program: its version and the suffix of Windows.
var programVersion = regexp.MustCompile(`([-_@]v?\d[^/]*|@[^/]*)?(\.exe)?$`)

// isControllerGen reports whether a word names controller-gen.
func isControllerGen(word string) bool {
	if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
		return false
	}
	if start := strings.LastIndex(word, "$("); start >= 0 && strings.HasSuffix(word, ")") {
		return strings.Contains(word[start:], "controller-gen")
	}
	return path.Base(programVersion.ReplaceAllString(word, "")) == "controller-gen"
}

// controllerGen returns the arguments of a command that runs controller-gen with a generator.
func (s *shell) controllerGen(words []string) ([]string, bool) {
	i := slices.IndexFunc(words, func(word string) bool { return isControllerGen(s.readable(word)) })
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
	args := words[i+1:]
	return args, slices.ContainsFunc(args, func(arg string) bool { return generatorOf(arg) != "" })
}

// generators are the names of the generators of controller-gen; the bits are those of the generators that a project has by
// default.
func generators() map[string]codegen.Generators {
	return map[string]codegen.Generators{"object": codegen.Object, "crd": codegen.CRD, "rbac": codegen.RBAC, "webhook": codegen.Webhook, "schemapatch": 0, "applyconfiguration": 0}
}

// generatorOf returns the generator that an argument runs, or nothing.
func generatorOf(arg string) string {
	name, _, _ := strings.Cut(arg, "=")
	name, _, _ = strings.Cut(name, ":")
	if _, ok := generators()[name]; !ok {
		return ""
	}
	return name
}

// call records a call of controller-gen, or notes why it cannot be made.
func (s *shell) call(args []string) {
	s.follows = true
	for name, generator := range generators() {
		if slices.ContainsFunc(args, func(arg string) bool { return generatorOf(arg) == name }) {
			s.have |= generator
		}
	}
	if strings.Contains(s.dir, unresolvedStart) {
		s.note(s.at, "controller-gen is not run: directory %s cannot be evaluated; set generate.calls in %s", s.readable(s.dir), ConfigFile)
		return
	}
	for _, arg := range args {
		if readable := s.readable(arg); readable != arg {
			s.note(s.at, "controller-gen is not run: %s cannot be evaluated; set generate.calls in %s", readable, ConfigFile)
			return
		}
		if strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, codegen.TagsFlag) {
			s.note(s.at, "controller-gen is not run: flag %s is not supported; set generate.calls in %s", arg, ConfigFile)
			return
		}
	}
	dir := s.dir
	if dir == "." {
		dir = ""
	}
	s.calls = append(s.calls, codegen.Call{Dir: dir, Args: slices.Clone(args), Source: s.at.String()})
}

// readable returns text with the source of what could not be evaluated.
func (s *shell) readable(text string) string {
	if s.describe != nil {
		text = s.describe(text)
	}
	return strings.NewReplacer(unresolvedStart, "$(", unresolvedEnd, ")", unresolvedSpace, " ").Replace(text)
}

// relative returns a directory relative to the project. One that cannot be evaluated or is elsewhere is kept as it is.
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

// make follows a call of make.
func (s *shell) make(words []string) {
	dir, file := s.dir, ""
	overrides := map[string]string{}
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
			if s.describe != nil {
				value = s.describe(value) // what is unresolved is numbered for each makefile
			}
			overrides[name] = value
		default:
			targets = append(targets, word)
		}
	}
	names := []string{file}
	if file == "" {
		names = []string{"GNUmakefile", "makefile", "Makefile"}
	}
	for _, name := range names {
		if s.depth > 8 || s.read(path.Join(dir, name)) == nil {
			continue
		}
		options := s.options(dir)
		options.Overrides = overrides
		if m, err := makefile.Evaluate(name, options); err == nil {
			if len(targets) == 0 && len(m.Targets()) > 0 {
				targets = m.Targets()[:1]
			}
			s.targets(m, dir, targets...)
		}
		return
	}
}

// nested follows a script that a command runs.
func (s *shell) nested(name string, args []string, local map[string]string) {
	inner := &shell{finder: s.finder, dir: s.dir, variables: map[string]string{}, follows: s.follows}
	for name, value := range s.variables {
		inner.variables[name] = value
	}
	for name, value := range local {
		inner.variables[name] = value
	}
	inner.script(s.relative(name), args)
	s.follows = inner.follows
}

// script follows a file.
func (s *shell) script(name string, args []string) {
	if s.depth > 8 {
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	data := string(s.read(name))
	first, _, _ := strings.Cut(data, "\n")
	s.bash, s.inScript, s.at = strings.Contains(first, "bash"), true, makefile.Position{File: name, Line: 1}
	s.arguments = append([]string{"./" + name}, args...)
	if s.dir != "." && s.dir != "" {
		s.arguments[0] = s.root + "/" + name
	}
	s.run(strings.ReplaceAll(data, "\r\n", "\n"))
}

// harmless reports whether a command changes no generated file.
func harmless(words []string) bool {
	switch program := path.Base(words[0]); program {
	case "echo", "printf", "true", ":", "mkdir", "test", "[", "[[", "command", "which", "set", "trap", "exit", "return", "chmod", "gofmt", "goimports", "type", "unset", "shift", "popd", "read", "break", "continue", "case", "esac", "ls", "wait", "sleep", "diff", "grep":
		return true
	case "go":
		return len(words) > 1 && slices.Contains([]string{"fmt", "vet", "install", "get", "build", "mod", "version", "env", "list", "test", "work"}, words[1])
	case "git":
		return len(words) > 1 && slices.Contains([]string{"diff", "status", "rev-parse", "describe"}, words[1])
	}
	return strings.HasSuffix(words[0], "golangci-lint")
}
