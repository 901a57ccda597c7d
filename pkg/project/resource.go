package project

import (
	"path"
	"strings"

	"github.com/gobuffalo/flect"
	"sigs.k8s.io/kubebuilder/v3/pkg/model/resource"
)

// GVK names an API. Group and Domain together are Kubernetes' group.
type GVK struct {
	Group, Domain, Version, Kind string
}

// QualifiedGroup is the group as Kubernetes knows it: cache.example.com, or core for the legacy core group.
func (g GVK) QualifiedGroup() string {
	switch {
	case g.Domain == "":
		return g.Group
	case g.Group == "":
		return g.Domain
	}
	return g.Group + "." + g.Domain
}

// String is group/version, kind: for people.
func (g GVK) String() string { return g.QualifiedGroup() + "/" + g.Version + " " + g.Kind }

// API tells that the project holds an API's Go types.
type API struct {
	// CRDVersion is the version of CustomResourceDefinition, v1.
	CRDVersion string
	// Namespaced is the scope of the kind.
	Namespaced bool
}

// Webhooks tells which webhooks the project has for a kind.
type Webhooks struct {
	// WebhookVersion is the version of the webhook configuration, v1.
	WebhookVersion                     string
	Defaulting, Validation, Conversion bool
	// Spoke lists the versions that convert to and from this one, the hub.
	Spoke []string
	// DefaultingPath and ValidationPath are served instead of the default paths.
	DefaultingPath, ValidationPath string
}

// Resource is one API that the project defines or controls.
type Resource struct {
	GVK
	// Plural is the resource's name in URLs and RBAC rules, lower case.
	Plural string
	// Path is the import path of the Go types, empty where the project has none.
	Path string
	// API is nil for types that live elsewhere, Webhooks where there are none.
	API      *API
	Webhooks *Webhooks
	// Controllers are the names of the project's controllers for the kind. A controller that was given no name
	// has the lower-case kind's.
	Controllers []string
	// Core types come from Kubernetes, External ones from another module, whose path and version Module holds
	// where it was given: github.com/cert-manager/cert-manager@v1.18.2.
	Core, External bool
	Module         string
}

// HasAPI tells whether the project holds the types.
func (r Resource) HasAPI() bool { return r.API != nil && r.API.CRDVersion != "" }

// HasController tells whether the project has a controller for the kind.
func (r Resource) HasController() bool { return len(r.Controllers) > 0 }

// PackageName is the Go package name that stands for the group: sea-creatures gives seacreatures.
func (r Resource) PackageName() string {
	if r.Group == "" {
		return identifier(r.Domain)
	}
	return identifier(r.Group)
}

// ImportAlias is the name that Go files import Path by: cachev1alpha1. Project APIs whose alias generated
// files use for something else, such as group apps in version v1, get a longer one: appsv1api.
func (r Resource) ImportAlias() string {
	alias := r.PackageName() + r.Version
	if r.Core || r.External {
		return alias
	}
	switch {
	case alias == "metav1", alias == "corev1", alias == "appsv1", strings.HasPrefix(alias, "webhook"):
		return alias + "api"
	}
	return alias
}

// FileStem is the beginning of file names about the kind: memcached.
func (r Resource) FileStem() string { return strings.ToLower(r.Kind) }

// ReconcilerName is the Go identifier before "Reconciler" of a controller: Memcached for the one that has the
// kind's name, CaptainBackup for captain-backup.
func (r Resource) ReconcilerName(controller string) string {
	if controller == "" || controller == strings.ToLower(r.Kind) {
		return r.Kind
	}
	var b strings.Builder
	for part := range strings.SplitSeq(controller, "-") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// ControllerName is the name of a controller in logs and metrics, unique in the manager: the name itself,
// in multigroup projects with the group before it.
func (r Resource) ControllerName(controller string, multiGroup bool) string {
	if controller == "" {
		controller = strings.ToLower(r.Kind)
	}
	if multiGroup && r.Group != "" {
		return strings.ToLower(r.Group) + "-" + controller
	}
	return controller
}

// CRDPlural is the plural that the generator of CRDs gives a kind without a marker that names one. Kinds
// with several capitals at the end differ: DNS has the regular plural dnsDNSes and this one dnses.
func CRDPlural(kind string) string { return strings.ToLower(flect.Pluralize(kind)) }

// defaultPlural is the regular plural where Kubernetes takes it, else that of CRDs.
func defaultPlural(kind string) string {
	if plural := RegularPlural(kind); nameLabelProblem(plural) == "" {
		return plural
	}
	return CRDPlural(kind)
}

// RegularPlural is the plural of a kind by the rules of English, as both peers form it.
func RegularPlural(kind string) string { return resource.RegularPlural(kind) }

// APIPath is the import path of the types of an API of the project.
func (c *Config) APIPath(group, version string) string {
	if c.MultiGroup() && group != "" {
		root := "api"
		if c.RootLayout() || c.HasAPIs("apis") {
			root = "apis"
		}
		return path.Join(c.Repo(), root, group, version)
	}
	return path.Join(c.Repo(), "api", version)
}

func identifier(s string) string { return strings.NewReplacer("-", "", ".", "").Replace(s) }
