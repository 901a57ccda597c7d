package generate

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// dimensions are the parts of the calls of controller-gen in the grid. Each point of the grid has one value of each; see
// TestFollowsMakefile.
var dimensions = map[string][]string{
	"object": {
		`object:headerFile="hack/boilerplate.go.txt"`,
		`object`,
		`object:headerFile=other/header.txt,year=2031`,
		`"object:headerFile=other/header.txt,year=$(YEAR)"`,
		``,
	},
	"crd": {
		`crd`,
		`crd:maxDescLen=0,generateEmbeddedObjectMeta=true`,
		`$(CRD_OPTIONS)`,
		`crd:crdVersions=v1,headerFile="other/header.yaml",year=1999`,
		`crd:crdVersions={v1},deprecatedV1beta1CompatibilityPreserveUnknownFields=false`,
		``,
	},
	"rbac": {
		`rbac:roleName=manager-role`,
		`rbac:roleName=$(NAME)-boss,fileName=boss.yaml`,
		`rbac:roleName=x,headerFile=$(CURDIR)/other/header.yaml`,
		``,
	},
	"webhook": {`webhook`, `webhook:headerFile=other/header.yaml,year="12"`, ``},
	"paths": {
		`paths="./..."`,
		`paths="./api/...;./internal/..."`,
		`paths={./api/...,./internal/...}`,
		`paths=./api/v1 paths=./api/v1beta1/... paths=./internal/webhook`,
		`paths=example.com/shapes/...`,
		`paths=$(CURDIR)/api/... paths=./internal/controller`,
	},
	"output": {
		`output:crd:artifacts:config=config/crd/bases`,
		``,
		`output:crd:dir=deploy/crds output:rbac:artifacts:config=deploy`,
		`output:dir=deploy`,
	},
	"form": {"inline", "lines", "define", "include", "prerequisite", "conditional", "script", "go generate", "settings", "directory", "make", "only"},
}

// point returns the values of a point of the grid.
func point(n int) map[string]string {
	values := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(dimensions)) {
		count := len(dimensions[name])
		values[name] = dimensions[name][(n+i*(n/count))%count]
	}
	return values
}

// files writes a point as the files of a project. The rule of the target all runs the calls.
func files(p map[string]string) map[string]string {
	manifests := strings.Fields(strings.Join([]string{p["crd"], p["rbac"], p["webhook"]}, " "))
	output := strings.Fields(p["output"])
	output = slices.DeleteFunc(output, func(rule string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(rule, "output:"), ":")
		return slices.Contains([]string{"crd", "rbac"}, name) && p[name] == ""
	})
	var calls []string
	if len(manifests) > 0 {
		calls = append(calls, strings.Join(append(append(manifests, p["paths"]), output...), " "))
	}
	if p["object"] != "" {
		calls = append(calls, p["object"]+" "+p["paths"])
	}
	const variables = "NAME := shapes\nYEAR ?= $(shell date +%Y)\nCRD_OPTIONS = crd\nCRD_OPTIONS := $(CRD_OPTIONS):allowDangerousTypes=true,ignoreUnexportedFields=true\n"
	const program = "CONTROLLER_GEN ?= controller-gen\n"
	made := map[string]string{"other/header.txt": "// Copyright YEAR The Others.\n", "other/header.yaml": "# Copyright YEAR The Others.\n"}
	run := func(prefix string) string {
		var b strings.Builder
		for _, call := range calls {
			b.WriteString(prefix + call + "\n")
		}
		return b.String()
	}
	expanded := strings.NewReplacer("$(NAME)", "shapes", "$(YEAR)", "2030", "$(CURDIR)", "$PWD",
		"$(CRD_OPTIONS)", "crd:allowDangerousTypes=true,ignoreUnexportedFields=true")
	all := "all: manifests generate\n"
	switch p["form"] {
	case "inline":
		all += variables + program + "generate:\nmanifests: tool ## Generate.\n" + run("\t$(CONTROLLER_GEN) ") + "tool:\n\t@echo tool\n"
	case "lines":
		all += variables + program + "manifests:\ngenerate: .generated\n.generated:\n" + strings.ReplaceAll(run("\t@\"$(CONTROLLER_GEN)\" "), " paths", " \\\n\t\tpaths")
		all = strings.ReplaceAll(all, "\"$(CONTROLLER_GEN)\"", "$(CONTROLLER_GEN)")
	case "define":
		all += variables + program + "define gen\n\t$(CONTROLLER_GEN) $(1)\nendef\ncomma := ,\nmanifests:\ngenerate:\n" + strings.ReplaceAll(run("\t$(call gen,"), "\n", ")\n")
		all = strings.NewReplacer("call gen,"+calls[0], "call gen,"+strings.ReplaceAll(calls[0], ",", "$(comma)")).Replace(all)
		if len(calls) > 1 {
			all = strings.NewReplacer("call gen,"+calls[1], "call gen,"+strings.ReplaceAll(calls[1], ",", "$(comma)")).Replace(all)
		}
	case "include":
		all += "include mk/*.mk\n"
		made["mk/tools.mk"], made["mk/a.mk"] = variables+program, "manifests: ; mkdir -p config\ngenerate:\n"+run("\t$(CONTROLLER_GEN) ")
	case "prerequisite":
		all += variables + program + "manifests: NAME = shapes\nmanifests generate: | both\nboth:\n" + run("\t$(CONTROLLER_GEN) ")
	case "conditional":
		all += variables + program + "ifeq ($(NAME), shapes)\nmanifests generate: all-calls\nelse\nmanifests: ; false\nendif\nall-calls:\nifndef MISSING\n" + run("\t$(CONTROLLER_GEN) ") + "else\n\tfalse\nendif\n"
	case "script":
		all += program + "manifests:\ngenerate:\n\tCONTROLLER_GEN=\"$(CONTROLLER_GEN)\" ./hack/generate.sh\n"
		made["hack/generate.sh"] = "#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"${BASH_SOURCE[0]}\")/..\"\n" + expanded.Replace(run("${CONTROLLER_GEN} "))
	case "go generate":
		all += "manifests:\ngenerate:\n\tgo generate ./...\n"
		made["generate.go"] = "package shapes\n\n" + strings.ReplaceAll(expanded.Replace(run("//go:generate controller-gen ")), "$PWD", ".")
	case "settings":
		all += variables + program + "manifests: ; # by the settings\ngenerate:\n" + run("\t$(CONTROLLER_GEN) ")
		var b strings.Builder
		for _, call := range calls {
			fmt.Fprintf(&b, "  - args: '%s'\n", strings.NewReplacer("$PWD", ".", "./other", "other").Replace(expanded.Replace(call)))
		}
		made[".operon/config.yaml"] = "generate:\n  calls:\n" + b.String()
	case "directory":
		all += variables + program + "manifests:\ngenerate:\n" + run("\tcd hack && cd .. ; $(CONTROLLER_GEN) ")
	case "make":
		all += "manifests:\ngenerate:\n\t$(MAKE) -f mk/calls.mk calls\n"
		made["mk/calls.mk"] = variables + program + "unused: ; false\ncalls:\n" + run("\t$(CONTROLLER_GEN) ")
	case "only":
		all = variables + program + "all: codegen\ncodegen:\n" + run("\t$(CONTROLLER_GEN) ")
	}
	made["Makefile"] = all
	return made
}

const projectFile = "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: shapes\nrepo: example.com/shapes\nversion: \"3\"\n"

// recorder is a program that appends its directory and arguments to a file.
const recorder = "#!/bin/sh\nprintf '%s\\n' \"$PWD\" \"$@\" '' >> \"$RECORD\"\n"

// TestFollowsMakefile lets make run the calls of controller-gen in projects with the options of a grid. With the files that
// the generators of controller-gen write for these arguments, generate --check must find everything up to date, and a changed
// type out of date.
func TestFollowsMakefile(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		t.Fatalf("this test runs make: %v", err)
	}
	points := len(dimensions["form"])
	if testing.Short() {
		points = 2
	}
	for n := range points {
		p := point(n)
		if p["object"] == "" && p["crd"] == "" {
			p["crd"] = "crd" // something must depend on types
		}
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			dir := clitest.CopyTree(t, clitest.Root("pkg/codegen/testdata/fixtures/shapes"))
			written := files(p)
			written["PROJECT"] = projectFile
			written["bin/controller-gen"] = recorder
			clitest.WriteFiles(t, dir, written)
			for _, program := range []string{"hack/generate.sh", "bin/controller-gen"} {
				if err := os.Chmod(filepath.Join(dir, filepath.FromSlash(program)), 0o755); err != nil && written[program] != "" {
					t.Fatal(err)
				}
			}
			for _, call := range callsOfMake(t, dir) {
				if code, out, errOut := clitest.Run(t, call[0], "", append([]string{"tool", "controller-gen"}, call[1:]...)...); code != 0 {
					t.Fatalf("controller-gen %v: exit code %d\n%s%s", call, code, out, errOut)
				}
			}
			code, diff, errOut := clitest.Run(t, dir, "", "generate", "--check")
			if code != 0 || strings.Contains(errOut, "note:") {
				t.Errorf("generate --check exits with %d\n%s%s\n%v\n%s", code, errOut, diff, p, written["Makefile"])
			}
			const field = "Size int `json:\"size\"`"
			clitest.EditFile(t, dir, "api/v1beta1/shape_types.go", field, field+"\n\tMore []string `json:\"more\"`")
			if code, _, errOut := clitest.Run(t, dir, "", "generate", "--check"); code != 1 || !strings.Contains(errOut, "commit what it changes") {
				t.Errorf("with a changed type, generate --check exits with %d\n%s\n%v\n%s", code, errOut, p, written["Makefile"])
			}
		})
	}
}

// callsOfMake runs make and returns the directory and arguments of each call of controller-gen.
func callsOfMake(t *testing.T, dir string) [][]string {
	t.Helper()
	record := filepath.Join(t.TempDir(), "record")
	c := exec.Command("make", "all", "CONTROLLER_GEN="+filepath.Join(dir, "bin", "controller-gen"))
	c.Dir, c.Env = dir, append(os.Environ(), "RECORD="+record, "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("make: %v\n%s\n%s", err, out, clitest.ReadFile(t, filepath.Join(dir, "Makefile")))
	}
	var calls [][]string
	for text := range strings.SplitSeq(strings.TrimSuffix(clitest.ReadFile(t, record), "\n\n"), "\n\n") {
		calls = append(calls, strings.Split(text, "\n"))
	}
	return calls
}
