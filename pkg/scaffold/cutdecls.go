package scaffold

import (
	"fmt"
	"go/ast"
	"go/format"
	"path"
	"slices"
	"strings"
)

// cutting is what cutDeclarations makes of a file.
type cutting struct {
	// rest is nil when nothing of the file is needed any more.
	rest []byte
	// edited are the places in what goes that a person has changed.
	edited []string
}

// cutDeclarations is the reverse of mergeDeclarations: it takes out of a Go file what the scaffolds going declare
// and those that stay do not, with the imports that this needed and the calls that set up its webhooks.
// Everything else stays byte for byte, what a person has written above all.
func cutDeclarations(name string, have []byte, going, staying [][]byte) (cutting, error) {
	have, crlf := unixLines(have)
	mine, err := openDeclarations(name, have)
	if err != nil {
		return cutting{}, &ContentError{fmt.Errorf("%w; correct it and run the command again", firstError(err))}
	}
	out, err := openScaffolds(name, going)
	if err != nil {
		return cutting{}, err
	}
	kept, err := openScaffolds(name, staying)
	if err != nil {
		return cutting{}, err
	}
	c := cutter{name: name, have: have, mine: mine, going: out, staying: kept}
	whole := len(kept.texts) == 0
	for _, p := range mine.pieces {
		switch {
		case kept.texts[p.key] != nil:
			c.adjust(p)
		case out.texts[p.key] != nil:
			c.cut(p, whole)
		case whole:
			c.edited = append(c.edited, name)
		}
	}
	if whole {
		if !out.heads[head(mine, have)] || c.foreignImports() || c.remarks() {
			c.edited = append(c.edited, name)
		}
		return cutting{edited: c.edited}, nil
	}
	rest, err := withoutImports(name, applyEdits(have, c.edits), out)
	if err != nil {
		return cutting{}, err
	}
	if isFormatted(have) {
		if rest, err = format.Source(rest); err != nil {
			return cutting{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	if crlf {
		rest = []byte(strings.ReplaceAll(string(rest), "\n", "\r\n"))
	}
	return cutting{rest: rest, edited: c.edited}, nil
}

// scaffolds are what several renderings of a file hold.
type scaffolds struct {
	// texts are all forms of a declaration by its key, calls all that set up webhooks.
	texts   map[string][]string
	calls   []string
	heads   map[string]bool
	imports map[string]bool
}

func openScaffolds(name string, contents [][]byte) (*scaffolds, error) {
	s := &scaffolds{texts: map[string][]string{}, heads: map[string]bool{}, imports: map[string]bool{}}
	for _, content := range contents {
		d, err := openDeclarations(name, content)
		if err != nil {
			return nil, fmt.Errorf("reading the scaffold of %s: %w", name, err)
		}
		s.heads[head(d, content)] = true
		for _, spec := range d.file.Imports {
			s.imports[importKey(spec)] = true
		}
		for _, p := range d.pieces {
			s.texts[p.key] = append(s.texts[p.key], p.text)
		}
		for _, call := range setupCalls(d) {
			s.calls = append(s.calls, string(content[call.from:call.to]))
		}
	}
	return s, nil
}

// head is what stands above the package clause.
func head(d *declarations, content []byte) string {
	return strings.TrimSpace(string(content[:d.offset(d.file.Package)]))
}

func importKey(spec *ast.ImportSpec) string { return importName(spec) + " " + pathOf(spec) }

type cutter struct {
	name           string
	have           []byte
	mine           *declarations
	going, staying *scaffolds
	edits          []edit
	edited         []string
}

// cut takes a declaration out. One that goes with its whole file is named by the file alone when it was edited.
func (c *cutter) cut(p piece, whole bool) {
	for _, text := range c.going.texts[p.key] {
		if !whole && strings.HasSuffix(p.text, "\n\n"+text) { // below a remark of a person, who ended the file with it
			p.from, p.text = p.to-len(text), text
		}
	}
	from := len(strings.TrimRight(string(c.have[:p.from]), " \t\n"))
	c.edits = append(c.edits, edit{from, p.to, ""})
	same := slices.Contains(c.going.texts[p.key], p.text)
	if whole && !same && isSetup(p.key) {
		same = c.sameSetup(p)
	}
	switch {
	case same:
	case whole:
		c.edited = append(c.edited, c.name)
	default:
		c.edited = append(c.edited, c.place(p.from, p.key))
	}
}

// adjust changes a declaration that stays to what it is without what goes.
func (c *cutter) adjust(p piece) {
	if !isSetup(p.key) {
		// The log is marked as unused where nothing but conversion is left.
		if slices.Contains(c.going.texts[p.key], p.text) && !slices.Contains(c.staying.texts[p.key], p.text) {
			c.edits = append(c.edits, edit{p.from, p.to, c.staying.texts[p.key][0]})
		}
		return
	}
	methods := map[string]bool{}
	for _, text := range c.going.calls {
		if !slices.Contains(c.staying.calls, text) {
			methods[callName(text)], methods[callName(text)+"CustomPath"] = true, true
		}
	}
	for _, call := range setupCalls(c.mine) {
		text := string(c.have[call.from:call.to])
		if !methods[callName(text)] {
			continue
		}
		if !slices.ContainsFunc(c.going.calls, func(other string) bool { return spaceless(other) == spaceless(text) }) {
			c.edited = append(c.edited, c.place(call.from, strings.TrimLeft(text, ". \t\n")))
		}
		c.edits = append(c.edits, edit{call.from, call.to, ""})
	}
	for _, line := range commentLines(c.going.texts[p.key]) {
		if at := strings.Index(p.text, line); at >= 0 && !slices.Contains(commentLines(c.staying.texts[p.key]), line) {
			c.edits = append(c.edits, edit{p.from + at, p.from + at + len(line), ""})
		}
	}
}

// place names a text in the file for people.
func (c *cutter) place(offset int, text string) string {
	text, _, _ = strings.Cut(text, "\n")
	at := offset + len(c.have[offset:]) - len(strings.TrimLeft(string(c.have[offset:]), ". \t\n"))
	return fmt.Sprintf("%s:%d (%s)", c.name, strings.Count(string(c.have[:at]), "\n")+1, text)
}

// foreignImports tells whether the file imports what no scaffold does and nothing uses: a person wants its effects.
func (c *cutter) foreignImports() bool {
	return slices.ContainsFunc(c.mine.file.Imports, func(spec *ast.ImportSpec) bool {
		return importName(spec) == "_" && !c.going.imports[importKey(spec)]
	})
}

// remarks tells whether comments follow the last declaration.
func (c *cutter) remarks() bool {
	end := 0
	for _, p := range c.mine.pieces {
		end = max(end, p.to)
	}
	return strings.TrimSpace(string(c.have[end:])) != "" && end > 0
}

func isSetup(key string) bool {
	return strings.HasPrefix(key, "func Setup") && strings.HasSuffix(key, "WebhookWithManager")
}

// setupCalls are the calls that add webhooks to a builder, each with the dot before it.
func setupCalls(d *declarations) []edit {
	var calls []edit
	for _, decl := range d.file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !isSetup(declarationKey(decl)) || function.Body == nil {
			continue
		}
		ast.Inspect(function.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if method, ok := call.Fun.(*ast.SelectorExpr); ok && addsWebhook(method.Sel.Name) {
					calls = append(calls, edit{from: d.offset(method.X.End()), to: d.offset(call.End())})
				}
			}
			return true
		})
	}
	return calls
}

func addsWebhook(method string) bool {
	switch method {
	case "WithDefaulter", "WithDefaulterCustomPath", "WithValidator", "WithValidatorCustomPath":
		return true
	}
	return false
}

func callName(text string) string {
	name, _, _ := strings.Cut(spaceless(text), "(")
	return name
}

func spaceless(text string) string { return strings.Join(strings.Fields(text), "") }

// sameSetup tells whether a set-up function is as create webhook wrote it, in one go or one webhook after another.
func (c *cutter) sameSetup(p piece) bool {
	known := commentLines(c.going.texts[p.key])
	if slices.ContainsFunc(commentLines([]string{p.text}), func(line string) bool { return !slices.Contains(known, line) }) {
		return false
	}
	plain := func(text string) string {
		lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "//") })
		text = spaceless(strings.Join(lines, "\n"))
		for _, call := range c.going.calls {
			text = strings.Replace(text, spaceless(call), "", 1)
		}
		return text
	}
	return slices.ContainsFunc(c.going.texts[p.key], func(text string) bool { return plain(text) == plain(p.text) })
}

// commentLines are the lines of comment above declarations, each with its end.
func commentLines(texts []string) []string {
	var lines []string
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "//") {
				break
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// withoutImports takes the imports out that scaffolds needed and that nothing refers to any more.
func withoutImports(name string, content []byte, going *scaffolds) ([]byte, error) {
	d, err := openDeclarations(name, content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(name), err)
	}
	used := map[string]bool{".": true, "_": true}
	for _, p := range d.pieces {
		for _, use := range p.uses {
			used[use] = true
		}
	}
	var edits []edit
	for _, spec := range d.file.Imports {
		if !going.imports[importKey(spec)] || used[importName(spec)] {
			continue
		}
		from, to := d.offset(spec.Pos()), d.offset(spec.End())
		line := strings.LastIndexByte(string(content[:from]), '\n') + 1
		if strings.TrimSpace(string(content[line:from])) != "" { // import "x", without parentheses
			from = line
		}
		if after := strings.IndexByte(string(content[to:]), '\n'); after >= 0 {
			to += after + 1
		}
		edits = append(edits, edit{min(line, from), to, ""})
	}
	return applyEdits(content, edits), nil
}
