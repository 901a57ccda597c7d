package scaffold

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// eventsVersion is the first controller-runtime with recorders of the events.k8s.io API in managers and with webhooks
// typed by their kind.
const eventsVersion = "v0.23.0"

// Minimum versions of controller-runtime for parts of the templates.
const (
	// conditionsVersion is for setting a condition with a report of the change.
	conditionsVersion = "v0.18.0"
	// imageVersion is for the controller of an image, which watches pods by their metadata.
	imageVersion = "v0.18.0"
	// webhookVersion is for webhooks: their suite configures the metrics server and the webhook server by options.
	webhookVersion = "v0.16.0"
	// namespacesVersion is for cache.Options.DefaultNamespaces.
	namespacesVersion = "v0.16.0"
	// oldestVersion is for Ginkgo v2, which the tests use.
	oldestVersion = "v0.12.0"
)

const (
	runtimeModule = "sigs.k8s.io/controller-runtime"
	ginkgoModule  = "github.com/onsi/ginkgo/v2"
)

// adapt adapts data to an existing project: the required controller-runtime, the paths of files, the registration of types in
// its API packages, and the variables of images.
func adapt(tree *worktree.Tree, data *Data) error {
	if !data.Project.hasProgram() {
		return nil
	}
	runtime, err := findRuntime(tree)
	if err != nil {
		return err
	}
	data.Project.LegacyWebhooks = isBefore(runtime, eventsVersion)
	data.Project.LegacyEvents = isBefore(runtime, eventsVersion)
	data.Project.LegacyConditions = isBefore(runtime, conditionsVersion)
	if err := data.Project.findWebhookNames(tree, *data); err != nil {
		return err
	}
	if err := data.Project.FindPaths(tree); err != nil {
		return err
	}
	suite := outputPath("internal/controller/GROUP/suite_test.go", *data)
	if name := packageIn(tree, path.Dir(suite)); name != "" && data.Resource.Controller {
		data.Resource.ControllerPackage = name
	}
	data.Resource.ControllerSuite = readSuite(tree, suite)
	data.Resource.WebhookSuite = readSuite(tree, outputPath("internal/webhook/GROUP/VERSION/webhook_suite_test.go", *data))
	data.Project.CRDs = findCRDs(tree)
	data.Project.LegacyManifest = lacksLists(tree) || mergesPatches(tree)
	group := outputPath(apiPath, *data)
	info, err := tree.ReadFile(path.Join(group, "groupversion_info.go"))
	if errors.Is(err, fs.ErrNotExist) {
		// Peers of that age add their types to it in their own way.
		data.Resource.LegacySchemeBuilder = data.Project.LegacyEvents
	} else {
		data.Resource.LegacySchemeBuilder = err == nil && bytes.Contains(info, []byte("scheme.Builder{"))
	}
	data.Resource.SSA = data.Resource.SSA || hasApplyMarker(tree, path.Join(group, strings.ToLower(data.Resource.Kind)+"_types.go"))
	data.Resource.SSAPackage = data.Resource.SSA || hasApplyMarker(tree, path.Join(group, "groupversion_info.go"))
	if data.Image.Ref != "" {
		data.Image.EnvVar = imageVariable(tree, *data)
	}
	if !data.Resource.API {
		return nil
	}
	return setSampleName(tree, data)
}

// webhookType matches the declaration of a webhook's type.
var webhookType = lazyregexp.New(`(?m)^type \w+?(Custom)?(Defaulter|Validator) struct`)

// findWebhookNames finds how webhook types are named: like the kind's, like any kind's, or as in PROJECT.
func (p *Project) findWebhookNames(tree *worktree.Tree, data Data) error {
	names, err := tree.Walk(project.WebhookDir, nil)
	if err != nil {
		return err
	}
	for _, name := range append([]string{outputPath(webhookPath, data)}, names...) {
		if !strings.HasSuffix(name, "_webhook.go") {
			continue
		}
		content, err := tree.ReadOptional(name)
		if err != nil {
			return err
		}
		if m := webhookType.FindSubmatch(content); m != nil {
			p.ShortWebhooks = len(m[1]) == 0
			return nil
		}
	}
	return nil
}

// findRuntime returns the requirement of controller-runtime in go.mod, or nil.
func findRuntime(tree *worktree.Tree) (*modfile.Require, error) {
	_, file, err := ReadGoMod(tree)
	if err != nil {
		return nil, err
	}
	for _, r := range file.Require {
		if r.Mod.Path == runtimeModule {
			return r, nil
		}
	}
	return nil, nil
}

// isBefore reports whether a requirement, if any, is of a version before another one.
func isBefore(r *modfile.Require, version string) bool {
	return r != nil && semver.Compare(r.Mod.Version, version) < 0
}

// checkVersion returns an error if a requirement is too old for a part of the scaffold.
func checkVersion(r *modfile.Require, version, what string) error {
	if !isBefore(r, version) {
		return nil
	}
	return goModFinding(r.Syntax, "%s %s is too old for %s, which needs %s or later; run 'operon upgrade', which raises the requirement",
		r.Mod.Path, r.Mod.Version, what, version)
}

// checkRuntime returns an error if the required controller-runtime is too old for the code.
func checkRuntime(tree *worktree.Tree, data Data) error {
	runtime, err := findRuntime(tree)
	if err == nil {
		err = checkVersion(runtime, oldestVersion, "the scaffold")
	}
	if err == nil && data.Image.Ref != "" {
		err = checkVersion(runtime, imageVersion, "the controller of an image")
	}
	if err == nil && data.Webhook != (Webhook{}) {
		err = checkVersion(runtime, webhookVersion, "the webhooks of the scaffold")
	}
	return err
}

// CheckNamespaces returns an error if the required controller-runtime cannot restrict a manager to namespaces.
func CheckNamespaces(tree *worktree.Tree) error {
	runtime, err := findRuntime(tree)
	if err != nil {
		return err
	}
	return checkVersion(runtime, namespacesVersion, "a manager of one namespace")
}

// fitRootLayout removes files that projects with main.go in the root directory may not have: the list of samples, and
// tests if go.mod does not require Ginkgo.
func fitRootLayout(tree *worktree.Tree, files map[string][]byte, inserts map[string]map[string]string) error {
	_, file, err := ReadGoMod(tree)
	if err != nil {
		return err
	}
	tests := slices.ContainsFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == ginkgoModule })
	leftOut := func(name string) bool {
		return !tests && strings.HasSuffix(name, "_test.go") ||
			name == project.SamplesKustomization && !tree.Exists(project.SamplesKustomization)
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return leftOut(name) })
	maps.DeleteFunc(inserts, func(name string, _ map[string]string) bool { return leftOut(name) })
	return nil
}
