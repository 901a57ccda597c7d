package merge

import (
	"strings"
	"testing"
)

// TestMergeFile checks merges of files other than Go.
func TestMergeFile(t *testing.T) {
	t.Parallel()
	const makefile = "IMG ?= controller:latest\nVERSION = 1.0\nBIN ?= $(shell pwd)/bin\nTOOL ?= $(BIN)/tool\n\n.PHONY: deploy\ndeploy: manifests ## Deploy.\n\tkustomize ${IMG}\n\n" +
		"tool: $(TOOL)\n$(TOOL): $(BIN)\n\tgo install\n\n$(BIN):\n\tmkdir -p $(BIN)\n"
	const newMakefile = "# All commands.\n\n# The image.\nIMG ?= controller:latest\nVERSION ?= 2.0\n\n.PHONY: deploy\ndeploy: manifests ## Deploy to the cluster.\n\tkustomize $(IMG)\n"
	const dockerfile = "FROM golang:1.19 AS builder\nCOPY go.mod go.mod\nRUN go build -a -o manager main.go\n\nFROM distroless:nonroot\nUSER 65532:65532\n"
	const newDockerfile = "FROM golang:1.26 AS builder\nCOPY . .\nRUN go build -o manager ./cmd\n\nFROM static:nonroot\nUSER 1:1\n"
	const pod = "command:\n- /manager\nargs:\n- --a\n"
	const rules = "rules:\n- apiGroups:\n  - \"\"\n  resources:\n  - events\n  verbs:\n  - create\n  - patch\n"
	for _, c := range []struct {
		name, file, base, theirs string
		edits                    []string
		want                     string
		conflicts                int
	}{
		{"unedited", "Makefile", makefile, newMakefile, nil, newMakefile, 0},
		{"rule that refers to others", "Makefile", makefile, newMakefile, []string{"tool: $(TOOL)", "mine:\n\t$(TOOL) ${VERSION}\n\ntool: $(TOOL)"},
			"# All commands.\n\n# The image.\nIMG ?= controller:latest\nVERSION ?= 2.0\nBIN ?= $(shell pwd)/bin\nTOOL ?= $(BIN)/tool\n\n.PHONY: deploy\n" +
				"deploy: manifests ## Deploy to the cluster.\n\tkustomize $(IMG)\n\nmine:\n\t$(TOOL) ${VERSION}\n", 0},
		{"rule that needs another", "Makefile", makefile, newMakefile, []string{"deploy: manifests ##", "deploy: manifests tool ##"},
			"# All commands.\n\n# The image.\nIMG ?= controller:latest\nVERSION ?= 2.0\nBIN ?= $(shell pwd)/bin\nTOOL ?= $(BIN)/tool\n\n.PHONY: deploy\n" +
				"deploy: manifests tool ## Deploy.\n\tkustomize ${IMG}\n\ntool: $(TOOL)\n$(TOOL): $(BIN)\n\tgo install\n\n$(BIN):\n\tmkdir -p $(BIN)\n", 0},
		{"values", "Makefile", makefile, newMakefile, []string{"VERSION = 1.0", "VERSION = 1.5", "controller:latest", "mine"},
			"# All commands.\n\n# The image.\nIMG ?= mine\nVERSION = 1.5\n\n.PHONY: deploy\ndeploy: manifests ## Deploy to the cluster.\n\tkustomize $(IMG)\n", 0},
		{"quoted command", "Makefile", "TOOL ?= bin/tool\n", "TOOL ?= operon tool\n", []string{"tool\n", "tool\nmine:\n\t\"$(TOOL)\"\n"}, "TOOL ?= bin/tool\nmine:\n\t\"$(TOOL)\"\n", 0},
		{"unedited", "Dockerfile", dockerfile, newDockerfile, nil, newDockerfile, 0},
		{"newer images", "Dockerfile", dockerfile, newDockerfile, []string{"golang:1.19", "golang:1.26.3", "distroless", "mine", "65532:65532", "mine"},
			"FROM golang:1.26.3 AS builder\nCOPY . .\nRUN go build -o manager ./cmd\n\nFROM mine:nonroot\nUSER mine\n", 0},
		{"older image", "Dockerfile", dockerfile, newDockerfile, []string{"golang:1.19", "golang:1.20.3-alpine", "build -a", "build -x"},
			"FROM golang:1.26-alpine AS builder\nCOPY . .\nRUN go build -x -o manager main.go\n\nFROM static:nonroot\nUSER 1:1\n", 0},
		{"more files", "Dockerfile", "FROM a\nCOPY go.mod .\n", "FROM a\nCOPY go.mod go.sum .\n", []string{"go.mod", "go.mod go.sum mine"}, "FROM a\nCOPY go.mod go.sum mine .\n", 0},
		{"older image with a digest", "Dockerfile", dockerfile, newDockerfile, []string{"golang:1.19", "golang:1.20@sha256:0"},
			"<<<<<<< ours\nFROM golang:1.20@sha256:0 AS builder\n=======\nFROM golang:1.26 AS builder\n>>>>>>> theirs\nCOPY . .\nRUN go build -o manager ./cmd\n\nFROM static:nonroot\nUSER 1:1\n", 1},
		{"recipe", "Makefile", makefile, newMakefile, []string{"\tkustomize ${IMG}", "\tkustomize --mine ${IMG}"},
			"# All commands.\n\n# The image.\nIMG ?= controller:latest\nVERSION ?= 2.0\n\n.PHONY: deploy\ndeploy: manifests ## Deploy.\n\tkustomize --mine ${IMG}\n", 0},
		{"one line of a recipe", "Makefile", "a:\n\tone\n\ttwo\n", "a: b\n\tone\n\tthree\n", []string{"\ttwo", "\tmine"}, "a:\n\tone\n\tmine\n", 0},
		{"section without its first rule", "Makefile", "y = 1\n\n##@ A\n\nx = 1\n\na:\n\tone\n\nb:\n\ttwo\n", "y = 1\n\n##@ A\n\na:\n\tone\n\nb:\n\tthree\n", []string{"a:\n\tone\n\n", ""}, "y = 1\n\n##@ A\n\nb:\n\tthree\n", 0},
		{"file that is a command in theirs", "Makefile", makefile, "TOOL ?= operon tool\n\ntool:\n\t$(TOOL)\n", []string{"\tgo install", "\tgo install mine"},
			"BIN ?= $(shell pwd)/bin\nTOOL ?= $(BIN)/tool\n\ntool: $(TOOL)\n$(TOOL): $(BIN)\n\tgo install mine\n\n$(BIN):\n\tmkdir -p $(BIN)\n", 0},
		{"fields", "pod.yaml", "urls: [a]\nspec:\n  labels:\n    a: b\n", "urls:\n- a\n- b\nspec:\n  labels:\n    a: b\n    name: theirs\n  volumes: []\n",
			[]string{"[a]", "[mine]", "    a: b\n", "    a: b\n    name: mine\n  volumes:\n  - name: mine\n"}, "urls: [mine]\nspec:\n  labels:\n    a: b\n    name: mine\n  volumes:\n  - name: mine\n", 0},
		{"option", "kustomization.yaml", "resources:\n- a.yaml\n\n#patches:\n#- path: a.yaml\n", "resources:\n- a.yaml\n\npatches:\n- path: b.yaml\n",
			[]string{"#- path: a.yaml", "#- path: mine.yaml"}, "resources:\n- a.yaml\n\n#patches:\n#- path: mine.yaml\n", 0},
		{"patterns", ".gitignore", "# Binaries\nbin/\n*.dll\n", "bin/\n/cover.out\n", []string{"*.dll\n", "*.dll\nmine\n"}, "bin/\n/cover.out\nmine\n", 0},
		{"list without its item", "pod.yaml", pod, pod + "- --b\n", []string{"- /manager\n", "", "- --a\n", "- --a\n- /manager\n"}, "command:\nargs:\n- --a\n- --b\n- /manager\n", 0},
		{"rule for more API groups", "role.yaml", rules, strings.Replace(rules, "\"\"\n", "\"\"\n  - events.k8s.io\n", 1), []string{"  - patch\n", ""},
			"rules:\n- apiGroups:\n  - \"\"\n  - events.k8s.io\n  resources:\n  - events\n  verbs:\n  - create\n", 0},
		{"rule whose API group is commented out", "role.yaml", rules, strings.Replace(rules, "\"\"\n", "\"\"\n  - events.k8s.io\n", 1), []string{"  - \"\"\n", "#  - \"\"\n"},
			strings.Replace(rules, "  - \"\"\n", "#  - \"\"\n", 1), 0},
		{"comment in a unit that goes", "pod.yaml", "spec:\n  a: b\n  c: d\nx: y\n", "x: y\n", []string{"  c: d\n", "  # Mine.\n  c: d\n"}, "spec:\n  a: b\n  # Mine.\n  c: d\nx: y\n", 0},
	} {
		t.Run(c.file+" "+c.name, func(t *testing.T) {
			t.Parallel()
			ours := edit(t, c.base, c.edits)
			merged, r, err := MergeFile(c.file, []byte(ours), []byte(c.theirs), fileBase(t, c.file, []byte(c.base)), Options{OursLabel: "ours", TheirsLabel: "theirs"})
			if err != nil {
				t.Fatal(err)
			}
			if string(merged) != c.want || len(r.Conflicts) != c.conflicts {
				t.Errorf("conflicts %q, got\n%s\nwant\n%s", r.Conflicts, merged, c.want)
			}
		})
	}
}

// TestMergeSwitchedOff checks that an entry stays off that the user, and not the base, switched off.
func TestMergeSwitchedOff(t *testing.T) {
	t.Parallel()
	const name, on, off, current = "kustomization.yaml", "resources:\n- ../a\npatches:\n- path: b\n", "resources:\n- ../a\n#patches:\n#- path: b\n", "resources:\n- ../a\npatches:\n- path: c\n"
	for base, want := range map[string]string{on: off, off: current} {
		merged, r, err := MergeFile(name, []byte(off), []byte(current), fileBase(t, name, []byte(base)), Options{IsOption: func([]string) bool { return false }})
		if err != nil {
			t.Fatal(err)
		}
		if string(merged) != want || len(r.Conflicts) > 0 {
			t.Errorf("base %q: conflicts %q, got\n%s\nwant\n%s", base, r.Conflicts, merged, want)
		}
	}
}
