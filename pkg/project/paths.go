package project

import (
	"path"
)

// Paths of the layout go/v4, relative to the root of a project, with slashes.
const (
	MainFile      = "cmd/main.go"
	APIDir        = "api"
	ControllerDir = "internal/controller"
	WebhookDir    = "internal/webhook"
	// HeaderFile contains the license header of Go files.
	HeaderFile = "hack/boilerplate.go.txt"

	// ChartsDir contains Helm charts. In Go projects, ChartsFile reconciles the kinds with charts.
	ChartsDir  = "helm-charts"
	ChartsFile = "internal/charts/charts.go"

	// RolesDir and PlaybooksDir contain what an Ansible operator runs, CollectionsDir vendored collections of modules and roles,
	// and MoleculeTestsDir a test for each kind.
	RolesDir         = "roles"
	PlaybooksDir     = "playbooks"
	CollectionsDir   = "collections"
	MoleculeTestsDir = "molecule/default/tasks"

	ConfigDir         = "config"
	CertManagerDir    = ConfigDir + "/certmanager"
	CertificatesDir   = ConfigDir + "/certificates" // of webhooks, without cert-manager
	CRDDir            = ConfigDir + "/crd"
	CRDBasesDir       = CRDDir + "/bases" // generated CRDs
	CRDPatchesDir     = CRDDir + "/patches"
	DefaultDir        = ConfigDir + "/default"
	ManagerDir        = ConfigDir + "/manager"
	ManifestsDir      = ConfigDir + "/manifests" // the kustomization of a bundle
	BundleDir         = "bundle"
	CatalogDir        = "catalog"
	PackagesDir       = "packagemanifests" // the versions in the format that preceded bundles
	NetworkPolicyDir  = ConfigDir + "/network-policy"
	PrometheusDir     = ConfigDir + "/prometheus"
	RBACDir           = ConfigDir + "/rbac"
	SamplesDir        = ConfigDir + "/samples"
	ScorecardDir      = ConfigDir + "/scorecard"
	WebhookConfigDir  = ConfigDir + "/webhook"
	KustomizationFile = "kustomization.yaml"

	CRDKustomization     = CRDDir + "/" + KustomizationFile
	CRDKustomizeConfig   = CRDDir + "/kustomizeconfig.yaml"
	DefaultKustomization = DefaultDir + "/" + KustomizationFile
	SamplesKustomization = SamplesDir + "/" + KustomizationFile
	// ManagerFile contains the manager's Deployment.
	ManagerFile = ManagerDir + "/manager.yaml"
	// RoleFile and WebhookManifests are generated from markers.
	RoleFile = RBACDir + "/role.yaml"
	// ChartsRoleFile has the permissions that the charts of a Go project require, ChartsRoleBindingFile its binding.
	ChartsRoleFile        = RBACDir + "/charts_role.yaml"
	ChartsRoleBindingFile = RBACDir + "/charts_role_binding.yaml"
	WebhookManifests      = WebhookConfigDir + "/manifests.yaml"
	// WebhookPolicyFile is the network policy for webhooks.
	WebhookPolicyFile = NetworkPolicyDir + "/allow-webhook-traffic.yaml"
	// AutoUpdateFile is the workflow of the plugin autoupdate.
	AutoUpdateFile = ".github/workflows/auto_update.yml"
)

// Paths of LayoutGoV3 that differ from LayoutGoV4. Only multigroup projects have OldAPIDir.
const (
	OldMainFile      = "main.go"
	OldAPIDir        = "apis"
	OldControllerDir = "controllers"
)

// APIPath returns the import path of the types of an API of the project.
func (c *Config) APIPath(group, version string) string {
	if c.MultiGroup() && group != "" {
		root := APIDir
		if c.Facts().Older || c.HasAPIs(OldAPIDir) {
			root = OldAPIDir
		}
		return path.Join(c.Repo(), root, group, version)
	}
	return path.Join(c.Repo(), APIDir, version)
}

// APIDir returns the directory of the types in LayoutGoV4.
func (r Resource) APIDir(multiGroup bool) string {
	return path.Join(APIDir, r.groupDir(multiGroup), r.Version)
}

// ControllerDir returns the directory of the controllers in LayoutGoV4.
func (r Resource) ControllerDir(multiGroup bool) string {
	return path.Join(ControllerDir, r.groupDir(multiGroup))
}

// WebhookDir returns the directory of the webhooks in LayoutGoV4.
func (r Resource) WebhookDir(multiGroup bool) string {
	return path.Join(WebhookDir, r.groupDir(multiGroup), r.Version)
}

// WebhookAlias returns the import alias of WebhookDir.
func (r Resource) WebhookAlias(multiGroup bool) string {
	if r.groupDir(multiGroup) != "" {
		return "webhook" + r.PackageName() + r.Version
	}
	return "webhook" + r.Version
}

// CRDName returns the name of the CRD: memcacheds.cache.example.com.
func (r Resource) CRDName() string { return r.Plural + "." + r.QualifiedGroup() }

// CRDFile returns the name of the generated file of the CRD.
func (r Resource) CRDFile() string { return r.QualifiedGroup() + "_" + r.Plural + ".yaml" }

// groupDir returns the directory of the group, which exists only in multigroup projects.
func (r Resource) groupDir(multiGroup bool) string {
	if multiGroup {
		return r.Group
	}
	return ""
}

// KindRoles returns the names of the roles for users of a kind.
func KindRoles() []string { return []string{"admin", "editor", "viewer"} }
