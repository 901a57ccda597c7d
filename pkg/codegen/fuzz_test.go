package codegen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// FuzzDeclarations reduces any source that parses, and expects markers and documentation to stay with their types.
func FuzzDeclarations(f *testing.F) {
	err := filepath.WalkDir("testdata/fixtures", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			var data []byte
			data, err = os.ReadFile(name)
			f.Add(string(data))
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("package p\n\n// +a\nfunc f() {} // +b\n// +kubebuilder:validation:Minimum=1\ntype T int")
	f.Add("package p; var x = 1; /* a */ /* b */ type T struct { A int } // +groupName=x\nconst c = x")
	registry := &markers.Registry{}
	if err := (crd.Generator{}).RegisterMarkers(registry); err != nil {
		f.Fatal(err)
	}
	view := func(src string) (*loader.Package, error) {
		tree, err := parser.ParseFile(token.NewFileSet(), "", src, parser.AllErrors|parser.ParseComments)
		if err != nil {
			return nil, err
		}
		return &loader.Package{Package: &packages.Package{Syntax: []*ast.File{tree}}}, nil
	}
	f.Fuzz(func(t *testing.T, src string) {
		full, err := view(src)
		if err != nil {
			return
		}
		if _, err := (&markers.Collector{Registry: registry}).MarkersInPackage(full); err != nil {
			return // generators don't get that far
		}
		reduced, err := declarations([][]byte{[]byte(src)})
		if err != nil {
			t.Fatal(err)
		}
		part, err := view(string(reduced[0]))
		if err != nil {
			t.Fatalf("%v\n%s", err, reduced[0])
		}
		if want, got := seen(t, registry, full), seen(t, registry, part); !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%v\nwant\n%v\nfrom\n%s", got, want, reduced[0])
		}
	})
}
