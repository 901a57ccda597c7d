package scaffold

// Data is what templates see. It is plain values: a template has no logic beyond if, range and with.
type Data struct {
	Project  Project
	Resource Resource
	Image    Image
	Webhook  Webhook
	Spoke    Spoke
	License  License
	Versions Versions
}

// License is what the headers of templates/go/license need.
type License struct {
	// Copyright is the whole notice (Copyright 2026 Example Inc.), or empty.
	Copyright string
}

// Project describes the project as a whole.
type Project struct {
	// Name is projectName of PROJECT, a DNS-1123 label: memcached-operator.
	Name string
	// Domain is the domain of the project's API groups: example.com.
	Domain string
	// Repo is the Go module path: github.com/example/memcached-operator.
	Repo string
	// MultiGroup tells that APIs live in api/<group>/<version>.
	MultiGroup bool
	// Namespaced tells that the manager watches one namespace and needs Roles, not ClusterRoles.
	Namespaced bool
	// RootLayout tells that main.go and the controllers are at the root, as in go/v3.
	RootLayout bool
	// Paths are the places of an existing project that differ from its layout's.
	Paths Paths
	// CRDs is the directory of the generated CRDs relative to config/crd; empty for bases.
	CRDs string
	// LegacyConditions tells that go.mod requires a controller-runtime before v0.18, with which setting a
	// condition does not tell whether that changed it.
	LegacyConditions bool
	// LegacyEvents tells that go.mod requires a controller-runtime before v0.23, whose managers have
	// GetEventRecorderFor and the core events API only, as operator-sdk 1.42's projects do.
	LegacyEvents bool
	// LegacyWebhooks tells that it requires one before v0.23 as well, whose webhooks take any object.
	LegacyWebhooks bool
	// LegacyManifest reports that the manager's Deployment lacks the lists that current patches add to, as that of
	// kubebuilder before v4.5 does, or that config/default lists strategic merge patches only.
	LegacyManifest bool
	// Boilerplate is the comment that starts every Go file, without a newline at its end; it may be empty.
	Boilerplate string
	// CLIName is the name the user called the program by: operon, or operator-sdk through a link.
	CLIName string
}

// Resource is the API that a command is about.
type Resource struct {
	// Group is the group without domain (cache), Domain what follows it (example.com, empty for core groups).
	Group, Domain string
	// QualifiedGroup is group and domain: cache.example.com, apps, or core for the legacy core group.
	QualifiedGroup string
	// Version is v1alpha1, Kind is Memcached, Plural is memcacheds.
	Version, Kind, Plural string
	// Package is the import path of the Go types: github.com/example/memcached-operator/api/v1alpha1.
	Package string
	// ImportAlias is the name that Go files import Package by: cachev1alpha1.
	ImportAlias string
	// Namespaced tells the scope of the kind.
	Namespaced bool
	// API tells that the command writes the Go types, so that a controller may rely on their fields;
	// Controller that it writes a controller for them.
	API, Controller bool
	// Core and External tell that the types come from Kubernetes or from another module.
	Core, External bool
	// IrregularPlural tells that Plural is not what code generation would derive from Kind.
	IrregularPlural bool
	// SSA reports whether the types have apply configurations, which the controller uses for server-side apply, and
	// SSAPackage whether some types of their package have.
	SSA, SSAPackage bool
	// LegacySchemeBuilder tells that the version's groupversion_info.go registers types through
	// controller-runtime's deprecated scheme.Builder, as operator-sdk 1.42 and older peers write it.
	LegacySchemeBuilder bool
	// ControllerName is the controller's own name, which names its files: memcached.
	ControllerName string
	// RuntimeName is the controller's name in logs and metrics, unique in the manager: memcached, or
	// cache-memcached in a multigroup project.
	RuntimeName string
	// ControllerPackage is the Go package of the controller: controller, or the group without dots and
	// dashes (cache, certmanager) in a multigroup project.
	ControllerPackage string
	// ControllerSuite and WebhookSuite describe the existing suites of the packages that the tests belong to.
	ControllerSuite, WebhookSuite Suite
	// ReconcilerName is the Go identifier before "Reconciler": Memcached.
	ReconcilerName string
}

// Suite is what the tests of a package need to know about its suite. The zero Suite is the scaffold's.
type Suite struct {
	// Scheme is what it registers types with, if not scheme.Scheme.
	Scheme string
	// NoContext reports that it declares no context for the tests.
	NoContext bool
}

// Image is the container that a deploy-image controller runs. Ref is empty for a plain controller.
type Image struct {
	// Ref is the image reference: memcached:1.6.39-alpine.
	Ref string
	// Command is the container's argument vector; nil leaves the image's own.
	Command []string
	// Port is the container port, 0 for none.
	Port int32
	// RunAsUser is the numeric user, as given; empty leaves the choice to the image.
	RunAsUser string
	// EnvVar is the manager's environment variable that holds the reference: MEMCACHED_IMAGE.
	EnvVar string
	// NamespaceVar is the manager's environment variable that holds the namespace for the workloads of a
	// cluster-scoped kind: MEMCACHED_NAMESPACE.
	NamespaceVar string
}

// Webhook is what create webhook writes for a kind.
type Webhook struct {
	// Defaulting, Validation and Conversion are the kinds of webhooks that are new.
	Defaulting, Validation, Conversion bool
	// DefaultingPath and ValidationPath are where the API server calls them, the custom ones replacing what
	// controller-runtime would choose: /mutate-cache-example-com-v1alpha1-memcached.
	DefaultingPath, ValidationPath             string
	CustomDefaultingPath, CustomValidationPath bool
	// APIGroup is the kind's group as the API server has it: "" (with the quotes) for the legacy core group.
	APIGroup string
	// ImportAlias is the name that main.go imports the webhooks' package by: webhookv1alpha1.
	ImportAlias string
}

// Spoke is a version that converts to and from the hub, which is Resource.
type Spoke struct {
	// Version is v1beta1, Package the import path of its types, ImportAlias the name of that in Go files.
	Version, Package, ImportAlias string
	// Fields are the statements and names that its conversion consists of.
	Fields ConvertedFields
}

// Versions are the pinned versions a project is scaffolded with.
type Versions struct {
	Go                string // go directive, 1.26.0
	Kubernetes        string // of the client libraries: 1.37
	ControllerRuntime string // v0.25.2
	ControllerTools   string // v0.23.0
	Kustomize         string // v5.8.1
	GolangciLint      string
	OperatorSDK       string
	Envtest           string // Kubernetes version of the test control plane: 1.36.3
	Operon            string // version that CI of a project installs; Pinned does not set it
}
