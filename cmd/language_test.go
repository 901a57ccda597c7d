package cmd_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/golangci/misspell"
	"sigs.k8s.io/yaml"
)

const maxLines = 350

// TestSpelling checks Go files, templates and Markdown files for typos and for spelling that isn't American. Strings in
// tests may contain some on purpose.
func TestSpelling(t *testing.T) {
	t.Parallel()
	speller := misspell.New()
	speller.AddRuleList(misspell.DictAmerican)
	speller.Compile()
	for _, file := range sourceFiles(t) {
		replace := speller.Replace
		if strings.HasSuffix(file, "_test.go") {
			replace = speller.ReplaceGo
		}
		_, diffs := replace(string(readSource(t, file)))
		for _, diff := range diffs {
			t.Errorf("%s:%d: %q; write %q", file, diff.Line, diff.Original, diff.Corrected)
		}
	}
}

// TestDocComments checks that the doc comments of exported names begin with the name, as go.dev/doc/comment asks.
func TestDocComments(t *testing.T) {
	t.Parallel()
	eachProgramFile(t, func(_ string, fset *token.FileSet, syntax *ast.File) {
		check := func(name *ast.Ident, doc *ast.CommentGroup) {
			if !name.IsExported() || doc == nil {
				return
			}
			if words := strings.Fields(doc.Text()); !beginsWith(words, name.Name) {
				t.Errorf("%s: the comment of %s doesn't begin with the name", fset.Position(doc.Pos()), name.Name)
			}
		}
		for _, decl := range syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				check(decl.Name, decl.Doc)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						check(spec.Name, firstComment(spec.Doc, decl))
					case *ast.ValueSpec:
						check(spec.Names[0], firstComment(spec.Doc, decl))
					}
				}
			}
		}
	})
}

// firstComment returns the comment of a specification, which for a declaration without parentheses belongs to the declaration.
func firstComment(doc *ast.CommentGroup, decl *ast.GenDecl) *ast.CommentGroup {
	if doc == nil && !decl.Lparen.IsValid() {
		return decl.Doc
	}
	return doc
}

// beginsWith reports whether a comment begins with a name, possibly after an article.
func beginsWith(words []string, name string) bool {
	if len(words) > 1 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	return len(words) > 0 && (words[0] == name || strings.TrimRight(words[0], ",:'s") == name)
}

// verb matches what follows the name of a field in a description that is a sentence.
var verb = regexp.MustCompile(`^(\w+) (is|are|has|holds|defines|describes|contains|counts|represents?|reports|lists) .*\.$`)

// kubernetes lists descriptions in metav1.Condition that aren't sentences.
var kubernetes = []string{"type of condition in CamelCase or in foo.example.com/CamelCase.", "status of the condition, one of True, False, Unknown."}

// TestDescriptions checks the CRDs of the golden projects: the spec, the status and each field of the status has a
// description, which is a sentence about the field. A role can describe its spec in its author's words.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/*-operator/config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var definition struct {
			Spec struct {
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema described `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(data, &definition); err != nil {
			t.Fatal(err)
		}
		for _, version := range definition.Spec.Versions {
			schema := version.Schema.OpenAPIV3Schema
			if spec := schema.Properties["spec"].Description; spec == "" || strings.HasPrefix(spec, "spec ") {
				checkDescription(t, file, "spec", spec)
			}
			checkDescription(t, file, "status", schema.Properties["status"].Description)
			schema.Properties["status"].checkFields(t, file, "status")
		}
	}
}

// described is the part of an OpenAPI schema that contains descriptions.
type described struct {
	Description string               `json:"description"`
	Properties  map[string]described `json:"properties"`
	Items       *described           `json:"items"`
}

func (d described) checkFields(t *testing.T, file, parent string) {
	t.Helper()
	for name, field := range d.Properties {
		checkDescription(t, file, parent+"."+name, field.Description)
		field.checkFields(t, file, parent+"."+name)
	}
	if d.Items != nil {
		d.Items.checkFields(t, file, parent+"[]")
	}
}

func checkDescription(t *testing.T, file, field, description string) {
	t.Helper()
	if slices.Contains(kubernetes, description) {
		return
	}
	name := field[strings.LastIndex(field, ".")+1:]
	match := verb.FindStringSubmatch(strings.Join(strings.Fields(description), " "))
	if match == nil || match[1] != name || match[2] == "are" && !strings.HasSuffix(name, "s") {
		t.Errorf("%s: %s: %q isn't a sentence that begins with the name of the field and a verb", file, field, description)
	}
}

// TestFileLengths checks that no Go file in cmd and pkg, tests excepted, has more than maxLines lines.
func TestFileLengths(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t) {
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || !strings.HasPrefix(file, "cmd/") && !strings.HasPrefix(file, "pkg/") {
			continue
		}
		if lines := bytes.Count(readSource(t, file), []byte("\n")); lines > maxLines {
			t.Errorf("%s has %d lines; split it, at most %d are allowed", file, lines, maxLines)
		}
	}
}

// sourceFiles returns the paths of Go files, templates and Markdown files of the module, relative to its root and sorted.
// testdata is left out.
func sourceFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base == "testdata" || base == "bin" || base != "." && strings.HasPrefix(base, ".") && !strings.HasPrefix(name, "templates/") {
				return fs.SkipDir
			}
			return nil
		}
		if slices.Contains([]string{".go", ".md", ".tmpl"}, path.Ext(name)) {
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// eachProgramFile calls visit for the Go files of the module except for tests, with their paths relative to its root.
func eachProgramFile(t *testing.T, visit func(file string, fset *token.FileSet, syntax *ast.File)) {
	t.Helper()
	for _, file := range sourceFiles(t) {
		if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, file, readSource(t, file), parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		visit(file, fset, syntax)
	}
}

// readSource reads a file by its path relative to the module's root.
func readSource(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
