package calls

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// A tree contains files by name.
type tree map[string]string

func (tree) Root() string { return "/project" }

func (t tree) ReadFile(name string) ([]byte, error) {
	text, ok := t[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (t tree) Walk(dir string, skip func(string) bool) ([]string, error) {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t)), func(name string) bool {
		if dir != "." && !strings.HasPrefix(name, dir+"/") {
			return true
		}
		for parent := path.Dir(name); parent != "." && parent != dir; parent = path.Dir(parent) {
			if skip != nil && skip(parent) {
				return true
			}
		}
		return false
	}), nil
}

// lines returns a line for each call, SOURCE [DIR] ARGUMENTS, and for each note.
func lines(found *Found) string {
	var b strings.Builder
	for _, call := range found.Calls {
		b.WriteString(call.Source.String() + " [" + call.Dir + "] " + strings.Join(call.Args, " ") + "\n")
	}
	for _, addNote := range found.Notes {
		b.WriteString("note: " + addNote + "\n")
	}
	return b.String()
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files tree
		want  string
	}{
		"nothing": {tree{}, ""},
		"make with an unresolved value": {tree{"Makefile": "A := $(shell one)\nB := $(shell two $(A))\ngenerate:\n\t$(MAKE) manifests A=$(A)\nmanifests:\n\tcontroller-gen crd paths=./$(B)\n"},
			"note: Makefile:6: controller-gen is not run: paths=./$(shell two $(shell one)) cannot be evaluated; set generate.calls in .operon/config.yaml\n"},
		"targets": {
			tree{"Makefile": "CONTROLLER_GEN ?= $(shell go env GOPATH)/bin/controller-gen\nmanifests: tools\n\t$(CONTROLLER_GEN) rbac:roleName=a paths=\"./...\"\ngenerate:\n\t@cd api && \"$(CONTROLLER_GEN)\" object:headerFile='../h.txt' paths=./... # why\ntools:\n\tgo install sigs.k8s.io/controller-tools/cmd/controller-gen@v0.1.0\n"},
			"Makefile:3 [] rbac:roleName=a paths=./...\nMakefile:5 [api] object:headerFile=../h.txt paths=./...\n",
		},
		"a program that the shell finds": {
			tree{"Makefile": "ifeq (, $(shell which controller-gen))\nCONTROLLER_GEN=$(GOBIN)/controller-gen\nelse\nCONTROLLER_GEN=$(shell which controller-gen)\nendif\ngenerate:\n\t$(CONTROLLER_GEN) object paths=./...\n"},
			"Makefile:7 [] object paths=./...\n",
		},
		"ways to run it": {
			tree{"Makefile": "generate:\n\tgo run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.16.0 object\n\tGOFLAGS=-mod=mod bin/controller-gen-v0.16.1 crd\n\tgo tool controller-gen rbac:roleName=x\n\toperon tool controller-gen webhook\n\techo controller-gen crd\n\tbin/controller-gen --version\n"},
			"Makefile:2 [] object\nMakefile:3 [] crd\nMakefile:4 [] rbac:roleName=x\nMakefile:5 [] webhook\n",
		},
		"build tags": {
			tree{"Makefile": "generate:\n\tcontroller-gen --load-build-tags=x,y crd\n"},
			"Makefile:2 [] --load-build-tags=x,y crd\n",
		},
		"other targets": {
			tree{"Makefile": "generate:\n\tcontroller-gen object\ndocs:\n\tcontroller-gen object crd output:dir=docs\ncrds:\n\tcontroller-gen crd:maxDescLen=0\nmore-crds:\n\tcontroller-gen crd\n"},
			"Makefile:2 [] object\nMakefile:6 [] crd:maxDescLen=0\n",
		},
		"what follows": {
			tree{"Makefile": "manifests: crds\n\tmkdir -p x\n\tsed -i s/a/b/ \\\n\t\t$(CURDIR)/config/crd/bases/x.yaml\n\tgo fmt ./...\ncrds:\n\trm -rf config/crd\n\tcontroller-gen crd | cat\n\tmv a b\nother:\n\tsed -i x\n"},
			"Makefile:8 [] crd\nnote: Makefile:8: not run after controller-gen: cat\nnote: Makefile:9: not run after controller-gen: mv a b\nnote: Makefile:3: not run after controller-gen: sed -i s/a/b/ config/crd/bases/x.yaml\n",
		},
		"what cannot be evaluated": {
			tree{"Makefile": "generate:\n\tcontroller-gen object paths=$(shell ls -d api/*)\n\tcontroller-gen --detailed-help crd\n\tcd $$(mktemp -d) && controller-gen rbac:roleName=x\n"},
			"note: Makefile:2: controller-gen is not run: paths=$(shell ls -d api/*) cannot be evaluated; set generate.calls in .operon/config.yaml\n" +
				"note: Makefile:3: controller-gen is not run: flag --detailed-help is not supported; set generate.calls in .operon/config.yaml\n" +
				"note: Makefile:4: controller-gen is not run: directory $(mktemp -d) cannot be evaluated; set generate.calls in .operon/config.yaml\n",
		},
		"the clock": {
			tree{"Makefile": "YEAR ?= $(shell date +%Y)\ngenerate:\n\tcontroller-gen object:headerFile=h,year=$(YEAR)\n"},
			"Makefile:3 [] object:headerFile=h,year=" + codegen.CurrentYear + "\n",
		},
		"a makefile that includes a missing file": {
			tree{"Makefile": "include gone.mk\ngenerate: ; $(GENERATE)\n"},
			"note: Makefile:1: include gone.mk: cannot be read\n",
		},
		"a value for another target": {
			tree{"Makefile": "OPTIONS = maxDescLen=0\ndocs: OPTIONS = maxDescLen=9\ndocs generate:\n\tcontroller-gen crd:$(OPTIONS)\n"},
			"Makefile:4 [] crd:maxDescLen=0\n",
		},
		"Operon": {
			tree{"Makefile": "manifests:\n\toperon generate manifests\n", "hack/x.sh": "controller-gen crd\n"},
			"",
		},
		"nested makefiles": {
			tree{"Makefile": "generate:\n\t$(MAKE) -C api -s code OPTIONS=:headerFile=h\n", "api/Makefile": "all: ; false\ncode:\n\tcontroller-gen object$(OPTIONS)\n"},
			"api/Makefile:3 [api] object:headerFile=h\n",
		},
		"a script": {
			tree{
				"Makefile":    "generate:\n\tCONTROLLER_GEN=x/controller-gen ./hack/gen.sh crds\n",
				"hack/gen.sh": "#!/usr/bin/env bash\nset -e\nROOT=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")/..\" && pwd -P)\nif [[ -n \"$1\" ]]; then\n  for v in v1 v2; do\n    \"${CONTROLLER_GEN}\" crd \"paths=${ROOT}/api/${v}\" output:dir=${1:-config}/{$v,}\n  done\nfi\ncat > x <<EOF\ncontroller-gen rbac\nEOF\nyq -i . x\nyq -i . y\n",
			},
			"hack/gen.sh:6 [] crd paths=/project/api/v1 output:dir=crds/v1 output:dir=crds/\nhack/gen.sh:6 [] crd paths=/project/api/v2 output:dir=crds/v2 output:dir=crds/\n" +
				"note: hack/gen.sh:9: not run after controller-gen: cat > x, and the commands after it\n",
		},
		"go:generate lines": {
			tree{"Makefile": "build: ; go build\n", "api/v1/doc.go": "package v1\n\n//go:generate controller-gen \"object:headerFile=\\\"a b\\\"\" paths=./a;./b\n//go:generate stringer\n", "vendor/x/x.go": "//go:generate controller-gen crd\npackage x\n"},
			"api/v1/doc.go:3 [api/v1] object:headerFile=\"a b\" paths=./a;./b\n",
		},
		"scripts in hack": {
			tree{"hack/a.sh": "controller-gen crd\n", "hack/b.txt": "controller-gen rbac\n"},
			"hack/a.sh:1 [] crd\n",
		},
		"settings": {
			tree{"Makefile": "generate: ; controller-gen object\n", configFile: "# ours\ngenerate:\n  calls:\n  - args: crd:headerFile=\"a b\" 'paths=./a;./b'\n    dir: api\n"},
			".operon/config.yaml:4 [api] crd:headerFile=a b paths=./a;./b\n",
		},
		"settings about something else": {
			tree{"Makefile": "generate: ; controller-gen object\n", configFile: "# nothing yet\n"},
			"Makefile:1 [] object\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := Find(test.files)
			if err != nil {
				t.Fatal(err)
			}
			if got := lines(found); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	for recipe, want := range map[string]bool{"operon tool controller-gen crd": false, "bin/controller-gen crd": true, "go run sigs.k8s.io/controller-tools/cmd/controller-gen crd": true} {
		found, err := Find(tree{"Makefile": "generate: ; " + recipe + "\n"})
		if err != nil || found.Foreign != want {
			t.Errorf("Find with %q: got %v, %v; want Foreign %t", recipe, found, err, want)
		}
	}
}

func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"generat: {}\n":                                       `.operon/config.yaml:1: unknown key "generat"; did you mean "generate"?`,
		"generate:\n  call: []\n":                             `.operon/config.yaml:2: unknown key "call"; did you mean "calls"?`,
		"generate:\n  zebra: []\n":                            `.operon/config.yaml:2: unknown key "zebra"; known keys: ["calls"]`,
		"generate:\n  calls: crd\n":                           `.operon/config.yaml:2: calls must be a list`,
		"generate: x\n":                                       `.operon/config.yaml:1: must be a mapping with the keys ["calls"]`,
		"generate:\n  calls:\n  - arg: crd\n":                 `.operon/config.yaml:3: unknown key "arg"; did you mean "args"?`,
		"generate:\n  calls:\n  - dir: api\n":                 `.operon/config.yaml:3: args is required: the arguments of controller-gen`,
		"generate:\n  calls:\n  - args: [crd]\n":              `.operon/config.yaml:3: args must be a string`,
		"generate:\n  calls:\n  - args: crd\n    dir: ../x\n": `.operon/config.yaml:4: dir "../x": must be a slash-separated path in the project`,
		"generate:\n  calls:\n  - args: paths=./...\n":        `.operon/config.yaml:3: args: a generator is required: object, crd, rbac, webhook or schemapatch`,
		"generate:\n  calls:\n  - args: crd paths=a;b\n":      `.operon/config.yaml:3: args: ";" must be quoted`,
		"generate:\n  calls:\n  - args: crd:maxDesc=0\n":      `.operon/config.yaml:3: option "crd:maxDesc=0": unknown argument "maxDesc"`,
		"generate:\n  calls:\n  - args: crds\n":               `.operon/config.yaml:3: unknown option "crds"`,
		"generate:\n  calls:\n  - args: a\n    args: b\n":     `duplicate key "args"`,
		"generate: [\n":                                       `.operon/config.yaml: yaml: line 1`,
	} {
		_, err := Find(tree{configFile: text})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
		if f, ok := errors.AsType[diag.Finding](err); !ok || f.File != configFile {
			t.Errorf("%q: %v is not a finding in %s", text, err, configFile)
		}
	}
}

// FuzzFind expects Find to return for any script.
func FuzzFind(f *testing.F) {
	f.Add("for a in 1 2 3; do for b in 1 2 3; do controller-gen crd paths=./$a/$b; done; done")
	f.Add("x=$(cd \"$(dirname \"$0\")\" && pwd) `date +%Y` ${A:-${B}} <<E\nE\n{a,{b,c}}")
	f.Add("./hack/a.sh; bash hack/a.sh; source hack/a.sh")
	f.Fuzz(func(t *testing.T, script string) {
		found, err := Find(tree{"hack/a.sh": "#!/bin/bash\n# controller-gen\n" + script})
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range found.Calls {
			_, _ = call.Generators()
		}
		if _, err := FindBundle(tree{"Makefile": "bundle: ; ./hack/a.sh\n", "hack/a.sh": script}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestNestings checks that makes and scripts that run each other end.
func TestNestings(t *testing.T) {
	t.Parallel()
	recipe := strings.Repeat("\t$(MAKE) all bundle\n\t./a.sh\n", 10)
	files := tree{
		"Makefile": "all manifests generate: ; controller-gen crd\n" + recipe + "bundle:\n" + recipe + "\tsdk generate bundle\n",
		"a.sh":     strings.Repeat("make all bundle\n./a.sh\n", 10),
	}
	if found, err := Find(files); err != nil || len(found.Calls) == 0 {
		t.Errorf("got %v, %v", found, err)
	}
	if found, err := FindBundle(files); err != nil || len(found.Commands) == 0 {
		t.Errorf("got %v, %v", found, err)
	}
}

// countingFiles counts how often a file is read.
type countingFiles struct {
	*worktree.Tree
	counted string
	reads   int
}

func (c *countingFiles) ReadFile(name string) ([]byte, error) {
	if name == c.counted {
		c.reads++
	}
	return c.Tree.ReadFile(name)
}

// TestMakefilesAreEvaluatedOnce checks that a makefile that many targets run, and the recipe that many depend on, are evaluated once.
func TestMakefilesAreEvaluatedOnce(t *testing.T) {
	t.Parallel()
	files := &countingFiles{Tree: worktree.NewTree(afero.NewMemMapFs(), "/work"), counted: "sub/common.mk"}
	makefile := "all: setup\nsetup:\n\t$(MAKE) -C sub tools\n"
	for i := range 20 {
		makefile += fmt.Sprintf("t%d: setup\n\t$(MAKE) -C sub t%d\n", i, i)
	}
	files.WriteFile("Makefile", []byte(makefile+"last:\n\t$(MAKE) -C sub crds\n"), 0o644)
	files.WriteFile("sub/Makefile", []byte("include common.mk\ntools:\n\techo tools\ncrds:\n\t$(GEN) crd paths=./...\n"), 0o644)
	files.WriteFile("sub/common.mk", []byte("GEN = controller-gen\n"), 0o644)
	found, err := Find(files)
	if err != nil || len(found.Calls) != 1 {
		t.Fatalf("Find = %+v, %v, want one call", found, err)
	}
	if files.reads != 1 {
		t.Errorf("%s was read %d times, want once", files.counted, files.reads)
	}
}
