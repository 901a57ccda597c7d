package upgrade

import (
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

// carried merges one file: what a scaffold wrote, what a person made of it, and today's.
func carried(t *testing.T, name, was, mine, today string) string {
	t.Helper()
	known, err := parseKnown(Record(Names{Project: "prjnm"}, map[Scaffold][]map[string][]byte{{"kubebuilder", "2.0.0", "go/v2"}: {{name: []byte(was)}}}))
	if err != nil {
		t.Fatal(err)
	}
	fsys := afero.NewMemMapFs()
	if err := afero.WriteFile(fsys, "/p/"+name, []byte(mine), 0o644); err != nil {
		t.Fatal(err)
	}
	tree := scaffold.NewTree(fsys, "/p")
	if _, err := Files(tree, map[string][]byte{name: []byte(today)}, Options{Names: Names{Project: "mine"}, Known: known, Label: "today"}); err != nil {
		t.Fatal(err)
	}
	got, err := tree.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// TestCarry holds that what a person has set or added goes where today's text has its place.
func TestCarry(t *testing.T) {
	t.Parallel()
	const manager = "kind: Deployment\nspec:\n  containers:\n  - name: manager\n    args:\n    - --old\n    image: controller:latest\n    resources:\n      limits:\n        cpu: 100m\n        memory: 30Mi\n"
	const managerToday = "# Ours.\nkind: Deployment\nspec:\n  containers:\n    - image: controller:latest\n      args:\n        - --new=1\n      env:\n        - name: OURS\n          value: a\n" +
		"      name: manager\n      ports:\n        - name: http\n      resources:\n        limits:\n          cpu: 500m\n          memory: 128Mi\n      volumeMounts: []\n"
	for name, c := range map[string]struct{ file, was, mine, today, want string }{
		"variables": {
			"Makefile", "# The image.\nIMG ?= a\n# More.\nVERSION ?= 1\nold:\n\tgo old\n", "# The image.\nIMG ?= mine\n# More.\nVERSION ?= 1\nold:\n\tgo old\n",
			"VERSION ?= 1\n\n# An image.\nIMG ?= b\nnew:\n\tgo new\n", "VERSION ?= 1\n\n# An image.\nIMG ?= mine\nnew:\n\tgo new\n",
		},
		"values, items and keys": {
			managerFile, manager,
			strings.NewReplacer("30Mi", "77Mi", "- --old\n", "- --old\n    - --mine\n", "    image:", "    env:\n    - name: MINE\n      valueFrom:\n        fieldRef:\n          fieldPath: spec.x\n    volumeMounts:\n    - name: own\n      mountPath: /own\n    workingDir: /mine\n    image:").Replace(manager),
			managerToday,
			strings.NewReplacer("128Mi", "77Mi", "- --new=1\n", "- --new=1\n        - --mine\n", "          value: a\n", "          value: a\n        - name: MINE\n          valueFrom:\n            fieldRef:\n              fieldPath: spec.x\n",
				"volumeMounts: []\n", "volumeMounts:\n      - name: own\n        mountPath: /own\n      workingDir: /mine\n").Replace(managerToday),
		},
		"lists of older kustomizations": {
			kustomizationFile, "bases:\n- ../crd\npatchesStrategicMerge:\n# Before.\n- proxy.yaml\n", "bases:\n- ../crd\n- ../mine\npatchesStrategicMerge:\n# Before.\n- proxy.yaml\n- mine.yaml\n",
			"# Ours.\nresources:\n- ../crd\n- ours.yaml\npatches:\n# It.\n- path: ours.yaml\n  target:\n    kind: Deployment\n",
			"# Ours.\nresources:\n- ../crd\n- ../mine\n- ours.yaml\npatches:\n# It.\n- path: ours.yaml\n  target:\n    kind: Deployment\n- path: mine.yaml\n",
		},
		"copies": {
			"Dockerfile", "FROM golang\nCOPY api/ api/\n# It.\nRUN go build main.go\n", "FROM golang\nCOPY api/ api/\nCOPY mine/ mine/\n# It.\nRUN go build main.go\n",
			"FROM golang\nCOPY . .\nRUN go build ./cmd\nUSER 1\n", "FROM golang\nCOPY . .\nCOPY mine/ mine/\nRUN go build ./cmd\nUSER 1\n",
		},
		"imports": {
			"cmd/main.go", "package main\n\nimport (\n\t\"os\"\n\n\t\"example.com/a\"\n\t// +kubebuilder:scaffold:imports\n)\n\nfunc main() {\n\ta.Run(os.Args)\n}\n",
			"package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t\"example.com/a\"\n\t\"example.com/mine\"\n\t// +kubebuilder:scaffold:imports\n)\n\nfunc main() {\n\tfmt.Println(mine.Text)\n\ta.Run(os.Args)\n}\n",
			"package main\n\nimport (\n\t\"context\"\n\t\"os\"\n\n\t\"example.com/b\"\n\t// +kubebuilder:scaffold:imports\n)\n\nfunc main() {\n\tb.Run(os.Args)\n}\n",
			"package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"os\"\n\n\t\"example.com/b\"\n\t\"example.com/mine\"\n\t// +kubebuilder:scaffold:imports\n)\n\nfunc main() {\n\tfmt.Println(mine.Text)\n\tb.Run(os.Args)\n}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := carried(t, c.file, c.was, c.mine, c.today); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if got := carried(t, c.file, c.was, c.want, c.today); got != c.want {
				t.Errorf("again it becomes\n%s", got)
			}
		})
	}
}

// TestSettings holds that the options of managers in files are arguments and code of today's, and that those that
// cannot be are told.
func TestSettings(t *testing.T) {
	t.Parallel()
	was := map[string][]byte{
		kustomizationFile: []byte("patchesStrategicMerge:\n- manager_auth_proxy_patch.yaml\n- manager_config_patch.yaml\n"),
		managerFile:       []byte("kind: Deployment\nspec: {}\n"),
		mainFile:          []byte("package main\n\nfunc main() { old() }\n"),
		optionsPatch:      []byte("kind: Deployment\nspec:\n  template: {}\n"),
		proxyPatch:        []byte("kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: kube-rbac-proxy\n        args: [--v=0]\n      - name: manager\n        args:\n        - --metrics-bind-address=127.0.0.1:8080\n"),
		optionsFile:       []byte("kind: ControllerManagerConfig\nhealth:\n  healthProbeBindAddress: :8081\nleaderElection:\n  leaderElect: true\n"),
	}
	today := map[string][]byte{
		kustomizationFile: []byte("patches:\n- path: metrics.yaml\n"),
		managerFile:       []byte("kind: Deployment\nspec:\n      containers:\n      - name: manager\n        args:\n        - --leader-elect\n        - --health-probe-bind-address=:8081\n        ports:\n        - containerPort: 8081\n"),
		mainFile:          []byte("package main\n\nfunc main() {\n\trun(webhook.Options{TLSOpts: tls}, ctrl.Options{\n\t\tLeaderElectionID: \"ours\",\n\t})\n}\n"),
	}
	known, err := parseKnown(Record(Names{Project: "prjnm"}, map[Scaffold][]map[string][]byte{{"kubebuilder", "3.0.0", "go/v3"}: {was}}))
	if err != nil {
		t.Fatal(err)
	}
	upgraded := func(options string) (*scaffold.Tree, *Result) {
		fsys := afero.NewMemMapFs()
		for name, text := range was {
			switch name {
			case proxyPatch:
				text = append(text, "        - --mine=a b\n"...)
			case optionsFile:
				text = []byte(options)
			}
			if err := afero.WriteFile(fsys, "/p/"+name, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tree := scaffold.NewTree(fsys, "/p")
		result, err := Files(tree, today, Options{Names: Names{Project: "mine"}, Known: known, Label: "today"})
		if err != nil {
			t.Fatal(err)
		}
		return tree, result
	}
	const options = "kind: ControllerManagerConfig\nhealth:\n  healthProbeBindAddress: :9191\nmetrics:\n  bindAddress: 127.0.0.1:8080\nwebhook:\n  port: 9444\nleaderElection:\n  leaderElect: false\n  resourceName: mine.example.org\n"
	tree, _ := upgraded(options)
	if tree.Exists(optionsFile) || tree.Exists(optionsPatch) {
		t.Error("there are options that nothing reads")
	}
	manager := "kind: Deployment\nspec:\n      containers:\n      - name: manager\n        args:\n        - --health-probe-bind-address=:9191\n        - \"--mine=a b\"\n        ports:\n        - containerPort: 9191\n"
	program := "package main\n\nfunc main() {\n\trun(webhook.Options{Port: 9444, TLSOpts: tls}, ctrl.Options{\n\t\tLeaderElectionID: \"mine.example.org\",\n\t})\n}\n"
	for name, want := range map[string]string{managerFile: manager, mainFile: program, kustomizationFile: "patches:\n- path: metrics.yaml\n"} {
		if got, err := tree.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s is\n%s%v", name, got, err)
		}
	}
	tree, result := upgraded(options + "cacheNamespace: mine\n")
	if !tree.Exists(optionsFile) {
		t.Error("an option was lost")
	}
	for _, f := range result.Files {
		if f.Name == optionsFile && !strings.Contains(f.Note, "sets cacheNamespace;") {
			t.Errorf("%s: %s", f.Name, f.Note)
		}
	}
}
