package dependson

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
)

// A Dependency is an object, or some, that must be ready before a custom resource is reconciled.
type Dependency struct {
	schema.GroupVersionKind
	// Namespace is where the object is; empty is the namespace of the custom resource. Cluster-scoped objects have none.
	Namespace string
	// Name is the name of the object. Otherwise, NameFrom is the path in the custom resource of a name or of names, such as
	// spec.database. Lists on the path are searched. A dependency whose name is not set is missing; one with an empty list is ready.
	Name, NameFrom string
	// Optional dependencies may be missing. If they exist, they must be ready.
	Optional bool
}

// Check returns an error if fields of dependencies are missing or contradict each other.
func Check(dependencies []Dependency) error {
	for _, d := range dependencies {
		switch {
		case d.Version == "" || d.Kind == "":
			return errors.New("dependency: version and kind are required")
		case (d.Name == "") == (d.NameFrom == ""):
			return fmt.Errorf("dependency %s: either a name or the path of a name is required", d.Kind)
		}
	}
	return nil
}

// An object identifies an object that resources can wait for.
type object struct {
	schema.GroupVersionKind
	types.NamespacedName
}

func (o object) String() string {
	if o.Namespace == "" {
		return o.Kind + " " + o.Name
	}
	return fmt.Sprintf("%s %s", o.Kind, o.NamespacedName)
}

// maxNames limits the number of names in a custom resource, as each object is read.
const maxNames = 100

// A problem is why a dependency isn't ready; empty if it is. It is missing if the object, its kind or its name doesn't exist.
type problem struct {
	text    string
	missing bool
}

// objects returns the objects of a dependency of a resource.
func (d Dependency) objects(resource *unstructured.Unstructured, mapper meta.RESTMapper) ([]object, problem) {
	names := []string{d.Name}
	if d.NameFrom != "" {
		found := foundNames{}
		found.search(resource.Object, strings.Split(d.NameFrom, "."))
		switch {
		case found.invalid:
			return nil, problem{text: fmt.Sprintf("%s must be the name of a %s", d.NameFrom, d.Kind)}
		case len(found.names) > maxNames:
			return nil, problem{text: fmt.Sprintf("%s contains more than %d names", d.NameFrom, maxNames)}
		case len(found.names) == 0 && !found.list:
			return nil, problem{fmt.Sprintf("%s, the name of a %s, is not set", d.NameFrom, d.Kind), true}
		}
		names = found.names
	}
	namespace := d.Namespace
	if namespace == "" {
		namespace = resource.GetNamespace()
	}
	// A kind that doesn't exist yet is a problem of the object.
	if mapping, err := mapper.RESTMapping(d.GroupKind(), d.Version); err == nil {
		switch isNamespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace; {
		case !isNamespaced:
			namespace = ""
		case namespace == "":
			return nil, problem{text: fmt.Sprintf("the resource is cluster-scoped: the dependency %s %s needs a namespace", d.Kind, d.Name+d.NameFrom)}
		}
	}
	var objects []object
	for _, name := range names {
		objects = append(objects, object{d.GroupVersionKind, types.NamespacedName{Namespace: namespace, Name: name}})
	}
	return objects, problem{}
}

// foundNames are the names at a path.
type foundNames struct {
	names []string
	// list is set if there is a list on the path, and invalid if a value cannot be a name.
	list, invalid bool
}

func (f *foundNames) search(value any, path []string) {
	switch v := value.(type) {
	case nil:
	case []any:
		f.list = true
		for _, element := range v {
			f.search(element, path)
		}
	case map[string]any:
		if len(path) == 0 {
			f.invalid = true
			return
		}
		f.search(v[path[0]], path[1:])
	case string:
		switch {
		case len(path) > 0 || v != "" && len(validation.IsDNS1123Subdomain(v)) > 0:
			f.invalid = true
		case v != "":
			f.names = append(f.names, v)
		}
	default:
		f.invalid = true
	}
}
