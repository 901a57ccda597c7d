package valuesfrom

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const (
	kindSecret    = "Secret"
	kindConfigMap = "ConfigMap"
)

// A Source is a key of a Secret or ConfigMap. Its object is in the namespace of the custom resource.
type Source struct {
	// Kind is Secret or ConfigMap.
	Kind string
	// Name is the name of the object. Otherwise, NameFrom is the path in the custom resource of the name, such as spec.secretName. A source
	// whose name is not set is missing.
	Name, NameFrom string
	// Namespace is the object's for cluster-scoped custom resources. It requires Name.
	Namespace string
	// Key is the key of the object with the content; empty is the default of Complete.
	Key string
	// Target is what the content becomes, as a string: the path of a value in the syntax of Helm's --set, or the name of a variable. If it is
	// empty, the content is a mapping in YAML.
	Target string
	// Optional sources may be missing. Otherwise, custom resources wait until the object and the key exist.
	Optional bool
}

// Complete returns sources with a default key, or an error if fields are missing or contradict each other.
func Complete(sources []Source, key string) ([]Source, error) {
	var all []Source
	for _, s := range sources {
		if s.Key == "" {
			s.Key = key
		}
		if err := s.check(); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func (s Source) check() error {
	switch {
	case s.Kind != kindSecret && s.Kind != kindConfigMap:
		return fmt.Errorf("kind %q: must be Secret or ConfigMap", s.Kind)
	case (s.Name == "") == (s.NameFrom == ""):
		return fmt.Errorf("source %s: either a name or the path of a name is required", s.Kind)
	case s.NameFrom != "" && s.Namespace != "":
		return fmt.Errorf("source %s: a namespace requires a name: whoever creates a resource could read every object of the namespace", s.Kind)
	}
	return nil
}

// A Value is the content of a source.
type Value struct {
	// Target is the source's.
	Target string
	// Text is the content, and Mapping what it contains if Target is empty.
	Text    string
	Mapping map[string]any

	subject, origin string
}

// Errorf returns an Error about the value. Arguments must not contain any of its content.
func (v Value) Errorf(format string, args ...any) error {
	return &Error{subject: v.subject, problems: []string{v.origin + " " + fmt.Sprintf(format, args...)}}
}

// An Error names sources that are missing or not valid. Trying again helps only after the objects or the custom resource have changed.
type Error struct {
	subject  string
	missing  bool
	problems []string
}

func (e *Error) Error() string {
	text := strings.Join(e.problems, "; ")
	if e.subject != "" {
		text = e.subject + ": " + text
	}
	return text
}

// add adds the problems of another error, each once.
func (e *Error) add(other *Error) {
	for _, problem := range other.problems {
		if !slices.Contains(e.problems, problem) {
			e.problems = append(e.problems, problem)
		}
	}
}

// IsMissing reports whether a source is missing, rather than not valid.
func (e *Error) IsMissing() bool { return e.missing }

// An object identifies a Secret or ConfigMap.
type object struct {
	kind string
	types.NamespacedName
}

func (o object) gvk() schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: o.kind}
}

func (o object) String() string { return fmt.Sprintf("%s %s", o.kind, o.NamespacedName) }

// objectFor returns the object of a source for a custom resource. It is always in the namespace of the resource, if that has one:
// whoever may create resources must not read other namespaces with the permissions of the operator.
func (s Source) objectFor(resource *unstructured.Unstructured) (object, *Error) {
	fail := func(missing bool, format string, args ...any) (object, *Error) {
		return object{}, &Error{missing: missing, problems: []string{fmt.Sprintf(format, args...)}}
	}
	o := object{s.Kind, types.NamespacedName{Namespace: resource.GetNamespace(), Name: s.Name}}
	switch {
	case o.Namespace == "" && s.Namespace == "":
		return fail(false, "the resource is cluster-scoped: the source %s %s needs a namespace and a name", s.Kind, s.Name+s.NameFrom)
	case o.Namespace != "" && s.Namespace != "":
		return fail(false, "the resource is namespaced: the source %s %s must not have a namespace", s.Kind, s.Name)
	case o.Namespace == "":
		o.Namespace = s.Namespace
	}
	if s.NameFrom == "" {
		return o, nil
	}
	name, found, err := unstructured.NestedFieldNoCopy(resource.Object, strings.Split(s.NameFrom, ".")...)
	text, isText := name.(string)
	switch {
	case err == nil && (!found || name == nil || text == "" && isText):
		return fail(true, "%s, the name of a %s, is not set", s.NameFrom, s.Kind)
	case !isText || len(validation.IsDNS1123Subdomain(text)) > 0:
		return fail(false, "%s must be the name of a %s", s.NameFrom, s.Kind)
	}
	o.Name = text
	return o, nil
}

// A content is what a pass needs of an object.
type content struct {
	// exists reports whether the object exists, and version is its resource version.
	exists  bool
	version string
	data    map[string][]byte
}

// contentOf returns some keys of an object.
func contentOf(live *unstructured.Unstructured, isNeeded func(key string) bool) (*content, error) {
	c := &content{exists: true, version: live.GetResourceVersion(), data: map[string][]byte{}}
	for _, field := range []string{"data", "binaryData"} {
		data, _, err := unstructured.NestedStringMap(live.Object, field)
		if err != nil {
			return nil, errors.New(field + " is not a map of strings")
		}
		for key, text := range data {
			if !isNeeded(key) {
				continue
			}
			c.data[key] = []byte(text)
			if live.GetKind() == kindSecret || field == "binaryData" {
				if c.data[key], err = base64.StdEncoding.DecodeString(text); err != nil {
					return nil, fmt.Errorf("%s.%s is not valid base64", field, key)
				}
			}
		}
	}
	return c, nil
}

// value returns the value of a source from the content of its object.
func (s Source) value(o object, c *content) (v Value, err *Error) {
	v = Value{Target: s.Target, origin: fmt.Sprintf("the key %s of %s", s.Key, o)}
	data, found := c.data[s.Key]
	switch {
	case !c.exists:
		return v, &Error{missing: true, problems: []string{o.String() + " does not exist"}}
	case !found:
		return v, &Error{missing: true, problems: []string{fmt.Sprintf("%s has no key %s", o, s.Key)}}
	case !utf8.Valid(data):
		return v, &Error{problems: []string{v.origin + " must be text in UTF-8; encode binary content with base64 first"}}
	case s.Target != "":
		v.Text = string(data)
		return v, nil
	}
	// Errors of the parser quote the content.
	converted, parseErr := safeyaml.ToJSON(data)
	if parseErr != nil || utiljson.Unmarshal(converted, &v.Mapping) != nil {
		return v, &Error{problems: []string{v.origin + " must be a mapping in YAML"}}
	}
	return v, nil
}
