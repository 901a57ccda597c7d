package scaffold

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Source is an existing version of a kind, whose types and sample a new version begins with. The zero Source means that it begins
// with the scaffold's.
type Source struct {
	// Version is the version, such as v1alpha1. Package is the import path of its types.
	Version, Package string
}

// of returns the data of the source version.
func (s Source) of(data Data) Data {
	data.Resource.Version, data.Resource.Package, data.Resource.From = s.Version, s.Package, Source{}
	return data
}

// versionMarkers matches the markers that describe one version of a kind and not the shape of its types.
var versionMarkers = lazyregexp.New(`(?m)^\s*//\s?\+kubebuilder:(storageversion|unservedversion|deprecatedversion\b.*)\n`)

// copyVersion replaces the types and the sample in files by copies of the source version's.
func copyVersion(tree *worktree.Tree, files map[string][]byte, data Data) error {
	target := outputPath(apiPath+"/KIND_types.go", data)
	source, err := readPackage(tree, path.Dir(outputPath(apiPath+"/KIND_types.go", data.Resource.From.of(data))))
	if err != nil {
		return err
	}
	main, _ := source.typeNamed(data.Resource.Kind)
	if main == nil {
		return fmt.Errorf("%s: type %s struct not found; pass --from none to begin with the scaffold", source.dir, data.Resource.Kind)
	}
	existing, err := readPackage(tree, path.Dir(target))
	if err != nil {
		return err
	}
	declared := existing.keys(target)
	types, err := copyTypes(main, files[target], target, data, declared)
	if err != nil {
		return err
	}
	if files[target], err = addNeeded(types, source, target, declared); err != nil {
		return err
	}
	return copySample(tree, files, data)
}

// copyTypes returns the file with the types of a kind for another version. Declarations that the package has already, those that
// make the source a hub or a spoke, and assertions about methods are left out. Types are registered as in the scaffold.
func copyTypes(main *declarations, scaffold []byte, name string, data Data, declared map[string]bool) ([]byte, error) {
	theirs, err := parseDeclarations(name, scaffold)
	if err != nil {
		return nil, fmt.Errorf("reading the scaffold of %s: %w", name, err)
	}
	edits := []textdiff.Edit{main.Replace(main.AST.Name, data.Resource.Version)}
	imports := map[string]bool{}
	for _, spec := range main.AST.Imports {
		imports[importKey(main.File, spec)] = true
	}
	const registration = "func init"
	init := theirs.list[slices.IndexFunc(theirs.list, func(d declaration) bool { return d.key == registration })]
	registered := textdiff.Edit{From: len(main.Text), To: len(main.Text), Text: "\n" + init.text + "\n"}
	kind := "func " + data.Resource.Kind + "."
	for _, d := range main.list {
		switch {
		case d.key == registration:
			registered = textdiff.Edit{From: d.from, To: d.to, Text: init.text}
		case declared[d.key], strings.HasPrefix(d.key, "blank "), d.key == kind+"Hub", d.key == kind+"ConvertTo", d.key == kind+"ConvertFrom":
			edits = append(edits, textdiff.Edit{From: d.from, To: d.to})
		default:
			if text := versionMarkers.ReplaceAllString(d.text, ""); text != d.text {
				edits = append(edits, textdiff.Edit{From: d.from, To: d.to, Text: text})
			}
		}
	}
	added, err := main.addImports(theirs, theirs.UsedQualifiers(init.decl))
	if err != nil {
		return nil, err
	}
	copied, err := main.Apply(slices.Concat(edits, added, []textdiff.Edit{registered}))
	if err != nil {
		return nil, err
	}
	for _, spec := range theirs.AST.Imports {
		imports[importKey(theirs.File, spec)] = true
	}
	return removeUnusedImports(name, copied, imports)
}

// addNeeded adds the declarations of other files in the source package that the types refer to, directly or not.
func addNeeded(types []byte, source *goPackage, name string, declared map[string]bool) ([]byte, error) {
	for {
		file, err := parseDeclarations(name, types)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(file.AST.Unresolved, func(id *ast.Ident) bool {
			from, d := source.typeNamed(id.Name)
			return from != nil && !declared[d.key]
		})
		if at < 0 {
			return types, nil
		}
		from, d := source.typeNamed(file.AST.Unresolved[at].Name)
		imports, err := file.addImports(from, from.UsedQualifiers(d.decl))
		if err != nil {
			return nil, err
		}
		declared[d.key] = true
		added := textdiff.Edit{From: len(types), To: len(types), Text: "\n" + d.text + "\n"}
		if types, err = file.Apply(append(imports, added)); err != nil {
			return nil, err
		}
	}
}

// hasConditions reports whether a file declares a kind whose status has the field Conditions, which the scaffold's controller sets.
func hasConditions(types []byte, kind string) bool {
	file, err := gosource.Parse("types.go", types)
	if err != nil {
		return false
	}
	set := typeSet{}
	set.add(file.AST)
	expr := ast.Expr(ast.NewIdent(kind))
	for _, name := range []string{"Status", "Conditions"} {
		s := set.structOf(expr)
		if s == nil {
			return false
		}
		fields := fieldsOf(s)
		at := slices.IndexFunc(fields, func(f structField) bool { return f.name == name })
		if at < 0 {
			return false
		}
		expr = fields[at].typ
	}
	return true
}

// goPackage holds the declarations of a package's files, without tests and generated files.
type goPackage struct {
	dir   string
	files []*declarations
}

// readPackage reads a package, which can be missing.
func readPackage(tree *worktree.Tree, dir string) (*goPackage, error) {
	pkg := &goPackage{dir: dir}
	names, err := tree.Walk(dir, func(string) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	for _, name := range names {
		base := path.Base(name)
		if path.Ext(base) != ".go" || strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_generated.") {
			continue
		}
		content, err := tree.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
		content, _ = textdiff.ToLF(content)
		file, err := parseDeclarations(name, content)
		if err != nil {
			return nil, syntaxError(err)
		}
		pkg.files = append(pkg.files, file)
	}
	return pkg, nil
}

// typeNamed returns the declaration of a type and its file, or nil.
func (p *goPackage) typeNamed(name string) (*declarations, declaration) {
	for _, file := range p.files {
		for _, d := range file.list {
			general, ok := d.decl.(*ast.GenDecl)
			if ok && slices.ContainsFunc(general.Specs, func(spec ast.Spec) bool {
				t, ok := spec.(*ast.TypeSpec)
				return ok && t.Name.Name == name
			}) {
				return file, d
			}
		}
	}
	return nil, declaration{}
}

// keys returns the keys of all declarations of types, methods and variables outside of one file.
func (p *goPackage) keys(except string) map[string]bool {
	keys := map[string]bool{}
	for _, file := range p.files {
		for _, d := range file.list {
			if file.Name != except && d.key != "func init" {
				keys[d.key] = true
			}
		}
	}
	return keys
}
