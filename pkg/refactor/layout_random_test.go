package refactor

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/typecheck"
)

// randomProject makes a module of layout go/v3 whose packages import each other by all kinds of names. A package
// imports only those before it, and uses them beside things of its own that have the same names.
func randomProject(r *rand.Rand) map[string]string {
	const head = "domain: example.com\nlayout:\n- go.kubebuilder.io/v3\nmultigroup: true\nprojectName: walk\nrepo: example.com/walk\nresources:\n" +
		"- group: cache\n  domain: example.com\n  kind: Memcached\n  version: v1\n  path: example.com/walk/apis/cache/v1\n  controller: true\nversion: \"3\"\n"
	files := map[string]string{"PROJECT": head, "go.mod": "module example.com/walk\n\ngo 1.22\n"}
	packages := [][2]string{ // directory, name
		{"apis/cache/v1", "v1"}, {"apis/common", "common"}, {"controllers/sub", "sub"}, {"controllers/cache", "cache"}, {"controllers", "controllers"},
		{"pkg/one", "one"}, {"pkg/controller", "controller"}, {"pkg/two", "two"}, {".", "main"},
	}
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	for i, p := range packages {
		for n := range 1 + r.IntN(3) {
			var imports, uses strings.Builder
			taken := map[string]bool{}
			for _, other := range packages[:i] {
				alias := pick("", "", other[1], "controllers", "controller", "cachecontrollers", "mine", "sub2")
				local := alias
				if local == "" {
					local = other[1]
				}
				if r.IntN(2) == 0 || taken[local] {
					continue
				}
				taken[local] = true
				fmt.Fprintf(&imports, "import %s %q\n", alias, path.Join("example.com/walk", other[0]))
				fmt.Fprintf(&uses, "var _ %s.T = %s.V\n", local, local)
				if r.IntN(3) == 0 {
					fmt.Fprintf(&uses, "func _() {\n\t_ = %[1]s.V\n\t%[1]s := struct{ V int }{}\n\t_ = %[1]s.V\n}\n", local)
				}
			}
			var own string
			if n == 0 {
				own = "type T struct{}\n\nvar V T\n"
				if p[1] == "main" {
					own = "func main() {}\n"
				}
			}
			// A name that a moved package gets, declared in another file as a local name or by the package.
			own += pick("", "", "func _(controller int) int { return controller }\n", "func _(cachecontroller, controller2 int) {}\n")
			if name := pick("", "", "controller", "cachecontroller", "controller2"); name != "" && n == 0 && p[1] != name {
				own += "\nvar " + name + " = 1\n"
			}
			file := path.Join(p[0], fmt.Sprintf("f%d.go", n))
			files[file] = "package " + p[1] + "\n\n" + imports.String() + "\n" + uses.String() + "\n" + own
		}
	}
	return files
}

// TestToV4Random checks that what compiles before a move does so afterwards, whatever names things have.
func TestToV4Random(t *testing.T) {
	t.Parallel()
	moved := 0
	for seed := range uint64(150) {
		files := randomProject(rand.New(rand.NewPCG(seed, 7)))
		tree := onDisk(t, files)
		// The projects import no other modules.
		check := func() diag.Findings {
			findings, err := typecheck.Checker{}.Check(t.Context(), tree)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return findings
		}
		if len(check()) > 0 {
			continue // one file's import is the other's variable
		}
		if _, err := toV4(tree); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		moved++
		if findings := check(); len(findings) > 0 {
			t.Fatalf("seed %d: %v\n%s", seed, findings, all(t, tree)[findings[0].File])
		}
		for name := range all(t, tree) {
			if strings.HasPrefix(name, "controllers") || strings.HasPrefix(name, "apis") {
				t.Errorf("seed %d: %s was not moved", seed, name)
			}
		}
	}
	if moved < 50 {
		t.Errorf("%d projects compiled before the move, want at least 50", moved)
	}
}
