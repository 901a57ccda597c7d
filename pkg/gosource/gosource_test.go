package gosource_test

import (
	"go/ast"
	"testing"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

func TestImportName(t *testing.T) {
	t.Parallel()
	file, err := gosource.Parse("x.go", []byte(`package x

import (
	"example.com/api/v2"
	"example.com/go-api"
	"gopkg.in/yaml.v3"
	"k8s.io/klog/v2"
	v1 "k8s.io/api/core/v1"
	_ "embed"
	"sigs.k8s.io/controller-runtime"
)

var _ = []any{v2.A, api.B, yaml.C, klog.D, v1.E}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"v2", "api", "yaml", "klog", "v1", "_", "controllerruntime"}
	for i, spec := range file.AST.Imports {
		if got := file.ImportName(spec); got != want[i] {
			t.Errorf("%s: got name %q, want %q", spec.Path.Value, got, want[i])
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"formatted":     {"package x\n\nvar a = 1\n", "package x\n\nvar longName = 1\nvar b = 2\n"},
		"not formatted": {"package x\nvar   a = 1\n", "package x\nvar   longName = 1\nvar   b = 2\n"},
	} {
		file, err := gosource.Parse("x.go", []byte(test.text))
		if err != nil {
			t.Fatal(err)
		}
		id := gosource.TopLevel(file.AST)[0]
		end := file.LineEnd(id.Pos())
		got, err := file.Apply([]textdiff.Edit{{From: end, To: end, Text: "var   b = 2\n"}, file.Replace(id, "longName")})
		if err != nil || string(got) != test.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, err, test.want)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()
	file, err := gosource.Parse("x.go", []byte(`package x

func F() {}
func (t *T) M() {}
type T struct{}
var v = 1
var _ = Describe("a", func() {})
var _ I = T{}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"func F", "func T.M", "type T", "var v", `call Describe "a"`, "blank T{}"}
	for i, decl := range file.AST.Decls {
		if got := gosource.Key(decl); got != want[i] {
			t.Errorf("got key %q, want %q", got, want[i])
		}
	}
}

func TestUnresolved(t *testing.T) {
	t.Parallel()
	file, err := gosource.Parse("x.go", []byte("package x\n\nfunc f(a T) { _ = a.B; _ = b.C }\n"))
	if err != nil {
		t.Fatal(err)
	}
	used := file.UsedQualifiers(file.AST)
	if used["a"] || !used["b"] {
		t.Errorf("got qualifiers %v, want b only", used)
	}
	ast.Inspect(file.AST, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "T" && !file.IsUnresolved(id) {
			t.Error("T is declared in another file, and not unresolved")
		}
		return true
	})
}
