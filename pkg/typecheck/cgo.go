package typecheck

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A cgoPackage is what the go command reports about a package of the project that uses cgo.
type cgoPackage struct {
	// files are the generated Go files. Their line directives name the sources.
	files [][]byte
	// findings are errors about C.
	findings diag.Findings
}

// generateCgo runs cgo for the packages of a module that use it, by directory. The go command compiles nothing for that but
// samples of C. Without a C compiler, files that use cgo are not part of a build.
func (c Checker) generateCgo(ctx context.Context, tree *worktree.Tree, env *goenv.Environment, s system, m *gosource.Module) (map[string]*cgoPackage, error) {
	var dirs []string
	code := map[string][]byte{}
	for _, name := range m.Names() {
		f := m.Files[name]
		if usesCgo(f.AST) && !f.IsTest() && s.selects(f) {
			// cgo runs in the directory. Until it exists, names of C have no type.
			if _, err := os.Stat(filepath.Join(tree.Root(), filepath.FromSlash(f.Dir()))); err == nil {
				dirs = append(dirs, "./"+f.Dir())
			}
		}
		if disk, err := os.ReadFile(filepath.Join(tree.Root(), filepath.FromSlash(name))); err != nil || !bytes.Equal(disk, f.Text) {
			code[name] = f.Text
		}
	}
	dirs = slices.Compact(slices.Sorted(slices.Values(dirs)))
	if len(dirs) == 0 {
		return nil, nil
	}
	for name := range tree.Edits() {
		if path.Ext(name) == ".go" && m.Files[name] == nil {
			code[name] = nil
		}
	}
	flags, remove, err := sourceFlags(tree, env, code)
	if err != nil {
		return nil, err
	}
	defer remove()
	mod, _ := tree.ReadFile("go.mod")
	args := slices.Concat([]string{"list", "-e", "-compiled", "-json=Dir,CompiledGoFiles,Error"}, flags, []string{"--"}, dirs)
	out, err := c.Go.Run(ctx, gotool.Command{Dir: tree.Root(), Mod: mod, Args: args})
	if err != nil {
		return nil, err
	}
	packages := map[string]*cgoPackage{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir             string
			CompiledGoFiles []string
			Error           *struct{ Err string }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		dir, err := filepath.Rel(tree.Root(), p.Dir)
		if err != nil {
			return nil, err
		}
		pkg := &cgoPackage{}
		packages[filepath.ToSlash(dir)] = pkg
		if p.Error != nil {
			pkg.findings = cgoFindings(filepath.ToSlash(dir), p.Error.Err)
		}
		for _, name := range p.CompiledGoFiles {
			if !filepath.IsAbs(name) {
				continue // a source
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("reading what cgo generated: %w", diag.Cause(err))
			}
			pkg.files = append(pkg.files, data)
		}
	}
}

// cgoLine matches an error of cgo or the C compiler.
var cgoLine = lazyregexp.New(`^(.+?\.\w+):(\d+)(?::(\d+))?: (.+)$`)

// cgoFindings returns the findings in the output of cgo for a directory.
func cgoFindings(dir, text string) diag.Findings {
	var findings diag.Findings
	for line := range strings.Lines(text) {
		if m := cgoLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			number, _ := strconv.Atoi(m[2]) // the pattern matches digits
			column, _ := strconv.Atoi(m[3])
			findings = append(findings, diag.Finding{Position: diag.Position{File: path.Join(dir, path.Base(filepath.ToSlash(m[1]))), Line: number, Column: column}, Problem: m[4]})
		}
	}
	if len(findings) == 0 {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		findings = diag.Findings{{Position: diag.Position{File: dir}, Problem: cmp.Or(lines[len(lines)-1], "cgo failed")}}
	}
	return findings
}

// cgoSource matches the line directive that names the source of a generated file.
var cgoSource = lazyregexp.New(`(?m)^//line (?:.*[/\\])([^/\\\n]+\.go):`)

// replaceCgo replaces the sources of cgo in a package by what cgo has generated from them.
func (c *checker) replaceCgo(dir string, p *packageFiles) {
	generated := c.libraries.cgo[c.module][dir]
	if generated == nil || c.info != nil { // info is about the sources
		return
	}
	c.found = append(c.found, generated.findings...)
	if len(generated.findings) > 0 {
		p.failed = true
		return
	}
	p.files = slices.DeleteFunc(slices.Clone(p.files), usesCgo)
	// With -trimpath, what cgo generated in another copy of the project is in the build cache, with that directory in it.
	inDir := func(directive []byte) []byte {
		name := string(cgoSource.FindSubmatch(directive)[1])
		return []byte("//line " + filepath.Join(c.libraries.tree.Root(), filepath.FromSlash(dir), name) + ":")
	}
	// The names don't begin with "_cgo_": types in such files are taken for types of C, which can't have methods.
	for i, text := range generated.files {
		text = cgoSource.ReplaceAllFunc(text, inDir)
		tree, err := parser.ParseFile(c.module.Fset, filepath.Join(dir, fmt.Sprintf("%d.cgo1.go", i)), text, parser.SkipObjectResolution|parser.ParseComments)
		if err == nil { // cgo generates valid files
			p.files = append(p.files, tree)
		}
	}
}

// usesCgo reports whether a file is a source of cgo.
func usesCgo(f *ast.File) bool { return imports(f, "C") }
