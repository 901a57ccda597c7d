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

// FuzzDeclarations reduces any valid source, and expects markers and comments to remain at their types.
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
			return // generators do not run then
		}
		reduced, err := declarations([][]byte{[]byte(src)})
		if err != nil {
			t.Fatal(err)
		}
		part, err := view(string(reduced[0]))
		if err != nil {
			t.Fatalf("%v\n%s", err, reduced[0])
		}
		if want, got := typeFacts(t, registry, full), typeFacts(t, registry, part); !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%v\nwant\n%v\nfrom\n%s", got, want, reduced[0])
		}
	})
}

// FuzzMarker parses markers within the limits, and expects no value to be nested deeper, and no list to be longer, than shape
// returned.
func FuzzMarker(f *testing.F) {
	for _, text := range []string{
		"+kubebuilder:default=1",
		"+kubebuilder:default={a:{b:{1,2,3}},\"}{\":`{`}",
		"+kubebuilder:default={{1,2},{3}}",
		"+kubebuilder:default={{\"{\",x}",
		"+kubebuilder:validation:Enum=a;b;c",
		"+kubebuilder:validation:Enum={1,'{',3}",
		"+kubebuilder:validation:XValidation:rule=\"size(self) < 10\",message='a;b'",
		"+kubebuilder:rbac:groups=a;b,resources={c,d},verbs=*",
		"+kubebuilder:default=" + strings.Repeat("{", 50) + "1" + strings.Repeat("}", 50),
	} {
		f.Add(text)
	}
	registry, err := All.registry()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		steps := 0
		if !strings.HasPrefix(text, "+") || strings.ContainsAny(text, "\r\n") || len(text) > 4096 ||
			checkMarker(registry, strings.TrimSpace(text), &steps) != "" {
			return
		}
		depth, values := shape(text)
		for _, target := range markerTargets() {
			definition := registry.Lookup(text, target)
			if definition == nil {
				continue
			}
			value, err := definition.Parse(text)
			if err != nil {
				continue
			}
			if deep, long := extent(reflect.ValueOf(value)); deep > depth+3 || long > values { // a marker, an argument and a list
				t.Errorf("shape(%q) = %d, %d, but the value has depth %d and a list of %d", text, depth, values, deep, long)
			}
		}
	})
}

// extent returns the nesting depth of a value, and the length of the longest list in it.
func extent(v reflect.Value) (deep, long int) {
	add := func(inner reflect.Value) {
		d, l := extent(inner)
		deep, long = max(deep, d), max(long, l)
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return 0, 0
		}
		return extent(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			add(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return 0, 0
		}
		for i := range v.Len() {
			add(v.Index(i))
		}
		long = max(long, v.Len())
	case reflect.Map:
		for _, key := range v.MapKeys() {
			add(v.MapIndex(key))
		}
		long = max(long, v.Len())
	default:
		return 0, 0
	}
	return deep + 1, long
}
