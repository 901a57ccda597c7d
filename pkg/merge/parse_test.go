package merge

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// keyPaths lists the keys of all units of a tree, joined with their parents'.
func keyPaths(n *Node) []string {
	var paths []string
	var visit func(n *Node, prefix string)
	visit = func(n *Node, prefix string) {
		for _, child := range n.Nodes {
			paths = append(paths, prefix+child.Key)
			visit(child, prefix+child.Key+" > ")
		}
	}
	visit(n, "")
	return paths
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"declarations", "x.go", `// License

// Package x is x.
package x

import "fmt"
import (
	a "example.com/a"

	_ "example.com/b"
	c "example.com/a"
	// +kubebuilder:scaffold:imports
)

// V is v.
var V = a.V

const (
	A = iota
	B
)

const (
	// C is c.
	C = 1
	D = c.D // d
)

type T struct{}

func (t *T) M() {}

func F() { fmt.Println() }

var _ = Describe("x", func() {})
var _ = Describe("y", func() {})
`, []string{
			"header", "package", "imports", "imports > fmt", "imports#2", "imports#2 > example.com/a", "imports#2 > _ example.com/b",
			"imports#2 > example.com/a c", "imports#2 > marker imports", "var V", "const block", "const block#2", "const block#2 > const C",
			"const block#2 > const D", "type T", "method T.M", "func F", `var _ Describe "x"`, `var _ Describe "y"`,
		}},
		{"statements", "main.go", `package main

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	_ = crewv1.AddToScheme(scheme)
	//+kubebuilder:scaffold:scheme
}

func main() {
	var a, b string
	flag.StringVar(&a, "a", "", "A.")
	flag.Parse()
	x, err := f()
	if err != nil {
		panic(err)
	}
	// Comment.
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Port: 1,
		Cache: cache.Options{
			X: 1,
		},
		// Last: 1,
	})
	if err != nil {
		panic(err)
	}
	if x {
		g()
	}
	a = "b"
	if err = (&crewcontroller.CaptainReconciler{
		Client: mgr.GetClient(),
	}).SetupWithManager(mgr); err != nil {
		panic(err)
	}
	if err = (&crewv1.Captain{}).SetupWebhookWithManager(mgr); err != nil {
		panic(err)
	}
	// nolint:goconst
	if os.Getenv("ENABLE_WEBHOOKS") != "false" {
		if err := webhookshipv1.SetupFrigateWebhookWithManager(mgr); err != nil {
			panic(err)
		}
	}
	// +kubebuilder:scaffold:builder

	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		panic(err)
	}
	go f()
	go func() {}()
	defer f()
	f(); g()
	setupLog.Info("starting manager")
	_ = mgr.Start(ctx)
	// End.
}
`, []string{
			"package", "func init", "func init > scheme clientgoscheme", "func init > scheme crewv1", "func init > marker scheme", "func main",
			"func main > var a,b", "func main > flag a", "func main > flag.Parse", "func main > var x", "func main > var mgr", "func main > var mgr > Port",
			"func main > var mgr > Cache", "func main > var mgr > comment at the end", "func main > if x", "func main > set a",
			"func main > controller crewcontroller.CaptainReconciler", "func main > controller crewcontroller.CaptainReconciler > Client",
			"func main > webhook crewv1.Captain", "func main > webhook webhookshipv1.Frigate", "func main > marker builder",
			`func main > mgr.AddHealthzCheck "healthz"`, "func main > go f", "func main > go func", "func main > defer f", "func main > f; g",
			"func main > log the start of the manager", "func main > mgr.Start", "func main > comment at the end",
		}},
		{"import paths", "main.go", `package main

import (
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"gopkg.in/yaml.v3"
	crewv1 "example.com/p/apis/crew/v1"
	c "example.com/p/controllers/crew"
	w "example.com/p/internal/webhook/crew/v1"
)

func main() {
	clientgoscheme.AddToScheme(scheme)
	crewv1.AddToScheme(scheme)
	ctrl.SetLogger(l)
	yaml.Marshal(1)
	(&c.CaptainReconciler{}).SetupWithManager(mgr)
	(&crewv1.Captain{}).SetupWebhookWithManager(mgr)
	w.SetupAdmiralWebhookWithManager(mgr)
}
`, []string{
			"package", "imports", "imports > k8s.io/client-go/kubernetes/scheme", "imports > sigs.k8s.io/controller-runtime", "imports > gopkg.in/yaml.v3",
			"imports > example.com/p/apis/crew/v1", "imports > example.com/p/controllers/crew", "imports > example.com/p/internal/webhook/crew/v1",
			"func main", "func main > scheme k8s.io/client-go/kubernetes/scheme", "func main > scheme crew/v1",
			"func main > sigs.k8s.io/controller-runtime.SetLogger", "func main > gopkg.in/yaml.v3.Marshal", "func main > controller crew.CaptainReconciler",
			"func main > webhook crew/v1.Captain", "func main > webhook crew/v1.Admiral",
		}},
		{"code in the lines of braces", "main.go", "package main\n\nfunc main() { f()\n\tg() }\n", []string{"package", "func main"}},
		{"Makefile", "Makefile", `# File.

# Image.
IMG ?= x
export GOFLAGS = -mod=mod
A := b \
	c
A += d
ifeq (a, b)
B = 1
else
B = 2
endif
-include local.mk

.PHONY: all
all: build

##@ Section

.PHONY: build
build: generate \
	vet ## Build.
	go build

ifdef X
	go vet
endif

	go test
$(BIN)/x: | $(BIN)
	@echo
define need
x: y
endef
.PHONY: a b
a:
b: ; @echo
a: V = 1
$(call f)
.PHONY: other
`, []string{
			"comment at the start", "IMG", "GOFLAGS", "A", "A +=", "ifeq (a, b)", "include local.mk", "rule all", "rule build", "rule $(BIN)/x", "define need", "rule a", "rule b",
			"rule a#2", "$(call f)", ".PHONY other",
		}},
		{"Dockerfile", "Dockerfile", `# syntax=docker/dockerfile:1
ARG V=1
FROM golang:1 AS builder
ARG TARGETOS
COPY go.mod go.sum ./
COPY --chown=1:1 api/ api/
RUN --mount=type=cache,target=/x CGO_ENABLED=0 go build \
# Comment.
    -o manager
RUN <<END
apt-get update
END

FROM scratch
COPY --from=builder /workspace/manager .
ENV A=1
USER 1
ENTRYPOINT ["/manager"]
`, []string{
			"ARG V", "stage builder", "stage builder > FROM", "stage builder > ARG TARGETOS", "stage builder > COPY ./",
			"stage builder > COPY api/", "stage builder > RUN go build", "stage builder > RUN <<END apt-get", "stage", "stage > FROM",
			"stage > COPY .", "stage > ENV A", "stage > USER", "stage > ENTRYPOINT",
		}},
		{"ignore file", ".gitignore", "# Binaries\nbin/\n\n*.swp\nbin/", []string{"bin/", "*.swp", "bin/#2"}},
		{"list in YAML", "patch.yaml", "---\n- op: add\n  path: /a\n", []string{"document"}},
		{"other", "README.md", "# Title\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, err := Parse(c.file, []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := keyPaths(root); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			checkTree(t, root, endLine([]byte(c.text)))
		})
	}
}

// checkTree checks that the tree of a text lacks none of it, and that siblings have different keys.
func checkTree(t *testing.T, root *Node, text []byte) {
	t.Helper()
	if !bytes.Equal(root.Text(), text) {
		t.Errorf("Text() = %q, want %q", root.Text(), text)
	}
	paths := keyPaths(root)
	slices.Sort(paths)
	if unique := slices.Compact(slices.Clone(paths)); len(unique) != len(paths) {
		t.Errorf("duplicate keys: %q", paths)
	}
}

func FuzzParseGo(f *testing.F) {
	f.Add([]byte(oldProgram))
	f.Add([]byte("package x; import (\"a\"; b \"c\")\nvar ( x = 1; y = b.C )\nfunc main() { f(); /* a\n */ g()\n}\n"))
	f.Add([]byte("/* a */ package /* b\n */ x // c\n\nfunc init() {\n\tx := T{ // d\n\t\tA: 1, /* e\n\t\t*/ B: 2,\n\t}\n}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		text = endLine(text)
		root, err := parseGo(text)
		if err != nil || bytes.ContainsRune(text, '\r') {
			return
		}
		checkTree(t, root, text)
		if _, err := goFacts(text); err != nil {
			t.Error(err)
		}
	})
}

func fuzzParse(f *testing.F, name string, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		checkTree(t, root, endLine(text))
	})
}

func FuzzParseMakefile(f *testing.F) {
	fuzzParse(f, "Makefile", "A = b\\\n\nifdef x\nx:\n\ty\nendif\n.PHONY: a\na: b\n\n\tc", "define x\ndefine y\nendef\n", "a:\nifeq (a,b)\n\tc\n")
}

func FuzzParseDockerfile(f *testing.F) {
	fuzzParse(f, "Dockerfile", "FROM a AS b\nRUN c \\\n# d\n e\nCOPY <<E /x\ny\nE\n", "\\\n", "RUN <<A <<B\n\nA\n")
}

func FuzzParseLines(f *testing.F) {
	fuzzParse(f, ".gitignore", "# a\nb\n\n!c\nb", "a\na\na#2\na\n")
}

func FuzzParseYAML(f *testing.F) {
	f.Add([]byte("---\n- op: add\n  path: /a\n"))
	f.Add([]byte("a: b # c\n---d:\n"))
	f.Add([]byte("# c\napiVersion: v1\nkind: X\nmetadata:\n  name: a # b\n  labels: {a: b}\nspec:\n- a\n-\n  b: |\n    x\n\n    y\n---\nkind: Y\n"))
	f.Add([]byte("resources:\n- a\n#- b\n# - c\npatches:\n- path: x\n  target: &a\n    kind: Y\n#- path: z\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.ContainsAny(text, "\r\u0085\u2028\u2029") {
			return // they end lines in YAML
		}
		for _, name := range []string{"x.yaml", "kustomization.yaml"} {
			if root, err := Parse(name, text); err == nil {
				checkTree(t, root, endLine(text))
			}
		}
	})
}
