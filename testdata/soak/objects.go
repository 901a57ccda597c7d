package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newList(apiVersion, kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(apiVersion)
	list.SetKind(kind + "List")
	return list
}

// listFrom are the options of a watch that starts at a resource version.
func listFrom(version string) *metav1.ListOptions {
	return &metav1.ListOptions{ResourceVersion: version}
}

// A spec is the spec of a custom resource.
type spec struct {
	Tag     string `json:"tag"`
	Message string `json:"message"`
	Hooks   bool   `json:"hooks"`
	Fail    bool   `json:"fail"`
}

// fields returns the spec as it is in a custom resource.
func (s spec) fields() map[string]any {
	return map[string]any{"tag": s.Tag, "message": s.Message, "hooks": s.Hooks, "fail": s.Fail}
}

// A snapshot contains the objects of a namespace.
type snapshot struct {
	resources map[string]*unstructured.Unstructured
	// objects are the objects with the label app, by its value, and by kind and name.
	objects map[string]map[string]*unstructured.Unstructured
	// records are the stored revisions, by release.
	records map[string][]record
}

// snapshot reads the namespace.
func (e *env) snapshot(ctx context.Context) (*snapshot, error) {
	s := &snapshot{
		resources: map[string]*unstructured.Unstructured{},
		objects:   map[string]map[string]*unstructured.Unstructured{},
		records:   map[string][]record{},
	}
	list := newList(e.flavor.apiVersion(), e.flavor.kind)
	if err := e.plane.client.List(ctx, list, client.InNamespace(e.namespace)); err != nil {
		return nil, err
	}
	for i := range list.Items {
		s.resources[list.Items[i].GetName()] = &list.Items[i]
	}
	for _, kind := range e.flavor.objectKinds {
		list := newList(kind[0], kind[1])
		if err := e.plane.client.List(ctx, list, client.InNamespace(e.namespace)); err != nil {
			return nil, err
		}
		for i := range list.Items {
			if err := s.add(&list.Items[i]); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

func (s *snapshot) add(obj *unstructured.Unstructured) error {
	if isRecord(obj) {
		r, err := decodeRecord(obj)
		if err != nil {
			return fmt.Errorf("record %s: %w", obj.GetName(), err)
		}
		s.records[r.Name] = append(s.records[r.Name], r)
		return nil
	}
	if app := obj.GetLabels()["app"]; app != "" {
		if s.objects[app] == nil {
			s.objects[app] = map[string]*unstructured.Unstructured{}
		}
		s.objects[app][obj.GetKind()+" "+obj.GetName()] = obj
	}
	return nil
}

// strays describes objects that belong to no expected resource.
func (s *snapshot) strays(expected map[string]*resource) []string {
	var problems []string
	for name := range s.resources {
		if expected[name] == nil {
			problems = append(problems, "unexpected resource "+name)
		}
	}
	for app, objects := range s.objects {
		if expected[app] == nil {
			problems = append(problems, fmt.Sprintf("objects of the unknown resource %s: %q", app, slices.Sorted(maps.Keys(objects))))
		}
	}
	slices.Sort(problems)
	return problems
}

// readCondition returns a condition of a custom resource; nil if it has none of the type.
func readCondition(obj *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if fields, ok := c.(map[string]any); ok && fields["type"] == kind {
			return fields
		}
	}
	return nil
}

// checkReady returns a problem unless the condition Ready has a status for the current generation.
func checkReady(obj *unstructured.Unstructured, status string) []string {
	ready := readCondition(obj, "Ready")
	if obj.GetDeletionTimestamp() != nil {
		return []string{fmt.Sprintf("is being deleted: conditions %s", describeConditions(obj))}
	}
	if ready["status"] != status || ready["observedGeneration"] != any(obj.GetGeneration()) {
		return []string{fmt.Sprintf("generation %d isn't Ready=%s: conditions %s", obj.GetGeneration(), status, describeConditions(obj))}
	}
	return nil
}

func describeConditions(obj *unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	text := ""
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		text += fmt.Sprintf("%v=%v(%v)", fields["type"], fields["status"], fields["observedGeneration"])
		if message, _ := fields["message"].(string); message != "" {
			text += fmt.Sprintf(" %.300q", message)
		}
		text += "; "
	}
	return text
}

// contains reports whether live has all fields of want, with lists of the same length.
func contains(live, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		fields, ok := live.(map[string]any)
		if !ok {
			return len(want) == 0
		}
		for key, value := range want {
			if !contains(fields[key], value) {
				return false
			}
		}
		return true
	case []any:
		items, ok := live.([]any)
		if !ok || len(items) != len(want) {
			return len(want) == 0
		}
		for i := range want {
			if !contains(items[i], want[i]) {
				return false
			}
		}
		return true
	}
	return equal(live, want)
}

// equal compares values as JSON, in which numbers have one type.
func equal(a, b any) bool {
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	return err == nil && string(left) == string(right)
}
