package cluster

import (
	"slices"
	"strings"
)

// A Scope selects the objects of one test, so that tests that run at the same time can each check that they leave nothing. Its zero value
// selects all objects of a cluster.
type Scope struct {
	// Namespaces are the namespaces of the test. They and all objects in them belong to it.
	Namespaces []string
	// Groups are the API groups of the custom resources that the test defines. Their definitions belong to it, too.
	Groups []string
	// Names are prefixes of the names of its other objects, which are mostly those without a namespace.
	Names []string
}

// all reports whether s selects all objects.
func (s Scope) all() bool {
	return len(s.Namespaces) == 0 && len(s.Groups) == 0 && len(s.Names) == 0
}

// Contains reports whether an object with this API group, kind, namespace and name belongs to the test.
func (s Scope) Contains(group, kind, namespace, name string) bool {
	if s.all() || slices.Contains(s.Groups, group) || slices.Contains(s.Namespaces, namespace) && namespace != "" {
		return true
	}
	switch kind {
	case "Namespace":
		if slices.Contains(s.Namespaces, name) {
			return true
		}
	case "CustomResourceDefinition":
		if _, defines, _ := strings.Cut(name, "."); slices.Contains(s.Groups, defines) {
			return true
		}
	}
	return slices.ContainsFunc(s.Names, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// reads reports whether the resources of an API group have to be listed for the objects of the test. Resources that other tests define come
// and go at any time, and their webhooks may not answer, so that they can't be listed reliably.
func (s Scope) reads(group string) bool {
	return s.all() || slices.Contains(s.Groups, group) || !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io") || group == "operators.coreos.com"
}
