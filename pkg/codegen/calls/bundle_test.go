package calls

import (
	"strings"
	"testing"
)

// bundleLines returns a line for each command, SOURCE STEP [DIR] ARGUMENTS < BUILD, and for each note.
func bundleLines(b *Bundle) string {
	var out strings.Builder
	for _, c := range b.Commands {
		step := []string{"bundle", "base", "image"}[c.Step]
		out.WriteString(c.Position.String() + " " + step + " [" + c.Dir + "] " + strings.Join(c.Args, " "))
		if c.Piped {
			out.WriteString(" < " + strings.Join(append([]string{c.Build}, c.BuildFlags...), " "))
		}
		out.WriteString("\n")
	}
	for _, note := range b.Notes {
		out.WriteString("note: " + note + "\n")
	}
	return out.String()
}

func TestFindBundle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files tree
		want  string
	}{
		"a directory in a variable": {
			tree{"Makefile": "DIR ?= config/olm\nVERSION := 1.2.3\nFLAGS = --version $(VERSION)\nbundle: kustomize\n\t$(OPERATOR_SDK) generate kustomize manifests --interactive=false -q\n" +
				"\t$(KUSTOMIZE) build --enable-helm --load-restrictor LoadRestrictionsNone $(DIR)/x | sdk generate --verbose bundle $(FLAGS)\nKUSTOMIZE = ./bin/kustomize-v5.1\nOPERATOR_SDK = x\n"},
			"Makefile:5 base [.] --interactive=false -q\nMakefile:6 bundle [.] --verbose --version 1.2.3 < config/olm/x --enable-helm --load-restrictor LoadRestrictionsNone\n",
		},
		"variables of the target and of nested makes": {
			tree{"Makefile": "D ?= a\nbundle: E = f\nbundle: before\n\tD=b $(MAKE) one F=$(E)\nbefore: deep\ndeep: ; sdk generate kustomize manifests --package $(E)\n" +
				"one: ; $(MAKE) two\ntwo:\n\tcd out/$(D) && kustomize build ../../config/$(D) | sdk generate bundle --output-dir . $(F)\n"},
			"Makefile:6 base [.] --package f\nMakefile:9 bundle [out/b] --output-dir . f < config/b\n",
		},
		"a version of another target": {
			tree{"Makefile": "VERSION = 1.2.3\nlatest: VERSION = latest\nlatest bundle: ; sdk generate bundle --version $(VERSION)\n"},
			"Makefile:3 bundle [.] --version 1.2.3\n",
		},
		"other ways to build": {
			tree{"Makefile": "bundle:\n\tkubectl kustomize a | sdk generate bundle\n\tgo run sigs.k8s.io/kustomize/kustomize/v5@v5.4.1 build b | sdk generate bundle\n" +
				"\toperon tool kustomize build c | envsubst | sdk generate bundle\n\t(cd d && kustomize build) | sdk generate bundle\n\tcat e | sdk generate bundle\n\tsdk generate bundle --deploy-dir f\n"},
			"Makefile:2 bundle [.]  < a\nMakefile:3 bundle [.]  < b\nMakefile:4 bundle [.]  < c\nMakefile:5 bundle [.]  < d\nMakefile:6 bundle [.]  < \nMakefile:7 bundle [.] --deploy-dir f\n" +
				"note: Makefile:4: not run: envsubst\nnote: Makefile:6: not run: cat e\n",
		},
		"a script": {
			tree{
				"Makefile":  "bundle: ; ./hack/b.sh $(P)\nP = okd\n",
				"hack/b.sh": "#!/bin/bash\nfind() {\n  command -v $1\n}\nif ! KUSTOMIZE=$(find kustomize); then exit 1; fi\nPARAMS=(--channels a,b\n  --output-dir \"out dir\")\nPARAMS+=(\"--version\" 1)\n\"${KUSTOMIZE}\" build \"config/$1\" | \"${OPERATOR_SDK}\" generate bundle \"${PARAMS[@]}\"\nyq -i x\n",
			},
			"hack/b.sh:9 bundle [.] --channels a,b --output-dir out dir --version 1 < config/okd\nnote: hack/b.sh:10: not run: yq -i x\n",
		},
		"commands that are not run": {
			tree{
				"Makefile": "YQ ?= $(CURDIR)/bin/yq-v1\nbundle: manifests tool other yq\n\trm -rf bundle\n\tcp PROJECT x\n\tcd config/manager && kustomize edit set image controller=a:b\n\tkustomize edit add label x\n\tkustomize build config/x | sdk generate bundle # why\n" +
					"\tsed -i s/a/b/ \\\n\t\t$(CURDIR)/bundle/x\n\techo done\n\techo more >> bundle/y\n\techo less 2>&1 >/dev/null\n\t$(MAKE) reset-date check\n\t./hack/more.sh\n\tsdk bundle validate ./bundle\n" +
					"manifests:\n\tcontroller-gen crd\n\tsed -i before\ntool:\n\ttest -s bin/yq || curl -Lo bin/yq https://example.com\n\tchmod +x bin/yq\nother: ; curl -o config/x/y.yaml https://example.com\nreset-date: ; sed -i date\ncheck: ; test -s x\nyq: ; ./get.sh $(YQ)\n",
				"hack/more.sh": "set -e\nmv a b\n",
			},
			"Makefile:5 image [config/manager] controller=a:b\nMakefile:7 bundle [.]  < config/x\n" +
				"note: Makefile:22: not run: curl -o config/x/y.yaml https://example.com\nnote: Makefile:3: not run: rm -rf bundle\n" +
				"note: Makefile:6: not run: kustomize edit add label x\nnote: Makefile:8: not run: sed -i s/a/b/ bundle/x\nnote: Makefile:11: not run: echo more >> bundle/y\n" +
				"note: Makefile:13: not run: make reset-date check\nnote: Makefile:14: not run: ./hack/more.sh\n",
		},
		"no target bundle": {
			tree{"Makefile": "all: olm-other\nolm: ; kustomize build a | sdk generate bundle\nolm-other: ; kustomize build b | sdk generate bundle\nbundle: ; echo sdk generate bundle\n"},
			"Makefile:2 bundle [.]  < a\n",
		},
		"variables of the environment": {
			tree{"Makefile": "bundle:\n\t$(OPERATOR_SDK) generate kustomize manifests\n\tcd x && $(KUSTOMIZE) edit set image a=b\n\t$(KUSTOMIZE) build a | $(OPERATOR_SDK) generate bundle\n\t$(OPERATOR_SDK) bundle validate ./bundle\n"},
			"Makefile:2 base [.] \nMakefile:3 image [x] a=b\nMakefile:4 bundle [.]  < a\n",
		},
		"none": {tree{"Makefile": "all: ; true\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := FindBundle(test.files)
			if err != nil {
				t.Fatal(err)
			}
			if got := bundleLines(found); got != test.want {
				t.Errorf("got:\n%swant:\n%s", got, test.want)
			}
		})
	}
	if found, err := FindBundle(tree{}); found != nil || err != nil {
		t.Errorf("without a makefile: %v, %v", found, err)
	}
}

func TestIsResolved(t *testing.T) {
	t.Parallel()
	found, err := FindBundle(tree{"Makefile": "A = $(shell cat name)\nbundle: ; sdk generate bundle $(A) $(shell git describe) $$(date)\n", "name": "crew\n"})
	if err != nil {
		t.Fatal(err)
	}
	args := found.Commands[0].Args
	if len(args) != 3 || !IsResolved(args[0]) || IsResolved(args[1]) || IsResolved(args[2]) {
		t.Errorf("got %q", args)
	}
}
