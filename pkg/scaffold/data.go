package scaffold

import (
	"cmp"

	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
)

// Data is the input of the templates. It consists of plain values, because templates contain no logic but if, range and with.
type Data struct {
	Project  Project
	Resource Resource
	Image    Image
	Webhook  Webhook
	Spoke    Spoke
	License  License
	Chart    Chart
	Versions Versions
}

// Chart describes the Helm chart that installs the operator: its directory, and the release with which it installs what config/default builds.
type Chart struct{ Dir, Release, Namespace string }

// Defaulter returns the name of the type that sets default values of the kind.
func (d Data) Defaulter() string { return d.webhookType("Defaulter") }

// Validator returns the name of the type that validates the kind.
func (d Data) Validator() string { return d.webhookType("Validator") }

func (d Data) webhookType(suffix string) string {
	if !d.Project.ShortWebhooks {
		suffix = "Custom" + suffix
	}
	return d.Resource.Kind + suffix
}

// License is the input of the templates in templates/go/license.
type License struct {
	// Copyright is the copyright notice, such as "Copyright 2026 Example Inc.", or "".
	Copyright string
}

// Project describes the project as a whole.
type Project struct {
	// Name is projectName of PROJECT, a DNS-1123 label: memcached-operator.
	Name string
	// ObjectPrefix is the prefix of the names of objects, with its hyphen, and ObjectNamespace the namespace of the operator, in a project
	// whose kustomization has other ones than the scaffold's: both are empty otherwise, and NoPrefix is true for one without a prefix.
	ObjectPrefix, ObjectNamespace string
	NoPrefix                      bool
	// Domain is the domain of the project's API groups: example.com.
	Domain string
	// Repo is the Go module path: github.com/example/memcached-operator.
	Repo string
	// MultiGroup reports whether APIs are in api/<group>/<version>.
	MultiGroup bool
	// Namespaced reports whether the manager watches one namespace and needs Roles instead of ClusterRoles.
	Namespaced bool
	// Layout is the layout of the project; nil means the layout of Go projects.
	Layout *layout.Facts
	// Paths are the paths of an existing project that differ from its layout's.
	Paths Paths
	// CRDs is the directory of the generated CRDs relative to config/crd; empty for bases.
	CRDs string
	// LegacyConditions reports whether go.mod requires controller-runtime before v0.18, with which setting a condition does
	// not report a change.
	LegacyConditions bool
	// LegacyEvents reports whether go.mod requires controller-runtime before v0.23, whose managers have only
	// GetEventRecorderFor and the core events API, as in projects of operator-sdk 1.42.
	LegacyEvents bool
	// LegacyWebhooks reports whether go.mod requires controller-runtime before v0.23, whose webhooks accept any object.
	LegacyWebhooks bool
	// ShortWebhooks reports whether the types of webhooks are named as by kubebuilder 4.16: MemcachedDefaulter and
	// MemcachedValidator, and not MemcachedCustomDefaulter and MemcachedCustomValidator.
	ShortWebhooks bool
	// RegistersCore reports whether test suites register Kubernetes' types like the project's, as kubebuilder's suites do.
	RegistersCore bool
	// LegacyManifest reports whether the manager's Deployment lacks lists that current patches extend, as before kubebuilder
	// v4.5, or whether config/default lists strategic merge patches only.
	LegacyManifest bool
	// Certificates is where the certificate of the webhook server comes from; "" means project.CertManager.
	Certificates project.Certificates
	// Boilerplate is the comment at the start of each Go file, without a final newline, or "".
	Boilerplate string
	// CLIName is the name by which the user called the program, such as operon or operator-sdk.
	CLIName string
}

// Prefix returns the prefix of the names of objects, with its hyphen.
func (p Project) Prefix() string {
	if p.NoPrefix || p.ObjectPrefix != "" {
		return p.ObjectPrefix
	}
	return project.ObjectPrefix(p.Name) + "-"
}

// Namespace returns the namespace of the operator.
func (p Project) Namespace() string {
	return cmp.Or(p.ObjectNamespace, project.ObjectNamespace(p.Name))
}

// MarkerNamespace returns the namespace in markers, which kustomizations replace by the operator's.
func (p Project) MarkerNamespace() string { return project.ObjectNamespace(p.Name) }

// MetricsService returns the name of the metrics Service in its manifest.
func (p Project) MetricsService() string { return project.MetricsService(p.Prefix()) }

// WebhookSecret returns the name of the Secret with the certificate of the webhook server in the cluster.
func (p Project) WebhookSecret() string {
	if p.Certificates == project.SelfManaged {
		return p.Prefix() + "webhook-server-cert" // an object of config, whose name gets the prefix
	}
	return "webhook-server-cert"
}

// KindCluster returns the name of the Kind cluster for the end-to-end tests.
func (p Project) KindCluster() string { return project.KindCluster(p.Name) }

// facts returns the layout of the project.
func (p Project) facts() *layout.Facts {
	if p.Layout == nil {
		return layout.Go()
	}
	return p.Layout
}

// hasProgram reports whether the project has its own program, in Go.
func (p Project) hasProgram() bool { return p.facts().MainFile != "" }

// Runtime returns the program of a project without Go code, or nil.
func (p Project) Runtime() *layout.Runtime { return p.facts().Runtime }

// RuntimeImage returns the base image of projects without Go code, from the release that the project pins.
func (d Data) RuntimeImage() string { return d.Project.facts().Runtime.Image(d.Versions.Operon) }

// hasMixedKind reports whether the kind has a chart beside kinds with Go types.
func (d Data) hasMixedKind() bool { return d.Resource.Chart && !d.Project.facts().Charts }

// Resource describes the API of a command.
type Resource struct {
	// Group is the group without the domain (cache). Domain is the domain (example.com), empty for core groups.
	Group, Domain string
	// QualifiedGroup is group and domain: cache.example.com, apps, or core for the legacy core group.
	QualifiedGroup string
	// Version is v1alpha1, Kind is Memcached, Plural is memcacheds.
	Version, Kind, Plural string
	// Package is the import path of the Go types, such as github.com/example/memcached-operator/api/v1alpha1.
	Package string
	// ImportAlias is the name by which Go files import Package, such as cachev1alpha1.
	ImportAlias string
	// Namespaced reports whether objects of the kind are namespaced.
	Namespaced bool
	// API reports whether the command writes the Go types, so that a controller may use their fields. Controller reports
	// whether it writes a controller.
	API, Controller bool
	// From is the version whose types and sample the new version begins with, if any.
	From Source
	// SampleName is the name of the object in the sample, if API is true; adapt sets it.
	SampleName string
	// Chart reports whether the objects of the kind are releases of a Helm chart, without Go types.
	Chart bool
	// Role and Playbook report whether a role and a playbook for the kind of an Ansible project are written.
	Role, Playbook bool
	// Sample are the indented lines of the spec in the sample of an Ansible kind; empty if they are not known. SampleEmpty reports
	// whether they are comments only.
	Sample      string
	SampleEmpty bool
	// Core and External report whether the types belong to Kubernetes or to another module.
	Core, External bool
	// IrregularPlural reports whether Plural differs from the plural that code generation derives from Kind.
	IrregularPlural bool
	// SSA reports whether the types have apply configurations, which the controller uses for server-side apply. SSAPackage
	// reports whether any types of their package have.
	SSA, SSAPackage bool
	// LegacySchemeBuilder reports whether groupversion_info.go registers types through the deprecated scheme.Builder of
	// controller-runtime, as operator-sdk 1.42 and older peers write it.
	LegacySchemeBuilder bool
	// ControllerName is the name of the controller, which its file names contain: memcached.
	ControllerName string
	// RuntimeName is the name of the controller in logs and metrics, unique in the manager: memcached, or cache-memcached in
	// a multigroup project.
	RuntimeName string
	// ControllerPackage is the Go package of the controller: controller, or the group without dots and dashes (certmanager)
	// in a multigroup project.
	ControllerPackage string
	// ControllerSuite and WebhookSuite describe the existing suites of the packages that the tests belong to.
	ControllerSuite, WebhookSuite Suite
	// ReconcilerName is the Go identifier before "Reconciler": Memcached.
	ReconcilerName string
}

// Suite describes the test suite of a package. The zero Suite is the scaffold's.
type Suite struct {
	// Scheme is the expression of the scheme with the registered types, or "" for scheme.Scheme.
	Scheme string
	// NoContext reports whether the suite declares no context for the tests.
	NoContext bool
}

// Image describes the container of a deploy-image controller. Ref is empty for other controllers.
type Image struct {
	// Ref is the image reference: memcached:1.6.39-alpine.
	Ref string
	// Command is the argument vector of the container; nil keeps the image's.
	Command []string
	// Port is the container port, 0 for none.
	Port int32
	// RunAsUser is the numeric user ID as given, or "" for the user of the image.
	RunAsUser string
	// EnvVar is the environment variable of the manager with the image reference, such as MEMCACHED_IMAGE.
	EnvVar string
	// NamespaceVar is the environment variable of the manager with the namespace for the workloads of a cluster-scoped kind,
	// such as MEMCACHED_NAMESPACE.
	NamespaceVar string
}

// Webhook describes the webhooks that create webhook writes for a kind.
type Webhook struct {
	// Defaulting, Validation and Conversion select the new webhooks.
	Defaulting, Validation, Conversion bool
	// DefaultingPath and ValidationPath are the URL paths of the webhooks, such as
	// /mutate-cache-example-com-v1alpha1-memcached. Custom paths replace those that controller-runtime derives.
	DefaultingPath, ValidationPath             string
	CustomDefaultingPath, CustomValidationPath bool
	// APIGroup is the group of the kind in Kubernetes: "" (with quotes) for the legacy core group.
	APIGroup string
	// ImportAlias is the name by which main.go imports the package of the webhooks, such as webhookv1alpha1.
	ImportAlias string
}

// Spoke is a version that converts to and from the hub, which is Resource.
type Spoke struct {
	// Version is the version, such as v1beta1. Package is the import path of its types, ImportAlias their name in Go files.
	Version, Package, ImportAlias string
	// Fields are the fields that the conversion handles.
	Fields ConvertedFields
}

// Versions are the pinned versions of a new project.
type Versions struct {
	Go                string // go directive, 1.26.0
	Kubernetes        string // of the client libraries: 1.37
	ControllerRuntime string // v0.25.2
	ControllerTools   string // v0.23.0
	Kustomize         string // v5.8.1
	GolangciLint      string
	OperatorSDK       string
	Envtest           string // Kubernetes version of the test control plane: 1.36.3
	Operon            string // version that CI of the project installs; not set by Pinned
	// OperatorUtil and KubernetesCore are the collections operator_sdk.util and kubernetes.core of Ansible projects.
	OperatorUtil, KubernetesCore string
}
