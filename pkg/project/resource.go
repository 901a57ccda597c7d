package project

import (
	"strings"

	"github.com/gobuffalo/flect"
	"sigs.k8s.io/kubebuilder/v3/pkg/model/resource"
)

// A GVK identifies an API. Group and Domain are the parts of the API group.
type GVK struct {
	Group, Domain, Version, Kind string
}

// QualifiedGroup returns the API group: cache.example.com, or core for the legacy core group.
func (g GVK) QualifiedGroup() string {
	switch {
	case g.Domain == "":
		return g.Group
	case g.Group == "":
		return g.Domain
	}
	return g.Group + "." + g.Domain
}

// String returns "GROUP/VERSION KIND".
func (g GVK) String() string { return g.QualifiedGroup() + "/" + g.Version + " " + g.Kind }

// API describes Go types in the project.
type API struct {
	// CRDVersion is the version of CustomResourceDefinition, v1.
	CRDVersion string
	// Namespaced is the scope of the kind.
	Namespaced bool
	// SSA reports whether the types have apply configurations, for server-side apply.
	SSA bool
}

// Webhooks describes the webhooks of a kind.
type Webhooks struct {
	// WebhookVersion is the version of the webhook configuration, v1.
	WebhookVersion                     string
	Defaulting, Validation, Conversion bool
	// Spoke lists the versions that convert to and from this one, the hub.
	Spoke []string
	// DefaultingPath and ValidationPath replace the default paths.
	DefaultingPath, ValidationPath string
}

// A Resource is an API that the project defines or controls.
type Resource struct {
	GVK
	// Plural is the name of the resource in URLs and RBAC rules, in lower case.
	Plural string
	// Path is the import path of the Go types, or "".
	Path string
	// API is nil if the types are not in the project, Webhooks if there are none.
	API      *API
	Webhooks *Webhooks
	// Controllers are the names of the controllers of the kind. The default name is the lower-case kind.
	Controllers []string
	// Core types are part of Kubernetes, External ones of another module. Module is its path and version, such as
	// github.com/cert-manager/cert-manager@v1.18.2, or "".
	Core, External bool
	Module         string
	// OpenSchema reports whether the schema of a Helm-backed kind allows any values.
	OpenSchema bool
}

// HasAPI reports whether the types are in the project.
func (r Resource) HasAPI() bool { return r.API != nil && r.API.CRDVersion != "" }

// HasController reports whether the project has a controller of the kind.
func (r Resource) HasController() bool { return len(r.Controllers) > 0 }

// PackageName returns the Go package name of the group: seacreatures for sea-creatures.
func (r Resource) PackageName() string {
	if r.Group == "" {
		return identifier(r.Domain)
	}
	return identifier(r.Group)
}

// ImportAlias returns the import alias of Path in Go files: cachev1alpha1. If generated files use that alias for another package,
// such as group apps in version v1, it is longer: appsv1api.
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

// FileStem returns the beginning of file names of the kind: memcached.
func (r Resource) FileStem() string { return strings.ToLower(r.Kind) }

// ReconcilerName returns the Go identifier of a controller without suffix Reconciler: Memcached for the default name,
// CaptainBackup for captain-backup.
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

// ControllerName returns the name of a controller in logs and metrics, which is unique in the manager: in multigroup projects it
// is prefixed by the group.
func (r Resource) ControllerName(controller string, multiGroup bool) string {
	if controller == "" {
		controller = strings.ToLower(r.Kind)
	}
	if multiGroup && r.Group != "" {
		return strings.ToLower(r.Group) + "-" + controller
	}
	return controller
}

// CRDPlural returns the plural of a kind in generated CRDs without a marker. It differs from the regular one for kinds that end in
// several capitals: DNS has the regular plural dnsDNSes and this plural dnses.
func CRDPlural(kind string) string { return strings.ToLower(flect.Pluralize(kind)) }

// DefaultPlural returns the regular plural if it is valid in Kubernetes, or else the plural of CRDs.
func DefaultPlural(kind string) string {
	if plural := RegularPlural(kind); nameLabelProblem(plural) == "" {
		return plural
	}
	return CRDPlural(kind)
}

// RegularPlural returns the English plural of a kind, like both peers.
func RegularPlural(kind string) string { return resource.RegularPlural(kind) }

func identifier(s string) string { return strings.NewReplacer("-", "", ".", "").Replace(s) }
