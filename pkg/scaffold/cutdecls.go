package scaffold

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// cutResult is the result of cutDeclarations.
type cutResult struct {
	// rest is nil if nothing of the file is needed any more.
	rest []byte
	// edited lists the places in the removed code that the user has changed.
	edited diag.Findings
}

// cutDeclarations is the reverse of mergeDeclarations. It removes from a Go file the declarations of the removed
// scaffolds that the kept ones do not have, with the imports that only they need and the calls that set up their
// webhooks. The rest of the file is kept byte for byte. Lines that written reports are not edited; nil means that there are none.
func cutDeclarations(name string, content []byte, removed, kept [][]byte, written func(file, line string) bool) (cutResult, error) {
	content, crlf := textdiff.ToLF(content)
	ours, err := parseDeclarations(name, content)
	if err != nil {
		return cutResult{}, syntaxError(err)
	}
	c := cutter{declarations: ours, written: written}
	if c.removed, err = parseScaffolds(name, removed); err != nil {
		return cutResult{}, err
	}
	if c.kept, err = parseScaffolds(name, kept); err != nil {
		return cutResult{}, err
	}
	wholeFile := len(c.kept.texts) == 0
	for _, d := range ours.list {
		switch {
		case c.kept.texts[d.key] != nil:
			c.adjust(d)
		case c.removed.texts[d.key] != nil:
			c.cut(d, wholeFile)
		case wholeFile:
			c.edited = append(c.edited, Edited(diag.Position{File: name}, ""))
		}
	}
	if wholeFile {
		if !c.removed.headers[header(ours)] || c.hasOwnBlankImport() || c.endsInComment() {
			c.edited = append(c.edited, Edited(diag.Position{File: name}, ""))
		}
		return cutResult{edited: c.edited}, nil
	}
	rest, err := ours.Apply(c.edits)
	if err != nil {
		return cutResult{}, err
	}
	if rest, err = removeUnusedImports(name, rest, c.removed.imports); err != nil {
		return cutResult{}, err
	}
	return cutResult{rest: textdiff.FromLF(rest, crlf), edited: c.edited}, nil
}

// scaffoldForms holds the contents of several renderings of a file.
type scaffoldForms struct {
	// texts holds all forms of a declaration by its key, calls those that set up webhooks.
	texts   map[string][]string
	calls   []string
	headers map[string]bool
	imports map[string]bool
}

func parseScaffolds(name string, contents [][]byte) (*scaffoldForms, error) {
	s := &scaffoldForms{texts: map[string][]string{}, headers: map[string]bool{}, imports: map[string]bool{}}
	for _, content := range contents {
		d, err := parseDeclarations(name, content)
		if err != nil {
			return nil, fmt.Errorf("reading the scaffold of %s: %w", name, err)
		}
		s.headers[header(d)] = true
		for _, spec := range d.AST.Imports {
			s.imports[importKey(d.File, spec)] = true
		}
		for _, decl := range d.list {
			s.texts[decl.key] = append(s.texts[decl.key], decl.text)
		}
		for _, call := range setupCalls(d) {
			s.calls = append(s.calls, string(content[call.From:call.To]))
		}
	}
	return s, nil
}

// header returns the text before the package clause.
func header(d *declarations) string {
	return strings.TrimSpace(string(d.Text[:d.Offset(d.AST.Package)]))
}

func importKey(f *gosource.File, spec *ast.ImportSpec) string {
	return f.ImportName(spec) + " " + gosource.ImportPath(spec)
}

// A cutter removes declarations from a file.
type cutter struct {
	*declarations
	removed, kept *scaffoldForms
	edits         []textdiff.Edit
	edited        diag.Findings
	written       func(file, line string) bool
}

func (c *cutter) remove(from, to int) { c.edits = append(c.edits, textdiff.Edit{From: from, To: to}) }

// cut removes a declaration. If its file is removed with it, an edited declaration is reported by the file alone.
func (c *cutter) cut(d declaration, wholeFile bool) {
	for _, text := range c.removed.texts[d.key] {
		if !wholeFile && strings.HasSuffix(d.text, "\n\n"+text) { // after a comment of the user at the former end of the file
			d.from, d.text = d.to-len(text), text
		}
	}
	if c.written != nil && !wholeFile && !slices.Contains(c.removed.texts[d.key], d.text) {
		d = withoutRemarks(d)
	}
	from := len(strings.TrimRight(string(c.Text[:d.from]), " \t\n"))
	c.remove(from, d.to)
	unedited := slices.Contains(c.removed.texts[d.key], d.text)
	if wholeFile && !unedited && isWebhookSetup(d.key) {
		unedited = c.isUneditedSetup(d)
	}
	switch {
	case unedited:
	case wholeFile:
		c.edited = append(c.edited, Edited(diag.Position{File: c.Name}, ""))
	case allWritten(c.Name, strings.Split(d.text, "\n"), c.written):
	default:
		c.edited = append(c.edited, c.describe(d.from, d.key))
	}
}

// withoutRemarks returns a declaration without comments that are separated from it and contain no marker: other tools write some about
// the whole file.
func withoutRemarks(d declaration) declaration {
	for {
		comment, rest, ok := strings.Cut(d.text, "\n\n")
		isRemark := func(line string) bool { return strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "// +") }
		if !ok || slices.ContainsFunc(strings.Split(comment, "\n"), func(line string) bool { return !isRemark(line) }) {
			return d
		}
		d.text, d.from = rest, d.to-len(rest)
	}
}

// adjust changes a kept declaration to its form without the removed scaffolds.
func (c *cutter) adjust(d declaration) {
	if !isWebhookSetup(d.key) {
		// The log is marked as unused if only conversion is left.
		if slices.Contains(c.removed.texts[d.key], d.text) && !slices.Contains(c.kept.texts[d.key], d.text) {
			c.edits = append(c.edits, textdiff.Edit{From: d.from, To: d.to, Text: c.kept.texts[d.key][0]})
		}
		return
	}
	methods := map[string]bool{}
	for _, text := range c.removed.calls {
		if !slices.Contains(c.kept.calls, text) {
			methods[callName(text)], methods[callName(text)+"CustomPath"] = true, true
		}
	}
	for _, call := range setupCalls(c.declarations) {
		text := string(c.Text[call.From:call.To])
		if !methods[callName(text)] {
			continue
		}
		if !slices.ContainsFunc(c.removed.calls, func(other string) bool { return withoutSpace(other) == withoutSpace(text) }) &&
			!allWritten(c.Name, []string{strings.TrimLeft(text, ". \t\n") + "."}, c.written) {
			c.edited = append(c.edited, c.describe(call.From, strings.TrimLeft(text, ". \t\n")))
		}
		c.remove(call.From, call.To)
	}
	for _, line := range commentLines(c.removed.texts[d.key]) {
		if at := strings.Index(d.text, line); at >= 0 && !slices.Contains(commentLines(c.kept.texts[d.key]), line) {
			c.remove(d.from+at, d.from+at+len(line))
		}
	}
}

// describe returns the place of a text that was edited, with its first line.
func (c *cutter) describe(offset int, text string) diag.Finding {
	text, _, _ = strings.Cut(text, "\n")
	at := offset + len(c.Text[offset:]) - len(strings.TrimLeft(string(c.Text[offset:]), ". \t\n"))
	return Edited(diag.Position{File: c.Name, Line: strings.Count(string(c.Text[:at]), "\n") + 1}, text)
}

// hasOwnBlankImport reports whether the user has added a blank import.
func (c *cutter) hasOwnBlankImport() bool {
	return slices.ContainsFunc(c.AST.Imports, func(spec *ast.ImportSpec) bool {
		return c.ImportName(spec) == "_" && !c.removed.imports[importKey(c.File, spec)]
	})
}

// endsInComment reports whether a comment follows the last declaration.
func (c *cutter) endsInComment() bool {
	end := 0
	for _, d := range c.list {
		end = max(end, d.to)
	}
	return strings.TrimSpace(string(c.Text[end:])) != "" && end > 0
}

func isWebhookSetup(key string) bool {
	return strings.HasPrefix(key, "func Setup") && strings.HasSuffix(key, "WebhookWithManager")
}

// setupCalls finds the calls that add webhooks to a builder, each with the dot before it.
func setupCalls(d *declarations) []textdiff.Edit {
	var calls []textdiff.Edit
	for _, decl := range d.AST.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || !isWebhookSetup(gosource.Key(decl)) || function.Body == nil {
			continue
		}
		ast.Inspect(function.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if method, ok := call.Fun.(*ast.SelectorExpr); ok && addsWebhook(method.Sel.Name) {
					calls = append(calls, textdiff.Edit{From: d.Offset(method.X.End()), To: d.Offset(call.End())})
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
	name, _, _ := strings.Cut(withoutSpace(text), "(")
	return name
}

func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }

// isUneditedSetup reports whether a set-up function is one that create webhook wrote, in one or several runs.
func (c *cutter) isUneditedSetup(d declaration) bool {
	ownComments := commentLines(c.removed.texts[d.key])
	if slices.ContainsFunc(commentLines([]string{d.text}), func(line string) bool { return !slices.Contains(ownComments, line) }) {
		return false
	}
	withoutCalls := func(text string) string {
		lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "//") })
		text = withoutSpace(strings.Join(lines, "\n"))
		for _, call := range c.removed.calls {
			text = strings.Replace(text, withoutSpace(call), "", 1)
		}
		return text
	}
	return slices.ContainsFunc(c.removed.texts[d.key], func(text string) bool { return withoutCalls(text) == withoutCalls(d.text) })
}

// commentLines returns the lines of the comments before declarations, each with its end.
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

// removeUnusedImports removes the imports with the given keys that nothing refers to.
func removeUnusedImports(name string, content []byte, keys map[string]bool) ([]byte, error) {
	f, err := gosource.Parse(name, content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path.Base(name), err)
	}
	used := f.UsedQualifiers(f.AST)
	used["."], used["_"] = true, true
	var edits []textdiff.Edit
	for _, spec := range f.AST.Imports {
		if keys[importKey(f, spec)] && !used[f.ImportName(spec)] {
			edits = append(edits, textdiff.Edit{From: f.LineStart(spec.Pos()), To: f.LineEnd(spec.End())})
		}
	}
	return f.Apply(edits)
}
