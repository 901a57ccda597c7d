package cmd

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// An oldAPI identifies an API in the flags of old commands.
type oldAPI struct {
	// apiVersion is the qualified group and the version: cache.example.com/v1alpha1.
	apiVersion, kind string
}

func (o *oldAPI) addTo(c *cobra.Command) {
	c.Flags().StringVar(&o.apiVersion, "api-version", "", "full `group/version` of the API, such as cache.example.com/v1alpha1")
	c.Flags().StringVar(&o.kind, "kind", "", "`kind` of the resource, such as Memcached")
}

// parse returns the qualified group and the version. findings are those about other flags.
func (o *oldAPI) parse(findings diag.Findings) (group, version string, err error) {
	group, version, ok := strings.Cut(o.apiVersion, "/")
	if !ok && o.apiVersion != "" {
		group, version = "", o.apiVersion // the core group of Kubernetes
	}
	if version == "" || strings.Contains(version, "/") {
		findings.Add("--api-version", o.apiVersion, "must be the full group and the version, such as cache.example.com/v1alpha1")
	}
	if o.kind == "" {
		findings.Add("--kind", "", "is required, such as Memcached")
	}
	return group, version, findings.Err()
}

// retiredAdd are the flags of add api and add crd that are no longer supported.
func retiredAdd() []retired {
	const ofCreateAPI = "is a flag of 'create api' in Helm and Go projects"
	return []retired{
		{"crd-version", "must be v1", []string{"v1"}},
		{"generate-playbook", "is a flag of 'create api' in Ansible projects", []string{"false"}},
		{"helm-chart", ofCreateAPI, nil},
		{"helm-chart-repo", ofCreateAPI, nil},
		{"helm-chart-version", ofCreateAPI, nil},
	}
}

func newOldAddAPI(a *app) *cobra.Command {
	var o oldAPI
	var skip bool
	c := a.oldCommand("api", "Add an API (now 'create api --controller=false')",
		`Add the types of an API, like 'create api --controller=false', under the name of that command before
operator-sdk 1.0. In a project without APIs the group sets the project's domain.`,
		`  %[1]s add api --api-version cache.example.com/v1alpha1 --kind Memcached
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource --controller=false`,
		func(c *cobra.Command, _ []string) error { return a.runOldAddAPI(c, o, skip) })
	o.addTo(c)
	c.Flags().BoolVar(&skip, "skip-generation", false, "skip the generated code and manifests")
	addRetired(c, retiredAdd())
	return c
}

func (a *app) runOldAddAPI(c *cobra.Command, o oldAPI, skip bool) error {
	full, version, err := o.parse(retiredUsed(c, retiredAdd()))
	if err != nil {
		return err
	}
	config, err := a.readProject(action.RecentLayouts)
	if err != nil {
		return err
	}
	group, domain, err := splitGroup(config, full)
	if err != nil {
		return err
	}
	words := []string{"--group", group, "--version", version, "--kind", o.kind, "--resource", "--controller=false"}
	if skip {
		words = append(words, "--make=false")
	}
	path := []string{"create", "api"}
	if domain == config.Domain() {
		return a.runReplacement(c, path, words...)
	}
	a.noteReplacement(c, joinWords(slices.Concat([]string{a.program}, path, words)))
	a.notef("note: the first API sets the project's domain, %s; use 'init --domain' instead", domain)
	api := action.CreateAPIOptions{Domain: domain, Generate: !skip, Manifests: true}
	api.Group, api.Version, api.Kind, api.API, api.Namespaced = group, version, o.kind, true, true
	return a.runInProject(c.Context(), func(p *action.Project) (*action.Result, error) { return p.CreateAPI(c.Context(), api) })
}

// splitGroup splits a qualified group into group and domain. The domain must be the project's, unless the project has no
// resources.
func splitGroup(config *project.Config, full string) (group, domain string, err error) {
	if group, ok := strings.CutSuffix(full, "."+config.Domain()); ok {
		return group, config.Domain(), nil
	}
	invalid := func(problem string) error {
		return diag.Findings{{Field: "--api-version", Value: full, Problem: problem}}
	}
	group, domain, ok := strings.Cut(full, ".")
	switch {
	case !ok:
		return "", "", invalid("the group must be a full one, such as cache." + config.Domain())
	case len(config.Resources()) > 0:
		return "", "", invalid("the group must end in ." + config.Domain() + ", the domain of the project; APIs of another domain belong to a project of their own")
	}
	return group, domain, project.CheckDomain(domain).Err()
}

func newOldAddController(a *app) *cobra.Command {
	var o oldAPI
	var types string
	c := a.oldCommand("controller", "Add a controller (now 'create api --resource=false')",
		`Add a controller for an API of the project, of Kubernetes or of another module, like 'create api
--resource=false', under the name of that command before operator-sdk 1.0.`,
		`  %[1]s add controller --api-version cache.example.com/v1alpha1 --kind Memcached
  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource=false --controller`,
		func(c *cobra.Command, _ []string) error { return a.runOldAddController(c, o, types) })
	o.addTo(c)
	c.Flags().StringVar(&types, "custom-api-import", "", "import `path` of types from another module, followed by =identifier")
	addRetired(c, retiredAdd())
	return c
}

func (a *app) runOldAddController(c *cobra.Command, o oldAPI, types string) error {
	full, version, err := o.parse(retiredUsed(c, retiredAdd()))
	if err != nil {
		return err
	}
	config, err := a.readProject(action.RecentLayouts)
	if err != nil {
		return err
	}
	types, _, _ = strings.Cut(types, "=")
	group, own := strings.CutSuffix(full, "."+config.Domain())
	var external []string
	switch {
	case own:
	case full == "":
		group = "core"
	case !strings.Contains(full, ".") || strings.HasSuffix(full, ".k8s.io") && strings.HasPrefix(types+"k8s.io/api/", "k8s.io/api/"):
		group = strings.TrimSuffix(full, ".k8s.io")
	case types == "":
		return diag.Findings{{Field: "--custom-api-import", Problem: "is required for an API of neither the project nor Kubernetes: the import path of its types"}}
	default:
		var domain string
		group, domain, _ = strings.Cut(full, ".")
		external = []string{"--external-api-path", types, "--external-api-domain", domain}
	}
	words := []string{"--group", group, "--version", version, "--kind", o.kind, "--resource=false", "--controller"}
	return a.runReplacement(c, []string{"create", "api"}, append(words, external...)...)
}

func newOldAddCRD(a *app) *cobra.Command {
	var o oldAPI
	c := a.oldCommand("crd", "Generate CRDs (now 'generate manifests')",
		"Generate the CRDs of the project's API types, like 'generate manifests'; 'create api' writes the sample.",
		"  %s generate manifests",
		func(c *cobra.Command, _ []string) error {
			return a.runReplacement(c, []string{"generate", "manifests"})
		})
	o.addTo(c)
	refuseRetired(c, retiredAdd())
	return c
}
