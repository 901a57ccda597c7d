package codegen

import (
	"bytes"
	"fmt"
	"go/ast"
	goformat "go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// copiesFile is the file of DeepCopy methods in a package.
const copiesFile = "zz_generated.deepcopy.go"

// An objectGenerator is the generator of DeepCopy methods, except that it writes the methods of types for which the code of controller-tools
// would not compile: those that contain instances of generic types, structs without a name, or structs without DeepCopy methods. Generic types
// have no methods, as these would not know how to copy their type arguments; each type that contains instances copies them itself.
type objectGenerator struct {
	deepcopy.Generator
	// unsupported receives the problems of fields; nil to record errors.
	unsupported func([]typeProblem)
}

// Generate implements genall.Generator.
func (g objectGenerator) Generate(ctx *genall.GenerationContext) error {
	source := &copySource{
		collector: ctx.Collector, index: &packageIndex{roots: ctx.Roots},
		enabled: map[*loader.Package]map[string]bool{}, inFiles: map[string]map[string]bool{},
	}
	for _, root := range ctx.Roots {
		if err := g.generate(ctx, root, source); err != nil {
			return err
		}
	}
	return nil
}

// generate generates the methods of a package.
func (g objectGenerator) generate(ctx *genall.GenerationContext, root *loader.Package, source *copySource) error {
	ctx.Checker.Check(root)
	root.NeedTypesInfo()
	values, err := ctx.Collector.MarkersInPackage(root)
	if err != nil { // the generator reports it
		return g.Generator.Generate(withRoot(ctx, root))
	}
	var own []*markers.TypeInfo
	var problems []typeProblem
	check := &copyWriter{pkg: root, source: source, imports: newCopyImports(root, nil), helpers: map[string]string{}}
	err = markers.EachType(ctx.Collector, root, func(info *markers.TypeInfo) {
		t := root.TypesInfo.TypeOf(info.RawSpec.Name)
		if info.RawSpec.TypeParams != nil || t != nil && !canHaveMethods(t) {
			hide(values, info)
			return
		}
		if !source.isEnabledByName(root, info.Name) {
			return
		}
		named, ok := t.(*types.Named)
		if !ok || !ast.IsExported(info.Name) || declaredMethod(root, named) != "" {
			return
		}
		broken := source.isBrokenType(root, named)
		for _, problem := range check.problemsOf(info, named) {
			problem.isCertain = broken
			problems = append(problems, problem)
		}
		if broken {
			hide(values, info)
			own = append(own, info)
		}
	})
	if err != nil {
		return err
	}
	if g.unsupported != nil {
		g.unsupported(problems)
	} else if slices.ContainsFunc(problems, func(problem typeProblem) bool { return problem.isCertain }) {
		recordProblems(problems)
	}
	if len(own) == 0 {
		return g.Generator.Generate(withRoot(ctx, root))
	}
	single := withRoot(ctx, root)
	files := map[string][]byte{}
	single.OutputRule = &artifacts{files: files, code: func(*loader.Package) string { return "." }}
	if err := g.Generator.Generate(single); err != nil {
		return err
	}
	code, err := g.merge(ctx, root, source, files[copiesFile], own)
	if err != nil {
		return err
	}
	out, err := ctx.Open(root, copiesFile)
	if err != nil {
		return err
	}
	_, err = out.Write(code)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}

func canHaveMethods(t types.Type) bool {
	_, isPointer := t.Underlying().(*types.Pointer)
	return !isPointer && !types.IsInterface(t)
}

func withRoot(ctx *genall.GenerationContext, root *loader.Package) *genall.GenerationContext {
	single := *ctx
	single.Roots = []*loader.Package{root}
	return &single
}

// hide makes controller-tools write no methods for a type. It reads the markers from the same map.
func hide(values map[ast.Node]markers.MarkerValues, info *markers.TypeInfo) {
	if values[info.RawSpec] == nil {
		values[info.RawSpec] = markers.MarkerValues{}
	}
	values[info.RawSpec]["kubebuilder:object:generate"] = []any{false}
}

// merge adds the methods of own types to the file that controller-tools has written, if any.
func (g objectGenerator) merge(ctx *genall.GenerationContext, root *loader.Package, source *copySource, written []byte, own []*markers.TypeInfo) ([]byte, error) {
	var imports []*ast.ImportSpec
	methods := map[string]string{}
	head := ""
	if written != nil {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, copiesFile, written, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", root.PkgPath, err)
		}
		imports = tree.Imports
		offset := func(pos token.Pos) int { return fset.PositionFor(pos, false).Offset }
		head = string(written[:offset(tree.Name.End())])
		for _, decl := range tree.Decls {
			if method, ok := decl.(*ast.FuncDecl); ok && method.Recv != nil && method.Doc != nil {
				name := typeName(method.Recv.List[0].Type)
				methods[name] += string(written[offset(method.Doc.Pos()):offset(method.End())]) + "\n\n"
			}
		}
	} else {
		header := ""
		if g.HeaderFile != "" {
			data, err := ctx.ReadFile(g.HeaderFile)
			if err != nil {
				return nil, err
			}
			header = strings.ReplaceAll(string(data), " YEAR", " "+g.Year)
		}
		head = fmt.Sprintf("//go:build !ignore_autogenerated\n\n%s\n\n// Code generated by controller-gen. DO NOT EDIT.\n\npackage %s", header, root.Name)
	}
	w := &copyWriter{pkg: root, source: source, imports: newCopyImports(root, imports), helpers: map[string]string{}}
	for _, info := range own {
		methods[info.Name] = w.methods(info, root.TypesInfo.TypeOf(info.RawSpec.Name).(*types.Named))
	}
	helpers := w.helperFunctions()
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n\nimport (\n%s\n)\n\n", head, strings.Join(w.imports.specs(), "\n"))
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		_, _ = io.WriteString(&out, methods[name])
	}
	_, _ = io.WriteString(&out, helpers)
	return goformat.Source(out.Bytes())
}
