package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/scanner"
	"go/token"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// importsMarker is the marker for import specs.
const importsMarker = "imports"

// goSyntax inserts texts into a Go file.
type goSyntax struct {
	*gosource.File
	lines     []string
	tokens    []goToken
	formatted bool
}

func parseGo(content []byte, filename string) (*goSyntax, error) {
	file, err := gosource.Parse(filename, content)
	if err != nil {
		return nil, syntaxError(err)
	}
	return &goSyntax{
		File: file, lines: slices.Collect(strings.Lines(string(content))), tokens: goTokens(string(content)), formatted: file.IsFormatted(),
	}, nil
}

// syntaxError returns the first error of a file of the user that does not parse.
func syntaxError(err error) error {
	return diag.WithFix(gosource.FirstError(err), "correct it and run the command again")
}

// find looks for the marker in comments only: in a string it is text.
func (g *goSyntax) find(marker string) (insertionPoint, bool) {
	for _, group := range g.AST.Comments {
		for _, c := range group.List {
			at := g.Line(c.Pos()) - 1
			if strings.HasPrefix(c.Text, "//") && isMarker(g.Name, marker, c.Text) &&
				at < len(g.lines) && strings.HasPrefix(strings.TrimSpace(g.lines[at]), "//") {
				return insertionPoint{line: at, indent: indentation(g.lines[at])}, true
			}
		}
	}
	return g.findByCode(marker)
}

func (g *goSyntax) missing(marker, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	if marker == importsMarker {
		if add, ok, err := g.missingImports(text); ok || err != nil {
			return add, err
		}
	}
	if g.contains(text) {
		return nil, nil
	}
	if !strings.Contains(text, "`") {
		if formatted, err := format.Source([]byte(text)); err == nil {
			text = strings.TrimSpace(string(formatted))
		}
	}
	return strings.Split(text, "\n"), nil
}

// importsHeader precedes import specs in the text that parseImportSpecs parses.
const importsHeader = "package p\nimport (\n"

// parseImportSpecs parses the lines of an import block.
func parseImportSpecs(text string) (*gosource.File, error) {
	return gosource.Parse("", []byte(importsHeader+text+"\n)\n"))
}

// missingImports compares imports by path and name. It is not ok if the text is not a list of imports.
func (g *goSyntax) missingImports(text string) (add []string, ok bool, err error) {
	specs, err := parseImportSpecs(text)
	if err != nil || len(specs.AST.Imports) == 0 {
		return nil, false, nil
	}
	skip := map[int]bool{}
	var conflicts []error
	for _, spec := range specs.AST.Imports {
		has, err := hasImport(g.File, spec, specs.ImportName(spec))
		if err != nil {
			conflicts = append(conflicts, err)
		}
		if has {
			skip[specs.Line(spec.Pos())-1-strings.Count(importsHeader, "\n")] = true
		}
	}
	if len(conflicts) > 0 {
		return nil, false, errors.Join(conflicts...)
	}
	if len(skip) == len(specs.AST.Imports) {
		return nil, true, nil
	}
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); !skip[i] && line != "" {
			add = append(add, line)
		}
	}
	return add, true, nil
}

// hasImport reports whether a file imports the package of spec by a name. It is an error if the file uses the name for
// another package.
func hasImport(f *gosource.File, spec *ast.ImportSpec, name string) (bool, error) {
	has := false
	var conflicts []error
	for _, other := range f.AST.Imports {
		if f.ImportName(other) != name {
			continue
		}
		if gosource.ImportPath(other) == gosource.ImportPath(spec) {
			has = true
		} else if name != "_" && name != "." {
			conflicts = append(conflicts, fmt.Errorf("%s: the name %s refers to %s here, but the scaffold needs it for %s; import yours by another name",
				f.Fset.Position(other.Pos()), name, gosource.ImportPath(other), gosource.ImportPath(spec)))
		}
	}
	return has, errors.Join(conflicts...)
}

// goToken is a token without its white space. first and last report whether it is the first and the last of its line.
type goToken struct {
	text        string
	first, last bool
}

// goTokens scans Go without comments and without the semicolons of line ends.
func goTokens(src string) []goToken {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, []byte(src), func(token.Position, string) {}, 0)
	var tokens []goToken
	lastLine := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && lit != ";" {
			continue
		}
		if lit == "" {
			lit = tok.String()
		}
		line := file.PositionFor(pos, false).Line
		first := line != lastLine
		if first && len(tokens) > 0 {
			tokens[len(tokens)-1].last = true
		}
		tokens = append(tokens, goToken{text: lit, first: first})
		lastLine = line + strings.Count(lit, "\n")
	}
	if len(tokens) > 0 {
		tokens[len(tokens)-1].last = true
	}
	return tokens
}

// identifying matches the part of a text that occurs once in a file: the reconciler that it sets up, the function that
// sets up a webhook, or the package whose types it registers.
var identifying = lazyregexp.New(`\b\w+\.(\w+Reconciler\{|Setup\w*WithManager\(|AddToScheme\()`)

// contains reports whether the file has the text, regardless of white space and comments, or the identifying call of the
// text, around which the user has edited it.
func (g *goSyntax) contains(text string) bool {
	want := goTokens(text)
	if len(want) == 0 { // comments only
		return textdiff.CountLines(compact(g.lines), compact(strings.Split(text, "\n"))) > 0
	}
	if g.containsTokens(want, true) {
		return true
	}
	key := identifying.FindString(text)
	return key != "" && g.containsTokens(goTokens(key), false)
}

func (g *goSyntax) containsTokens(want []goToken, wholeLines bool) bool {
	same := func(a, b goToken) bool { return a.text == b.text }
	for i := 0; i+len(want) <= len(g.tokens); i++ {
		part := g.tokens[i : i+len(want)]
		if wholeLines && (!part[0].first || !part[len(part)-1].last) {
			continue
		}
		if slices.EqualFunc(part, want, same) {
			return true
		}
	}
	return false
}

// compact removes white space and empty lines.
func compact(lines []string) []string {
	var out []string
	for _, line := range lines {
		if line = withoutSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func (g *goSyntax) finish(text string) (string, error) {
	if err := gosource.CheckSyntax("", []byte(text)); err != nil {
		return "", fmt.Errorf("the result would not be valid Go (%w); move the marker to its original place", err)
	}
	if !g.formatted {
		return text, nil
	}
	formatted, err := format.Source([]byte(text))
	if err != nil {
		return "", err
	}
	return string(formatted), nil
}
