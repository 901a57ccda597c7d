package old

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// An API contains the flags of commands that add an API or a controller.
type API struct {
	// apiVersion is the qualified group and the version: cache.example.com/v1alpha1. Check splits it.
	apiVersion, Kind string
	group, Version   string
}

// AddTo adds the flags.
func (o *API) AddTo(f *pflag.FlagSet) {
	f.StringVar(&o.apiVersion, "api-version", "", "full `group/version` of the API, such as cache.example.com/v1alpha1")
	f.StringVar(&o.Kind, "kind", "", "`kind` of the resource, such as Memcached")
}

// Check validates the flags. findings are those about other flags.
func (o *API) Check(findings diag.Findings) error {
	group, version, ok := strings.Cut(o.apiVersion, "/")
	if !ok && o.apiVersion != "" {
		group, version = "", o.apiVersion // the core group of Kubernetes
	}
	if version == "" || strings.Contains(version, "/") {
		findings.Add("--api-version", o.apiVersion, "must be the full group and the version, such as cache.example.com/v1alpha1")
	}
	if o.Kind == "" {
		findings.Add("--kind", "", "is required, such as Memcached")
	}
	o.group, o.Version = group, version
	return findings.Err()
}

// SplitGroup returns the group and the domain. The domain must be the project's, unless the project has no resources.
func (o *API) SplitGroup(config *project.Config) (group, domain string, err error) {
	if group, ok := strings.CutSuffix(o.group, "."+config.Domain()); ok {
		return group, config.Domain(), nil
	}
	invalid := func(problem string) error {
		return diag.Findings{{Field: "--api-version", Value: o.group, Problem: problem}}
	}
	group, domain, ok := strings.Cut(o.group, ".")
	switch {
	case !ok:
		return "", "", invalid("the group must be a full one, such as cache." + config.Domain())
	case len(config.Resources()) > 0:
		return "", "", invalid("the group must end in ." + config.Domain() + ", the domain of the project; APIs of another domain belong to a project of their own")
	}
	return group, domain, project.CheckDomain(domain).Err()
}

// CreateAPI returns the arguments of create api that add the types of a group, as add api did.
func (o *API) CreateAPI(group string, generate bool) []string {
	args := []string{"--group", group, "--version", o.Version, "--kind", o.Kind, "--resource", "--controller=false"}
	if !generate {
		args = append(args, "--make=false")
	}
	return args
}

// CreateController returns the arguments of create api that add a controller, as add controller did. types is the import path of types
// from another module, which an identifier can follow.
func (o *API) CreateController(config *project.Config, types string) ([]string, error) {
	types, _, _ = strings.Cut(types, "=")
	group, own := strings.CutSuffix(o.group, "."+config.Domain())
	var external []string
	switch {
	case own:
	case o.group == "":
		group = "core"
	case !strings.Contains(o.group, ".") || strings.HasSuffix(o.group, ".k8s.io") && strings.HasPrefix(types+"k8s.io/api/", "k8s.io/api/"):
		group = strings.TrimSuffix(o.group, ".k8s.io")
	case types == "":
		return nil, diag.Findings{{Field: "--custom-api-import", Problem: "is required for an API of neither the project nor Kubernetes: the import path of its types"}}
	default:
		var domain string
		group, domain, _ = strings.Cut(o.group, ".")
		external = []string{"--external-api-path", types, "--external-api-domain", domain}
	}
	return append([]string{"--group", group, "--version", o.Version, "--kind", o.Kind, "--resource=false", "--controller"}, external...), nil
}
