//go:build unix

package upgrade

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// An editedProject is a project with edits.
type editedProject struct {
	// name is the base name of its directory.
	name  string
	files map[string]string
	// done describes the edits.
	done []string
	// ordered are lines that edits swapped, in their new order.
	ordered []struct{ file, first, second string }
	// crlf are files whose lines end as on Windows.
	crlf []string
	// code is set when edits changed Go code.
	code bool
}

// An edit is an edit at random places, which seed determines.
type edit struct {
	name string
	make func(*editedProject, *rand.Rand) (string, bool)
	seed uint64
}

// edits are typical edits of users. Each returns the place of the edit, or false if it is not possible.
var edits = []edit{
	{name: "change a value in", make: changeValue},
	{name: "delete lines of", make: deleteBlock},
	{name: "comment out lines of", make: commentOut},
	{name: "swap lines of", make: swapBlocks},
	{name: "insert lines into", make: insertLines},
	{name: "comment in an entry of", make: enableEntry},
	{name: "rename the object", make: renameObject},
	{name: "rename the file", make: renameFile},
	{name: "delete the file", make: deleteFile},
	{name: "replace the content of", make: replaceFile},
	{name: "add a file to", make: addFile},
	{name: "set Windows line ends in", make: useCRLF},
}

// drawEdits draws n edits.
func drawEdits(seed uint64, n int) []edit {
	r := rand.New(rand.NewPCG(seed, 0))
	var drawn []edit
	for range n {
		e := edits[r.IntN(len(edits))]
		e.seed = r.Uint64()
		drawn = append(drawn, e)
	}
	return drawn
}

// apply applies an edit if the project has a place for it.
func (p *editedProject) apply(e edit) {
	r := rand.New(rand.NewPCG(e.seed, 0))
	for range 20 {
		if where, ok := e.make(p, r); ok {
			p.done = append(p.done, e.name+" "+where)
			return
		}
	}
}

// mark adds a prefix to what the user renamed or added. unmark removes the prefix for the comparison with the reference.
const mark = "mine-"

func unmark(text string) string { return strings.ReplaceAll(text, mark, "") }

// pickFile draws the kind of a file and then one that the edits change line by line.
func (p *editedProject) pickFile(r *rand.Rand) string {
	kinds := map[string][]string{}
	for _, name := range clitest.SortedKeys(p.files) {
		switch {
		case name == "Makefile", name == "Dockerfile", name == "main.go", name == "cmd/main.go", name == ".gitignore", name == ".dockerignore":
			kinds[name] = append(kinds[name], name)
		case path.Base(name) == "kustomization.yaml":
			kinds["kustomization"] = append(kinds["kustomization"], name)
		case isManifest(name):
			kinds["manifest"] = append(kinds["manifest"], name)
		}
	}
	var names []string
	for _, kind := range []string{"Makefile", "Dockerfile", "main.go", "cmd/main.go", ".gitignore", ".dockerignore", "kustomization", "manifest"} {
		if len(kinds[kind]) > 0 {
			names = append(names, kinds[kind][r.IntN(len(kinds[kind]))])
		}
	}
	return names[r.IntN(len(names))]
}

// isManifest reports whether a file is a manifest that users edit, as opposed to a generated one.
func isManifest(name string) bool {
	return strings.HasPrefix(name, "config/") && path.Ext(name) == ".yaml" && !isGenerated(name)
}

// setLines replaces the lines of a file unless it does not parse then.
func (p *editedProject) setLines(name string, lines []string) bool {
	text := strings.Join(lines, "")
	if text == p.files[name] {
		return false
	}
	switch path.Ext(name) {
	case ".go":
		if !usesImports(text) {
			return false
		}
		p.code = true
	case ".yaml":
		if parseYAML(text) != nil {
			return false
		}
	}
	p.files[name] = text
	return true
}

// usesImports reports whether Go code parses and uses each package that it imports by the package's name.
func usesImports(text string) bool {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok {
				used[id.Name] = true
			}
		}
		return true
	})
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if err != nil || name != "_" && !used[name] {
			return false
		}
	}
	return true
}

// splitLines returns the lines of a file with their ends.
func splitLines(text string) []string { return slices.Collect(strings.Lines(text)) }

// A block is a range of lines that users delete, move or comment out at once: a field or list item of YAML, a paragraph
// of a Makefile, a statement of main, or a line.
type block struct{ from, to int }

func blocksOf(name string, lines []string) []block {
	var blocks []block
	switch {
	case path.Ext(name) == ".go":
		return statementsOf(strings.Join(lines, ""))
	case path.Ext(name) == ".yaml":
		for i, line := range lines {
			if yamlEntry.MatchString(line) && !identity.MatchString(line) {
				blocks = append(blocks, block{i, yamlEnd(lines, i)})
			}
		}
	case name == "Makefile":
		for i := 0; i < len(lines); i++ {
			from := i
			for i < len(lines) && strings.TrimSpace(lines[i]) != "" {
				i++
			}
			isHeading := i == from+1 && strings.HasPrefix(lines[from], "#")
			generates := strings.Contains(strings.Join(lines[from:i], ""), " object:") // what the code needs to compile
			if i > from && !isHeading && !generates && !strings.HasPrefix(lines[from], "\t") {
				blocks = append(blocks, block{from, i})
			}
		}
	default:
		for i, line := range lines {
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "FROM") {
				blocks = append(blocks, block{i, i + 1})
			}
		}
	}
	return blocks
}

var (
	yamlEntry = regexp.MustCompile(`^ *(- |[\w./-]+:)`)
	// identity matches fields that an object cannot do without.
	identity = regexp.MustCompile(`^(apiVersion|kind|metadata|  name):`)
)

// yamlEnd returns the line after the field or list item that begins at the line i.
func yamlEnd(lines []string, i int) int {
	indent := indentation(lines[i])
	isItem := strings.HasPrefix(lines[i][indent:], "- ")
	end := i + 1
	for j := i + 1; j < len(lines); j++ {
		text := strings.TrimSpace(lines[j])
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		deeper := indentation(lines[j]) > indent || indentation(lines[j]) == indent && !isItem && strings.HasPrefix(text, "- ")
		if !deeper || text == "---" {
			break
		}
		end = j + 1
	}
	return end
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// statementsOf returns the statements of main that can be removed or swapped without effect on declarations.
func statementsOf(text string) []block {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	var blocks []block
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "main" {
			continue
		}
		for _, s := range f.Body.List {
			_, isCall := s.(*ast.ExprStmt)
			check, isIf := s.(*ast.IfStmt)
			if isCall || isIf && check.Init != nil {
				blocks = append(blocks, block{set.Position(s.Pos()).Line - 1, set.Position(s.End()).Line})
			}
		}
	}
	return blocks
}

// pickBlock draws a file and a block of it.
func (p *editedProject) pickBlock(r *rand.Rand) (name string, lines []string, b block, ok bool) {
	name = p.pickFile(r)
	lines = splitLines(p.files[name])
	blocks := blocksOf(name, lines)
	if len(blocks) == 0 {
		return name, lines, b, false
	}
	return name, lines, blocks[r.IntN(len(blocks))], true
}

func at(name string, line string) string { return fmt.Sprintf("%s: %q", name, strings.TrimSpace(line)) }

func deleteBlock(p *editedProject, r *rand.Rand) (string, bool) {
	name, lines, b, ok := p.pickBlock(r)
	if !ok {
		return "", false
	}
	where := at(name, lines[b.from])
	return where, p.setLines(name, slices.Delete(slices.Clone(lines), b.from, b.to))
}

func commentOut(p *editedProject, r *rand.Rand) (string, bool) {
	name, lines, b, ok := p.pickBlock(r)
	if !ok {
		return "", false
	}
	sign := "#"
	if path.Ext(name) == ".go" {
		sign = "//"
	}
	where := at(name, lines[b.from])
	for i := b.from; i < b.to; i++ {
		lines[i] = sign + lines[i]
	}
	return where, p.setLines(name, lines)
}

func swapBlocks(p *editedProject, r *rand.Rand) (string, bool) {
	name, lines, a, ok := p.pickBlock(r)
	if !ok {
		return "", false
	}
	for _, b := range blocksOf(name, lines) {
		isNext := b.from >= a.to && strings.TrimSpace(strings.Join(lines[a.to:b.from], "")) == ""
		if !isNext || indentation(lines[a.from]) != indentation(lines[b.from]) || path.Ext(name) == ".yaml" && b.from != a.to {
			continue
		}
		first, second := lines[b.from], lines[a.from]
		where := at(name, second)
		swapped := slices.Concat(lines[:a.from], lines[b.from:b.to], lines[a.to:b.from], lines[a.from:a.to], lines[b.to:])
		if !p.setLines(name, swapped) {
			return "", false
		}
		if text := p.files[name]; lineIndex(text, first) >= 0 && lineIndex(text, second) >= 0 {
			p.ordered = append(p.ordered, struct{ file, first, second string }{name, first, second})
		}
		return where, true
	}
	return "", false
}

// lineIndex returns the index of a line of a text, space aside, or -1 unless there is exactly one.
func lineIndex(text, line string) int {
	found := -1
	for i, l := range splitLines(text) {
		if strings.TrimSpace(l) != strings.TrimSpace(line) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// quantities are values of older releases, which an upgrade must not confuse with the base's values.
var quantities = map[string][]string{
	"cpu":    {"5m", "10m", "100m", "200m", "500m"},
	"memory": {"20Mi", "30Mi", "64Mi", "128Mi", "256Mi"},
}

var (
	yamlScalar  = regexp.MustCompile(`^( *(?:- )?([\w./-]+): +)([\w./:-]+)(\r?\n)$`)
	yamlItem    = regexp.MustCompile(`^( *- )([\w=-]+)(\r?\n)$`)
	makeValue   = regexp.MustCompile(`^([A-Z][A-Z_]+ *[?:]?= *)([\w./:$()-]+)(\r?\n)$`)
	stage       = regexp.MustCompile(`^(FROM )(\S+)(.*\n)$`)
	goImport    = regexp.MustCompile(`^\t(\w+ )?"`)
	goString    = regexp.MustCompile(`^(\t[^"]*")([^"\\]+)(".*\n)$`)
	ignoredName = regexp.MustCompile(`^()([\w./*-]+)(\r?\n)$`)
)

func changeValue(p *editedProject, r *rand.Rand) (string, bool) {
	name := p.pickFile(r)
	lines := splitLines(p.files[name])
	i := r.IntN(max(len(lines), 1))
	if i >= len(lines) {
		return "", false
	}
	where := at(name, lines[i])
	change := func(pattern *regexp.Regexp) bool {
		if !pattern.MatchString(lines[i]) {
			return false
		}
		lines[i] = pattern.ReplaceAllString(lines[i], "${1}${2}-mine${3}")
		return p.setLines(name, lines)
	}
	switch {
	case path.Ext(name) == ".go":
		return where, strings.HasPrefix(lines[i], "\t") && !goImport.MatchString(lines[i]) && change(goString)
	case name == "Makefile":
		return where, !strings.HasPrefix(lines[i], "SHELL") && change(makeValue)
	case name == "Dockerfile":
		return where, change(stage)
	case path.Ext(name) != ".yaml":
		return where, change(ignoredName)
	}
	m := yamlScalar.FindStringSubmatch(lines[i])
	if m == nil {
		return where, path.Base(name) != "kustomization.yaml" && change(yamlItem)
	}
	key, value := m[2], m[3]
	switch values := quantities[key]; {
	case slices.Contains([]string{"apiVersion", "kind", "name", "namespace", "path"}, key):
		return "", false
	case values != nil:
		value = values[r.IntN(len(values))]
	case value == "true":
		value = "false"
	case value == "false":
		value = "true"
	default:
		if n, err := strconv.Atoi(value); err == nil {
			value = strconv.Itoa(n + 1)
		} else {
			value += "-mine"
		}
	}
	lines[i] = m[1] + value + m[4]
	return where, p.setLines(name, lines)
}

// insertLines inserts a comment, or a statement into main.
func insertLines(p *editedProject, r *rand.Rand) (string, bool) {
	name, lines, b, ok := p.pickBlock(r)
	if !ok || b.from > 0 && strings.HasSuffix(strings.TrimSpace(lines[b.from-1]), `\`) {
		return "", false
	}
	line := lines[b.from]
	text := line[:indentation(line)] + "# Mine.\n"
	if path.Ext(name) == ".go" {
		text = "\tprintln(\"mine\")\n"
	}
	if strings.HasSuffix(line, "\r\n") {
		text = strings.Replace(text, "\n", "\r\n", 1)
	}
	where := at(name, line)
	return where, p.setLines(name, slices.Insert(lines, b.from, text))
}

var commentedEntry = regexp.MustCompile(`^# ?(- (\.\./(prometheus|network-policy)|[\w-]+_role\.yaml)\s*)$`)

func enableEntry(p *editedProject, r *rand.Rand) (string, bool) {
	name := p.pickFile(r)
	lines := splitLines(p.files[name])
	for _, i := range r.Perm(len(lines)) {
		if m := commentedEntry.FindStringSubmatch(lines[i]); m != nil && path.Base(name) == "kustomization.yaml" {
			lines[i] = m[1]
			return at(name, lines[i]), p.setLines(name, lines)
		}
	}
	return "", false
}

var objectName = regexp.MustCompile(`(?m)^  name: ([a-z]+-[a-z-]+)\r?$`)

func renameObject(p *editedProject, r *rand.Rand) (string, bool) {
	names := objectName.FindAllStringSubmatch(p.files[p.pickFile(r)], -1)
	if len(names) == 0 {
		return "", false
	}
	old := names[r.IntN(len(names))][1]
	uses := regexp.MustCompile(`(^|[^\w-])` + old + `($|[^\w-])`)
	for name, text := range p.files {
		if isManifest(name) {
			p.files[name] = uses.ReplaceAllString(text, "${1}"+mark+old+"${2}")
		}
	}
	return old, !strings.HasPrefix(old, mark)
}

var fileEntry = regexp.MustCompile(`^( *- (?:path: )?)([\w-]+\.yaml)(\r?\n)$`)

// pickEntry draws an entry for a file in the directory of a kustomization.
func (p *editedProject) pickEntry(r *rand.Rand) (kustomization string, lines []string, i int, ok bool) {
	kustomization = p.pickFile(r)
	lines = splitLines(p.files[kustomization])
	for _, i := range r.Perm(len(lines)) {
		if m := fileEntry.FindStringSubmatch(lines[i]); m != nil && path.Base(kustomization) == "kustomization.yaml" {
			file := path.Join(path.Dir(kustomization), m[2])
			_, exists := p.files[file]
			return kustomization, lines, i, exists && !isGenerated(file)
		}
	}
	return "", nil, 0, false
}

func renameFile(p *editedProject, r *rand.Rand) (string, bool) {
	kustomization, lines, i, ok := p.pickEntry(r)
	if !ok {
		return "", false
	}
	m := fileEntry.FindStringSubmatch(lines[i])
	old, renamed := path.Join(path.Dir(kustomization), m[2]), path.Join(path.Dir(kustomization), mark+m[2])
	if strings.Count(p.files[kustomization], m[2]) > 1 || strings.HasPrefix(m[2], mark) {
		return "", false
	}
	lines[i] = m[1] + mark + m[2] + m[3]
	p.files[renamed] = p.files[old]
	delete(p.files, old)
	return old, p.setLines(kustomization, lines)
}

func deleteFile(p *editedProject, r *rand.Rand) (string, bool) {
	kustomization, lines, i, ok := p.pickEntry(r)
	if !ok {
		return "", false
	}
	m := fileEntry.FindStringSubmatch(lines[i])
	old := path.Join(path.Dir(kustomization), m[2])
	if strings.Count(p.files[kustomization], m[2]) > 1 {
		return "", false
	}
	delete(p.files, old)
	return old, p.setLines(kustomization, slices.Delete(lines, i, yamlEnd(lines, i)))
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\ndata:\n  mine: \"1\"\n"

func replaceFile(p *editedProject, r *rand.Rand) (string, bool) {
	name := p.pickFile(r)
	if !isManifest(name) || path.Base(name) == "kustomization.yaml" {
		return "", false
	}
	return name, p.setLines(name, splitLines(configMap))
}

func addFile(p *editedProject, r *rand.Rand) (string, bool) {
	name := p.pickFile(r)
	lines := splitLines(p.files[name])
	i := slices.Index(lines, "resources:\n")
	added := path.Join(path.Dir(name), mark+"extra.yaml")
	if _, exists := p.files[added]; i < 0 || exists || path.Base(name) != "kustomization.yaml" {
		return "", false
	}
	p.files[added] = configMap
	return name, p.setLines(name, slices.Insert(lines, i+1, "- "+path.Base(added)+"\n"))
}

func useCRLF(p *editedProject, r *rand.Rand) (string, bool) {
	name := p.pickFile(r)
	if path.Ext(name) == ".go" || slices.Contains(p.crlf, name) {
		return "", false
	}
	if !p.setLines(name, splitLines(strings.ReplaceAll(p.files[name], "\n", "\r\n"))) {
		return "", false
	}
	p.crlf = append(p.crlf, name)
	return name, true
}
