package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// importsMarker is the one marker whose texts are import specs.
const importsMarker = "imports"

// goSyntax knows a Go file as comments, imports and tokens.
type goSyntax struct {
	filename string
	lines    []string
	fset     *token.FileSet
	file     *ast.File
	tokens   []goToken
	clean    bool // gofmt would not change the file
}

func parseGo(content []byte, filename string) (*goSyntax, error) {
	g := &goSyntax{filename: filename, fset: token.NewFileSet()}
	var err error
	g.file, err = parser.ParseFile(g.fset, filename, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("%w; correct it and run the command again", firstError(err))
	}
	g.lines = slices.Collect(strings.Lines(string(content)))
	g.tokens = goTokens(string(content))
	formatted, err := format.Source(content)
	g.clean = err == nil && bytes.Equal(formatted, content)
	return g, nil
}

// firstError makes one line of a list of syntax errors.
func firstError(err error) error {
	if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
		return list[0]
	}
	return err
}

// find looks at comments only: a marker in a string is text.
func (g *goSyntax) find(marker string) (place, bool) {
	for _, group := range g.file.Comments {
		for _, c := range group.List {
			at := g.fset.PositionFor(c.Pos(), false).Line - 1
			if strings.HasPrefix(c.Text, "//") && isMarker(g.filename, marker, c.Text) &&
				at < len(g.lines) && strings.HasPrefix(strings.TrimSpace(g.lines[at]), "//") {
				return place{line: at, indent: indentation(g.lines[at])}, true
			}
		}
	}
	return g.findTyped(marker)
}

func (g *goSyntax) pending(marker, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	if marker == importsMarker {
		if add, ok, err := g.pendingImports(text); ok || err != nil {
			return add, err
		}
	}
	if g.has(text) {
		return nil, nil
	}
	if !strings.Contains(text, "`") {
		if formatted, err := format.Source([]byte(text)); err == nil {
			text = strings.TrimSpace(string(formatted))
		}
	}
	return strings.Split(text, "\n"), nil
}

// pendingImports compares imports by path and name. It is not ok when the text is something else.
func (g *goSyntax) pendingImports(text string) (add []string, ok bool, err error) {
	fset := token.NewFileSet()
	const head = "package p\nimport (\n"
	specs, err := parser.ParseFile(fset, "", head+text+"\n)\n", parser.ImportsOnly|parser.ParseComments)
	if err != nil || len(specs.Imports) == 0 {
		return nil, false, nil
	}
	lines := strings.Split(text, "\n")
	skip := map[int]bool{}
	var conflicts []error
	for _, spec := range specs.Imports {
		name, needed := importName(spec), pathOf(spec)
		at := fset.Position(spec.Pos()).Line - 1 - strings.Count(head, "\n")
		for _, have := range g.file.Imports {
			if importName(have) != name {
				continue
			}
			if pathOf(have) == needed {
				skip[at] = true
			} else if name != "_" && name != "." {
				conflicts = append(conflicts, fmt.Errorf("%s: the name %s stands for %s here, but the scaffold needs it for %s; import yours by another name",
					g.fset.Position(have.Pos()), name, pathOf(have), needed))
			}
		}
	}
	if len(conflicts) > 0 {
		return nil, false, errors.Join(conflicts...)
	}
	if len(skip) == len(specs.Imports) {
		return nil, true, nil
	}
	for i, line := range lines {
		if line = strings.TrimSpace(line); !skip[i] && line != "" {
			add = append(add, line)
		}
	}
	return add, true, nil
}

func pathOf(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// importName is the name that a file imports a package by; without one, what the path ends in.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(pathOf(spec))
}

// goToken is a token without its white space. first and last tell its place in its line.
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

// identifying matches what makes a block the only one of its kind in a file: the reconciler that it
// sets up, the function that sets up a webhook, or the package whose types it registers.
var identifying = regexp.MustCompile(`\b\w+\.(\w+Reconciler\{|Setup\w+WithManager\(|AddToScheme\()`)

// has tells whether the text is in the file, whatever the white space and the comments, or whether the
// file has the text's identifying call: then a person has edited the block around it.
func (g *goSyntax) has(text string) bool {
	want := goTokens(text)
	if len(want) == 0 { // comments only
		return contiguous(compact(g.lines), compact(strings.Split(text, "\n")))
	}
	if g.hasTokens(want, true) {
		return true
	}
	key := identifying.FindString(text)
	return key != "" && g.hasTokens(goTokens(key), false)
}

func (g *goSyntax) hasTokens(want []goToken, wholeLines bool) bool {
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

// compact drops white space and empty lines.
func compact(lines []string) []string {
	var out []string
	for _, line := range lines {
		if line = strings.Join(strings.Fields(line), ""); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func (g *goSyntax) finish(text string) (string, error) {
	if _, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution); err != nil {
		return "", fmt.Errorf("the result would not be Go any more (%w); a marker has been moved, see where kubebuilder and operator-sdk have it", firstError(err))
	}
	if !g.clean {
		return text, nil
	}
	formatted, err := format.Source([]byte(text))
	if err != nil {
		return "", err
	}
	return string(formatted), nil
}
