// Package old translates commands and flags of operator-sdk before 1.0 to the current ones. It does not run them.
package old

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Retired are flags that a command had and that are no longer supported.
type Retired []struct {
	Name string
	// Instead describes the replacement, after the name of the flag.
	Instead string
	// Fine are the values that are the current behavior. The flag is a boolean one if they are.
	Fine []string
}

// AddTo adds the flags, hidden.
func (r Retired) AddTo(f *pflag.FlagSet) {
	for _, flag := range r {
		if slices.Contains(flag.Fine, "true") || slices.Contains(flag.Fine, "false") {
			f.Bool(flag.Name, false, flag.Instead)
		} else {
			f.String(flag.Name, "", flag.Instead)
		}
		_ = f.MarkHidden(flag.Name) // the only error is a flag that does not exist
	}
}

// Used returns findings for the flags that are given, except for those with the current behavior.
func (r Retired) Used(f *pflag.FlagSet) diag.Findings {
	var findings diag.Findings
	for _, retired := range r {
		flag := f.Lookup(retired.Name)
		if flag.Changed && !slices.Contains(retired.Fine, flag.Value.String()) {
			findings.Add("--"+retired.Name, flag.Value.String(), retired.Instead)
		}
	}
	return findings
}

const (
	modulesOnly  = "must be modules: projects are Go modules"
	ofCreateAPI  = "is a flag of 'operon create api' in Helm and Go projects"
	sources      = "is not needed: the project's kustomization is built; 'operon generate bundle --deploy-dir … --crds-dir …' reads directories"
	startManager = "start the manager yourself, after 'make install': go run ./cmd and the flags"
	ownManifests = "is not needed: the tests deploy with 'make deploy', or start their own API server"
	ownNamespace = "is set in the tests of the project"
)

// OfAdd returns the retired flags of add api, add controller and add crd.
func OfAdd() Retired {
	return Retired{
		{"crd-version", "must be v1", []string{"v1"}},
		{"generate-playbook", "is a flag of 'operon create api' in Ansible projects", []string{"false"}},
		{"helm-chart", ofCreateAPI, nil},
		{"helm-chart-repo", ofCreateAPI, nil},
		{"helm-chart-version", ofCreateAPI, nil},
	}
}

// OfNew returns the retired flags of new.
func OfNew() Retired {
	return append(Retired{
		{"type", "must be go; for a Helm or Ansible operator, run 'operon init --plugins helm' or 'operon init --plugins ansible' in a new directory", []string{"go"}},
		{"dep-manager", modulesOnly, []string{"modules"}},
		{"git-init", "is done by 'git init' in the new directory", []string{"false"}},
		{"skip-git-init", "is the default behavior", []string{"true"}},
		{"skip-validation", "is not needed: the new project is complete", []string{"true", "false"}},
		{"vendor", "is done by 'go mod vendor' in the new directory", []string{"false"}},
		{"make-manifests", "is done by 'operon generate manifests' after the first API is created", []string{"false"}},
		{"cluster-scoped", "must be true; use 'operon init --namespaced' for a manager of one namespace", []string{"true"}},
		{"api-version", "is replaced by 'operon create api' in the new project", nil},
		{"kind", "is replaced by 'operon create api' in the new project", nil},
	}, OfAdd()...)
}

// OfMigrate returns the retired flags of migrate.
func OfMigrate() Retired {
	return Retired{
		{"header-file", "is not needed: the header is in hack/boilerplate.go.txt", nil},
		{"repo", "is not needed: go.mod contains it", nil},
		{"dep-manager", modulesOnly, []string{"modules"}},
	}
}

// OfPrintDeps returns the retired flags of print-deps.
func OfPrintDeps() Retired {
	return Retired{{"dep-manager", modulesOnly, []string{"modules"}}}
}

// OfCRDs returns the retired flags of generate crds and generate openapi.
func OfCRDs() Retired {
	return Retired{{"crd-version", "must be v1", []string{"v1"}}}
}

// OfCSV returns the retired flags of olm-catalog gen-csv and generate csv.
func OfCSV() Retired {
	return Retired{
		{"update-crds", "is the default behavior", []string{"true", "false"}},
		{"make-manifests", "is the default behavior", []string{"true"}},
		{"csv-config", "is no longer read: 'operon bundle' has a flag for each text, and --metadata-file for all of them", nil},
		{"deploy-dir", sources, nil},
		{"crd-dir", sources, nil},
		{"apis-dir", sources, nil},
		{"include", sources, nil},
		{"output-dir", "is --output-dir of 'operon bundle'", nil},
	}
}

// ofRun returns the retired flags of up local and run --local.
func ofRun() Retired {
	return Retired{
		{"operator-namespace", "is not needed: the manager elects no leader without --leader-elect; " + startManager, nil},
		{"operator-flags", "cannot be passed on; " + startManager, nil},
		{"go-ldflags", "is replaced by the variable GOFLAGS: GOFLAGS=-ldflags=…", nil},
		{"enable-delve", "is replaced by 'dlv debug ./cmd', after 'make install'", []string{"false"}},
	}
}

// ofTest returns the retired flags of test local.
func ofTest() Retired {
	return Retired{
		{"up-local", "is replaced by 'operon run local' in another terminal", []string{"false"}},
		{"local-operator-flags", "is replaced by 'go run ./cmd' with the flags, in another terminal", nil},
		{"image", "is the IMG of 'make deploy', which the tests call", nil},
		{"global-manifest", ownManifests, nil},
		{"namespaced-manifest", ownManifests, nil},
		{"no-setup", "is the default behavior", []string{"true", "false"}},
		{"skip-cleanup-error", "is the default behavior", []string{"true", "false"}},
		{"namespace", ownNamespace, nil},
		{"operator-namespace", ownNamespace, nil},
		{"watch-namespace", ownNamespace, nil},
		{"molecule-test-flags", "is replaced by 'molecule test' with the flags in an Ansible project, or by 'make molecule'", nil},
	}
}

// OfBuild returns the retired flags of build.
func OfBuild() Retired {
	return Retired{
		{"image-builder", "is not needed: no other program builds the image; to build the Dockerfile, run 'make docker-build CONTAINER_TOOL=…'", nil},
		{"image-build-args", "is replaced by --base and --label; 'make docker-build' builds the Dockerfile", nil},
		{"go-build-args", "is replaced by the variable GOFLAGS", nil},
		{"enable-tests", "is replaced by 'make test' before the build", []string{"false"}},
		{"test-location", "is replaced by 'make test' before the build", nil},
		{"namespaced-manifest", "is replaced by 'make test' before the build", nil},
	}
}

// OfPlugins returns the flags that plugins of kubebuilder add to init and edit, and that have no equal.
func OfPlugins() Retired {
	return Retired{{"use-gh-models", "is not supported: the pull request of the workflow has the output of upgrade instead of a summary by a model; leave it out", []string{"false"}}}
}

// OfUpdate returns the flags of kubebuilder's alpha update that have no equal.
func OfUpdate() Retired {
	off := []string{"false"}
	return Retired{
		{"show-commits", "is not supported: there is one commit, and no intermediate ones; leave it out", off},
		{"use-gh-models", "is not supported: the issue lists what to complete instead of a summary by a model; leave it out", off},
		{"git-config", "is not supported: git does not merge here; set what commits and pushes need with 'git config --global'", nil},
	}
}
