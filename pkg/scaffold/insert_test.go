package scaffold

import (
	"errors"
	"go/format"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
)

const mainGo = `package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/example/op/internal/controller"
	// +kubebuilder:scaffold:imports
)

var text = ` + "`" + `
// +kubebuilder:scaffold:scheme
` + "`" + `

func init() {
	must(clientgoscheme.AddToScheme(scheme))

	//+kubebuilder:scaffold:scheme
}

func main() {
	mgr, err := ctrl.NewManager()
	if err != nil {
		os.Exit(1)
	}
	// +kubebuilder:scaffold:builder
	mgr.Start(controller.Context()) // +kubebuilder:scaffold:trailing
}
`

const builderText = `
	if err := (&controller.MemcachedReconciler{
		Client: mgr.GetClient(),
	}).SetupWithManager(mgr); err != nil {
		os.Exit(1)
	}
`

var mainBlocks = map[string]string{
	"imports": "cachev1alpha1 \"github.com/example/op/api/v1alpha1\"\n\"github.com/example/op/internal/controller\"\n",
	"scheme":  "must(cachev1alpha1.AddToScheme(scheme))\n",
	"builder": builderText,
}

func mustInsert(t *testing.T, content, name string, blocks map[string]string) string {
	t.Helper()
	out, err := Insert([]byte(content), name, blocks)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Insert(out, name, blocks)
	if err != nil || string(again) != string(out) {
		t.Errorf("inserting twice: %v\n%s", err, again)
	}
	return string(out)
}

func wantMain() string {
	return strings.NewReplacer(
		"\t// +kubebuilder:scaffold:imports", "\t// +kubebuilder:scaffold:imports",
		"\t\"github.com/example/op/internal/controller\"\n", "\tcachev1alpha1 \"github.com/example/op/api/v1alpha1\"\n\t\"github.com/example/op/internal/controller\"\n",
		"\t//+kubebuilder:scaffold:scheme", "\tmust(cachev1alpha1.AddToScheme(scheme))\n\t//+kubebuilder:scaffold:scheme",
		"\t// +kubebuilder:scaffold:builder", strings.TrimPrefix(builderText, "\n")+"\t// +kubebuilder:scaffold:builder",
	).Replace(mainGo)
}

func TestInsertGo(t *testing.T) {
	t.Parallel()
	if got := mustInsert(t, mainGo, "cmd/main.go", mainBlocks); got != wantMain() {
		t.Errorf("got\n%s\nwant\n%s", got, wantMain())
	}
}

func TestInsertKeepsCRLF(t *testing.T) {
	t.Parallel()
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	if got := mustInsert(t, crlf(mainGo), "cmd/main.go", mainBlocks); got != crlf(wantMain()) {
		t.Errorf("got\n%q", got)
	}
	const k = "resources:\r\n- a.yaml\r\n#+kubebuilder:scaffold:r\r\n"
	if got := mustInsert(t, k, "k.yaml", map[string]string{"r": "- b.yaml\n"}); got != "resources:\r\n- a.yaml\r\n- b.yaml\r\n#+kubebuilder:scaffold:r\r\n" {
		t.Errorf("got %q", got)
	}
	// Mixed line ends: only the new line is chosen, as the marker's.
	const mixed = "resources:\n- a.yaml\r\n# +kubebuilder:scaffold:r\r\nx: 1\n"
	if got := mustInsert(t, mixed, "k.yaml", map[string]string{"r": "- b.yaml\n"}); got != "resources:\n- a.yaml\r\n- b.yaml\r\n# +kubebuilder:scaffold:r\r\nx: 1\n" {
		t.Errorf("got %q", got)
	}
}

// A layout that gofmt would not leave alone survives; only what is inserted is formatted.
func TestInsertKeepsLayout(t *testing.T) {
	t.Parallel()
	const ugly = "package main\n\nimport (\n    \"os\"\n    // +kubebuilder:scaffold:imports\n)\n\nfunc main() {\n  os.Exit( 0 )\n  // +kubebuilder:scaffold:builder\n}\n"
	got := mustInsert(t, ugly, "main.go", map[string]string{
		"imports": "\t\"fmt\"\n",
		"builder": "if   true {\nfmt.Println( 1 )\n}\n",
	})
	want := "package main\n\nimport (\n    \"os\"\n    \"fmt\"\n    // +kubebuilder:scaffold:imports\n)\n\nfunc main() {\n  os.Exit( 0 )\n  if true {\n  \tfmt.Println(1)\n  }\n  // +kubebuilder:scaffold:builder\n}\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestInsertExisting(t *testing.T) {
	t.Parallel()
	inserted := mustInsert(t, mainGo, "main.go", mainBlocks)
	for name, edit := range map[string]func(string) string{
		"another layout": func(s string) string {
			return strings.ReplaceAll(s, "must(cachev1alpha1.AddToScheme(scheme))", "must( cachev1alpha1.AddToScheme(scheme) ) // why")
		},
		"another field": func(s string) string {
			return strings.ReplaceAll(s, "Client: mgr.GetClient(),", "Client: mgr.GetClient(), Extra: 1,")
		},
		"assignment as in older projects": func(s string) string {
			return strings.ReplaceAll(s, "if err := (&controller.Mem", "if err = (&controller.Mem")
		},
		"lost markers": func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(s, "// +kube", "// kube"), "//+kube", "// kube")
		},
	} {
		edited := edit(inserted)
		if edited == inserted {
			t.Fatalf("%s: nothing edited", name)
		}
		if got := mustInsert(t, edited, "main.go", mainBlocks); got != edited {
			t.Errorf("%s: inserted again:\n%s", name, got)
		}
	}
	// Similar texts do not count.
	for _, other := range []string{
		"// must(cachev1alpha1.AddToScheme(scheme))",
		"/*\nmust(cachev1alpha1.AddToScheme(scheme))\n*/",
		"_ = `\nmust(cachev1alpha1.AddToScheme(scheme))\n`",
	} {
		file := strings.Replace(mainGo, "\tmust(clientgoscheme.AddToScheme(scheme))\n", other+"\n", 1)
		if got := mustInsert(t, file, "main.go", map[string]string{"scheme": mainBlocks["scheme"]}); strings.Count(got, "must(cachev1alpha1") != 2 {
			t.Errorf("%s counted as there:\n%s", other, got)
		}
	}
	// Another reconciler is another one.
	second := strings.ReplaceAll(builderText, "Memcached", "Other")
	if got := mustInsert(t, inserted, "main.go", map[string]string{"builder": second}); strings.Count(got, "SetupWithManager") != 2 {
		t.Errorf("second controller:\n%s", got)
	}
}

func TestInsertImports(t *testing.T) {
	t.Parallel()
	// What the file imports by another name is used by that name.
	file := strings.Replace(mainGo, "\t\"github.com/example/op/internal/controller\"", "\tmine \"github.com/example/op/internal/controller\"", 1)
	got := mustInsert(t, file, "main.go", mainBlocks)
	if strings.Count(got, "internal/controller") != 1 || !strings.Contains(got, "(&mine.MemcachedReconciler{") {
		t.Errorf("got\n%s", got)
	}
	// A name that stands for something else would not compile.
	file = strings.Replace(mainGo, "github.com/example/op/internal/controller", "sigs.k8s.io/controller-runtime/pkg/controller", 1)
	_, err := Insert([]byte(file), "cmd/main.go", map[string]string{"imports": mainBlocks["imports"]})
	if err == nil || !strings.HasPrefix(err.Error(), "cmd/main.go:8:2: the name controller refers to sigs.k8s.io/controller-runtime/pkg/controller here") {
		t.Errorf("error %v", err)
	}
}

func TestInsertMissingMarkers(t *testing.T) {
	t.Parallel()
	file := strings.Replace(mainGo, "\t// +kubebuilder:scaffold:builder\n", "\t_ = \"// +kubebuilder:scaffold:builder\"\n", 1)
	file = strings.Replace(file, "\t//+kubebuilder:scaffold:scheme\n", "", 1)
	out, err := Insert([]byte(file), "cmd/main.go", mainBlocks)
	want := `cmd/main.go: the marker builder is missing; it belongs in the function main, below the set-up of the last controller and above the health checks
  put this line back and run the command again:
    // +kubebuilder:scaffold:builder
  or add by hand what would have been inserted there:
    if err := (&controller.MemcachedReconciler{
    	Client: mgr.GetClient(),
    }).SetupWithManager(mgr); err != nil {
    	os.Exit(1)
    }
cmd/main.go: the marker scheme is missing; it belongs at the end of the function init, below the last AddToScheme
  put this line back and run the command again:
    // +kubebuilder:scaffold:scheme
  or add by hand what would have been inserted there:
    must(cachev1alpha1.AddToScheme(scheme))`
	if out != nil || err == nil || err.Error() != want {
		t.Errorf("error\n%v", err)
	}
	if f, ok := errors.AsType[diag.Finding](err); !ok || f.File != "cmd/main.go" {
		t.Errorf("error %T without a finding in cmd/main.go", err)
	}
	_, err = Insert([]byte("resources:\n"), "config/crd/kustomization.yaml", map[string]string{"crdkustomizeresource": "- x.yaml\n"})
	if err == nil || !strings.Contains(err.Error(), "at the end of the list resources") || !strings.Contains(err.Error(), "    # +kubebuilder:scaffold:crdkustomizeresource\n") {
		t.Errorf("error %v", err)
	}
}

func TestInsertRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, content string
		blocks        map[string]string
		want          string
	}{
		"broken Go":       {"cmd/main.go", "package main\n\nfunc main() {\n", mainBlocks, "cmd/main.go:3:15: expected '}', found 'EOF'; correct it"},
		"unknown kind":    {"Makefile", "# +kubebuilder:scaffold:x\n", map[string]string{"x": "y"}, "Makefile: scaffold markers are supported in .go, .yaml and .yml files only"},
		"moved marker":    {"m.go", "package m\n\n// +kubebuilder:scaffold:imports\n", map[string]string{"imports": "\"fmt\""}, "would not be valid Go"},
		"inline list":     {"k.yaml", "resources: [a]\n# +kubebuilder:scaffold:x\n", map[string]string{"x": "- b\n"}, "would not be valid YAML"},
		"trailing marker": {"main.go", mainGo, map[string]string{"trailing": "x()"}, "the marker trailing is missing"},
	} {
		_, err := Insert([]byte(c.content), c.file, c.blocks)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Items get the indentation of the list that ends above the marker, if that is deeper than the marker.
func TestInsertIndentedList(t *testing.T) {
	t.Parallel()
	const marker = "# +kubebuilder:scaffold:x\n"
	for content, want := range map[string]string{
		"resources:\n  - a\n" + marker:                                      "resources:\n  - a\n  - b\n" + marker,
		"resources:\n  - a\n\n" + marker + "other: 1\n":                     "resources:\n  - a\n\n  - b\n" + marker + "other: 1\n",
		"patches:\n  - path: a\n    list:\n      - c\n" + marker:            "patches:\n  - path: a\n    list:\n      - c\n  - b\n" + marker,
		"patches:\n- path: a\n  list:\n    - c\n" + marker:                  "patches:\n- path: a\n  list:\n    - c\n- b\n" + marker,
		"resources:\n  - a: |\n      text\n" + marker:                       "resources:\n  - a: |\n      text\n  - b\n" + marker,
		"resources:\n  - a\n  " + marker + "  # c\n":                        "resources:\n  - a\n  - b\n  " + marker + "  # c\n",
		"a:\n  - c\n---\nresources:\n    - a\n" + marker:                    "a:\n  - c\n---\nresources:\n    - a\n    - b\n" + marker,
		"resources:\n  - a\n# +kubebuilder:scaffold:y\npatches:\n" + marker: "resources:\n  - a\n# +kubebuilder:scaffold:y\npatches:\n- b\n" + marker,
	} {
		if got := mustInsert(t, content, "k.yaml", map[string]string{"x": "- b\n"}); got != want {
			t.Errorf("%q\ngot %q", content, got)
		}
	}
	// Commented items come from the scaffold.
	const list = "resources:\n  - a\n"
	if got := mustInsert(t, list+marker, "k.yaml", map[string]string{"x": "# - b\n"}); got != list+"# - b\n"+marker {
		t.Errorf("commented: got %q", got)
	}
	// A comment above the marker may belong to another list.
	_, err := Insert([]byte("resources:\n  - a\n#patches:\n"+marker), "k.yaml", map[string]string{"x": "- b\n"})
	if err == nil || !strings.Contains(err.Error(), "would not be valid YAML") {
		t.Errorf("error %v", err)
	}
}

func TestInsertYAML(t *testing.T) {
	t.Parallel()
	const file = `data:
  text: |
    # +kubebuilder:scaffold:x
    - b.yaml2

  folded: >-
      # +kubebuilder:scaffold:x
resources:
  - a.yaml
  # +kubebuilder:scaffold:x
#replacements:
# - targets:
# +kubebuilder:scaffold:c
`
	got := mustInsert(t, file, "k.yaml", map[string]string{
		"x": "- a.yaml\n- b.yaml\n- path: c.yaml\n  with: d\n",
		"c": "#   - select:\n#       kind: CustomResourceDefinition\n",
	})
	want := strings.Replace(file, "  - a.yaml\n", "  - a.yaml\n  - b.yaml\n  - path: c.yaml\n    with: d\n", 1)
	want = strings.Replace(want, "# +kubebuilder:scaffold:c", "#   - select:\n#       kind: CustomResourceDefinition\n# +kubebuilder:scaffold:c", 1)
	if got != want {
		t.Errorf("got\n%s", got)
	}
	// A commented item also matches if the user has uncommented it, but not the reverse.
	uncommented := "a:\n  - select:\n      kind: CustomResourceDefinition\n# +kubebuilder:scaffold:c\n"
	if got := mustInsert(t, uncommented, "k.yml", map[string]string{"c": "#   - select:\n#       kind: CustomResourceDefinition\n"}); got != uncommented {
		t.Errorf("got\n%s", got)
	}
	out := mustInsert(t, "resources:\n#- a.yaml\n# +kubebuilder:scaffold:x\n", "k.yaml", map[string]string{"x": "- a.yaml\n"})
	if out != "resources:\n#- a.yaml\n- a.yaml\n# +kubebuilder:scaffold:x\n" {
		t.Errorf("got\n%s", out)
	}
}

func FuzzInsertGo(f *testing.F) {
	f.Add(mainGo)
	f.Add(strings.ReplaceAll(mainGo, "\n", "\r\n"))
	f.Add(strings.ReplaceAll(mainGo, "\t", "  "))
	f.Add("package p\n// +kubebuilder:scaffold:builder")
	f.Add("\ufeffpackage p\nfunc f() {\n// +kubebuilder:scaffold:scheme\n}")
	f.Fuzz(func(t *testing.T, content string) {
		out, err := Insert([]byte(content), "main.go", mainBlocks)
		if err != nil {
			return
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", out, parser.SkipObjectResolution); err != nil {
			t.Fatalf("result does not parse: %v\n%s", err, out)
		}
		if before, err := format.Source([]byte(content)); err == nil && string(before) == content {
			if after, err := format.Source(out); err != nil || string(after) != string(out) {
				t.Fatalf("formatting lost: %v\n%s", err, out)
			}
		}
		again, err := Insert(out, "main.go", mainBlocks)
		if err != nil || string(again) != string(out) {
			t.Fatalf("twice differs from once: %v\n%q\n%q", err, out, again)
		}
	})
}

func FuzzInsertYAML(f *testing.F) {
	f.Add("resources:\n- a.yaml\n# +kubebuilder:scaffold:x\n", "- b.yaml\n")
	f.Add("a: |\n  # +kubebuilder:scaffold:x\n#+kubebuilder:scaffold:x", "#  - select:\n#      kind: X\n")
	f.Add("\r\n#+kubebuilder:scaffold:x\r\n", "a: b\n\n- `c\n")
	f.Add(foreignManager, "- name: A\n  value: b\n")
	f.Add("resources:\n- a", "- b")
	f.Add("\n#+kubebuilder:scaffold:x\r", "0") // a carriage return alone ends no line
	f.Fuzz(func(t *testing.T, content, text string) {
		blocks := map[string]string{"x": text, "env": text, "resources": text}
		for marker := range blocks {
			if !strings.Contains(content, marker) {
				delete(blocks, marker)
			}
		}
		out, err := Insert([]byte(content), "k.yaml", blocks)
		if err != nil {
			return
		}
		if yamlError(content) == nil {
			if err := yamlError(string(out)); err != nil {
				t.Fatalf("result is not YAML: %v\n%s", err, out)
			}
		}
		again, err := Insert(out, "k.yaml", blocks)
		if err != nil || string(again) != string(out) {
			t.Fatalf("twice differs from once: %v\n%q\n%q", err, out, again)
		}
	})
}
