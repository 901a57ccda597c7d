package watches

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// A Dependency is an object that has to be ready before a custom resource is reconciled. One of Name and NameFrom is set.
type Dependency struct {
	schema.GroupVersionKind
	// Namespace is where the object is; empty is the namespace of the custom resource.
	Namespace string
	// Name is the name of the object.
	Name string
	// NameFrom is the path in the custom resource of a name or of names, such as spec.database. Lists on the path are searched.
	NameFrom string
	// Optional dependencies may be missing.
	Optional bool
}

// dependsOn returns a function that reads a list of dependencies.
func (p *parser) dependsOn(into *[]Dependency) func(*yaml.Node) {
	return func(node *yaml.Node) {
		if p.isVariable(node) {
			return
		}
		const keys = "group, version, kind, name or nameFrom, and can have namespace and optional"
		for _, mapping := range p.objects(node, "must be a list of objects; each must have the keys ", keys) {
			var d Dependency
			readers := p.kindReaders(&d.Group, &d.Version, &d.Kind)
			readers["namespace"] = p.text(&d.Namespace, validation.IsDNS1123Label)
			readers["name"] = p.text(&d.Name, validation.IsDNS1123Subdomain)
			readers["nameFrom"] = p.text(&d.NameFrom, checkFieldPath)
			readers["optional"] = p.boolean(&d.Optional)
			p.mapping(mapping, readers, nil)
			p.require(mapping, "version", d.Version)
			p.require(mapping, "kind", d.Kind)
			p.requireName(mapping, d.Name, d.NameFrom)
			*into = append(*into, d)
		}
	}
}

// dependencyValues returns what text writes.
func dependencyValues(dependencies []Dependency) []any {
	var list []any
	for _, d := range dependencies {
		values := textValues(map[string]string{
			"group": d.Group, "version": d.Version, "kind": d.Kind, "namespace": d.Namespace, "name": d.Name, "nameFrom": d.NameFrom,
		})
		if d.Optional {
			values["optional"] = true
		}
		list = append(list, values)
	}
	return list
}

// A fixedObject is a custom resource that a dependency names. An empty namespace is the one of the resource at the start of a path.
type fixedObject struct {
	schema.GroupKind
	namespace, name string
}

func (o fixedObject) String() string {
	if o.namespace != "" {
		return fmt.Sprintf("%s %s/%s", o.Kind, o.namespace, o.name)
	}
	return o.Kind + " " + o.name
}

// dependencyCycle returns a path of dependencies with fixed names that begins and ends with the same object, or nil. All resources of
// a kind have the same ones, so that none of these objects could ever be reconciled.
func dependencyCycle(from schema.GroupKind, all map[schema.GroupKind][]Dependency) []fixedObject {
	seen := map[fixedObject]bool{}
	var find func(path []fixedObject, kind schema.GroupKind, namespace string) []fixedObject
	find = func(path []fixedObject, kind schema.GroupKind, namespace string) []fixedObject {
		for _, d := range all[kind] {
			next := fixedObject{d.GroupKind(), d.Namespace, d.Name}
			if next.namespace == "" {
				next.namespace = namespace
			}
			if i := slices.Index(path, next); i >= 0 {
				return append(path[i:], next)
			}
			if d.Name == "" || seen[next] {
				continue
			}
			seen[next] = true
			if cycle := find(append(slices.Clone(path), next), next.GroupKind, next.namespace); cycle != nil {
				return cycle
			}
		}
		return nil
	}
	return find(nil, from, "")
}

// checkCycles adds a finding for each cycle of dependencies with fixed names, at the first entry that has resources in it.
func checkCycles[W any](f format[W], p *parser, watches []W) {
	all := map[schema.GroupKind][]Dependency{}
	for i := range watches {
		gvk, _ := f.identity(&watches[i])
		all[gvk.GroupKind()] = append(all[gvk.GroupKind()], f.dependsOn(&watches[i])...)
	}
	reported := map[fixedObject]bool{}
	for i := range watches {
		gvk, position := f.identity(&watches[i])
		cycle := dependencyCycle(gvk.GroupKind(), all)
		isOwn := func(o fixedObject) bool { return o.GroupKind == gvk.GroupKind() }
		if !slices.ContainsFunc(cycle, isOwn) || reported[cycle[0]] {
			continue
		}
		p.findings.Addf(*position, "%s", cycleProblem(cycle))
		for _, o := range cycle {
			reported[o] = true
		}
	}
}

// cycleProblem describes a cycle.
func cycleProblem(cycle []fixedObject) string {
	var path []string
	for _, o := range cycle {
		path = append(path, o.String())
	}
	if len(cycle) == 2 {
		return fmt.Sprintf("dependsOn: %s would depend on itself, and wait forever", path[0])
	}
	return fmt.Sprintf("dependsOn: %s would wait for each other forever", strings.Join(path, " → "))
}
