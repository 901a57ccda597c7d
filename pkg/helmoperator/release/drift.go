package release

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// A DriftMode is what Repair does with objects that differ from the manifest of a release, because others have changed them.
type DriftMode string

// The modes, with the names of Flux's HelmRelease.
const (
	// DriftEnabled repairs the objects.
	DriftEnabled DriftMode = "enabled"
	// DriftWarn reports the objects and leaves them as they are.
	DriftWarn DriftMode = "warn"
	// DriftDisabled doesn't compare the objects.
	DriftDisabled DriftMode = "disabled"
)

// An IgnoreRule names fields of objects of a release that Repair leaves to others.
type IgnoreRule struct {
	// Paths are JSON pointers (RFC 6901), such as /spec/replicas. An empty one is the whole object. An element of a list with a
	// name is compared with the element of the same name, wherever others have moved it.
	Paths []string
	// Group, Version, Kind, Name and Namespace are regular expressions that match the whole value; empty ones match every object.
	Group, Version, Kind, Name, Namespace string
	// LabelSelector selects objects by the labels of the manifest, such as "app=web,tier!=cache".
	LabelSelector string
}

// IgnoreRules are parsed rules. The zero value ignores nothing.
type IgnoreRules struct{ rules []ignoreRule }

type ignoreRule struct {
	pointers                              [][]string
	group, version, kind, name, namespace *regexp.Regexp
	selector                              labels.Selector
}

// ParseIgnoreRules returns rules, or an error that names the first invalid part of one.
func ParseIgnoreRules(rules []IgnoreRule) (IgnoreRules, error) {
	var parsed IgnoreRules
	for i, rule := range rules {
		result := ignoreRule{selector: labels.Everything()}
		for _, path := range rule.Paths {
			pointer, err := parsePointer(path)
			if err != nil {
				return IgnoreRules{}, fmt.Errorf("rule %d: %w", i+1, err)
			}
			result.pointers = append(result.pointers, pointer)
		}
		for _, pattern := range []struct {
			into **regexp.Regexp
			text string
		}{
			{&result.group, rule.Group},
			{&result.version, rule.Version},
			{&result.kind, rule.Kind},
			{&result.name, rule.Name},
			{&result.namespace, rule.Namespace},
		} {
			if pattern.text == "" {
				continue
			}
			var err error
			if *pattern.into, err = regexp.Compile("^(?:" + pattern.text + ")$"); err != nil {
				return IgnoreRules{}, fmt.Errorf("rule %d: %w", i+1, err)
			}
		}
		if rule.LabelSelector != "" {
			var err error
			if result.selector, err = labels.Parse(rule.LabelSelector); err != nil {
				return IgnoreRules{}, fmt.Errorf("rule %d: label selector: %w", i+1, err)
			}
		}
		parsed.rules = append(parsed.rules, result)
	}
	return parsed, nil
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

func parsePointer(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	if !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("path %q: must be a JSON pointer, such as /spec/replicas", path)
	}
	steps := strings.Split(path[1:], "/")
	for i, step := range steps {
		steps[i] = unescapePointer.Replace(step)
	}
	return steps, nil
}

func (r *ignoreRule) matches(object *unstructured.Unstructured, namespace string) bool {
	gvk := object.GroupVersionKind()
	for _, part := range []struct {
		pattern *regexp.Regexp
		text    string
	}{{r.group, gvk.Group}, {r.version, gvk.Version}, {r.kind, gvk.Kind}, {r.name, object.GetName()}, {r.namespace, namespace}} {
		if part.pattern != nil && !part.pattern.MatchString(part.text) {
			return false
		}
	}
	return r.selector.Matches(labels.Set(object.GetLabels()))
}

// ignoresObject reports whether a rule leaves a whole object to others.
func (r IgnoreRules) ignoresObject(object *unstructured.Unstructured, namespace string) bool {
	for i := range r.rules {
		for _, pointer := range r.rules[i].pointers {
			if len(pointer) == 0 && r.rules[i].matches(object, namespace) {
				return true
			}
		}
	}
	return false
}

// apply gives the ignored fields of an object of a manifest the values of the live object, so that they don't differ.
func (r IgnoreRules) apply(object, live *unstructured.Unstructured) {
	for i := range r.rules {
		if !r.rules[i].matches(object, live.GetNamespace()) {
			continue
		}
		for _, pointer := range r.rules[i].pointers {
			copyField(object.Object, live.Object, pointer)
		}
	}
}

// copyField replaces the field of a manifest's value with the field of the live one. A field that the manifest doesn't contain is left out.
func copyField(wanted, live any, path []string) {
	if len(path) == 0 {
		return
	}
	step, last := path[0], len(path) == 1
	switch wanted := wanted.(type) {
	case map[string]any:
		value, ok := wanted[step]
		if !ok {
			return
		}
		liveMap, _ := live.(map[string]any)
		liveValue, exists := liveMap[step]
		switch {
		case !last:
			copyField(value, liveValue, path[1:])
		case exists:
			wanted[step] = runtime.DeepCopyJSONValue(liveValue)
		default:
			delete(wanted, step)
		}
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(wanted) {
			return
		}
		liveList, _ := live.([]any)
		liveValue := counterpart(liveList, i, wanted[i])
		switch {
		case !last:
			copyField(wanted[i], liveValue, path[1:])
		case liveValue != nil:
			wanted[i] = runtime.DeepCopyJSONValue(liveValue)
		}
	}
}

// counterpart returns the element of a live list with the name of an element of the manifest, or at its index if it has no name.
func counterpart(live []any, index int, element any) any {
	if fields, ok := element.(map[string]any); ok && fields["name"] != nil {
		for _, candidate := range live {
			if other, ok := candidate.(map[string]any); ok && other["name"] == fields["name"] {
				return candidate
			}
		}
		return nil
	}
	if index < len(live) {
		return live[index]
	}
	return nil
}
