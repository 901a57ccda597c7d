package codegen

import (
	"fmt"
	"strings"
	"sync"

	"sigs.k8s.io/controller-tools/pkg/applyconfiguration"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
	"sigs.k8s.io/controller-tools/pkg/webhook"
)

// Generators is a set of generators.
type Generators uint

// The generators of a project.
const (
	// Object writes zz_generated.deepcopy.go in each API package.
	Object Generators = 1 << iota
	// CRD writes a CustomResourceDefinition for each kind.
	CRD
	// RBAC writes role.yaml from the rbac markers.
	RBAC
	// Webhook writes manifests.yaml from the webhook markers.
	Webhook

	// ApplyConfiguration writes apply configurations of types with its markers.
	ApplyConfiguration

	schemaPatches

	// All contains all generators of a project.
	All = Object | CRD | RBAC | Webhook | ApplyConfiguration
)

// A knownGenerator is a generator of controller-gen, without options.
type knownGenerator struct {
	name  string
	kind  Generators
	value genall.Generator
}

// knownGenerators returns the generators sorted by name.
func knownGenerators() []knownGenerator {
	return []knownGenerator{
		{"applyconfiguration", ApplyConfiguration, applyconfiguration.Generator{}},
		{"crd", CRD, crd.Generator{}},
		{"object", Object, deepcopy.Generator{}},
		{"rbac", RBAC, rbac.Generator{}},
		{"schemapatch", schemaPatches, schemapatcher.Generator{}},
		{"webhook", Webhook, webhook.Generator{}},
	}
}

// generatorKind returns the generator with a name, or 0.
func generatorKind(name string) Generators {
	for _, generator := range knownGenerators() {
		if generator.name == name {
			return generator.kind
		}
	}
	return 0
}

// GeneratorOf returns the generator that an argument of controller-gen runs, such as crd:maxDescLen=0, or 0.
func GeneratorOf(arg string) Generators {
	name, _, _ := strings.Cut(arg, "=")
	name, _, _ = strings.Cut(name, ":")
	return generatorKind(name)
}

// registry returns the markers that generators read.
func (g Generators) registry() (*markers.Registry, error) {
	registry := &markers.Registry{}
	for _, generator := range knownGenerators() {
		if g&generator.kind == 0 {
			continue
		}
		if err := generator.value.RegisterMarkers(registry); err != nil {
			return nil, fmt.Errorf("registering markers: %w", err)
		}
	}
	return registry, nil
}

// optionsRegistry returns the generators, output rules and paths of the command line as markers, which is how
// controller-tools parses them. It is the same for all calls, and only read.
var optionsRegistry = sync.OnceValues(func() (*markers.Registry, error) {
	registry := &markers.Registry{}
	if err := genall.RegisterOptionsMarkers(registry); err != nil {
		return nil, err
	}
	prefixes := []string{"output:"}
	for _, generator := range knownGenerators() {
		if err := register(registry, generator.name, markers.DescribesPackage, generator.value); err != nil {
			return nil, err
		}
		prefixes = append(prefixes, "output:"+generator.name+":")
	}
	for _, prefix := range prefixes {
		for name, rule := range map[string]genall.OutputRule{
			"artifacts": genall.OutputArtifacts{},
			"dir":       genall.OutputToDirectory(""),
			"none":      genall.OutputToNothing,
			"stdout":    genall.OutputToStdout,
		} {
			if err := register(registry, prefix+name, markers.DescribesPackage, rule); err != nil {
				return nil, err
			}
		}
	}
	return registry, nil
})

// register adds a marker to a registry, whose arguments are the fields of value.
func register(registry *markers.Registry, name string, target markers.TargetType, value any) error {
	def, err := markers.MakeDefinition(name, target, value)
	if err == nil {
		err = registry.Register(def)
	}
	if err != nil {
		return fmt.Errorf("registering marker %s: %w", name, err)
	}
	if helped, ok := value.(genall.HasHelp); ok {
		registry.AddHelp(def, helped.Help())
	}
	return nil
}
