package watches

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// The values of DriftDetection.Mode.
const (
	DriftEnabled  = "enabled"
	DriftWarn     = "warn"
	DriftDisabled = "disabled"
)

// DriftDetection is what happens when others change or delete objects of a release. Its keys are named as in Flux's HelmRelease.
type DriftDetection struct {
	// Mode is DriftEnabled, DriftWarn or DriftDisabled; empty is DriftEnabled.
	Mode string
	// Ignore lists fields that are left to others.
	Ignore []IgnoreRule
}

// An IgnoreRule names fields of objects that are left to others.
type IgnoreRule struct {
	// Paths are JSON pointers (RFC 6901), such as /spec/replicas. An empty one is the whole object.
	Paths []string
	// Target selects objects of the release.
	Target Target
}

// A Target selects objects of a release that match all its fields. Empty fields match every object. All but LabelSelector are
// regular expressions that match the whole value.
type Target struct {
	Group, Version, Kind, Name, Namespace string
	// LabelSelector is a selector such as "app=web,tier!=cache".
	LabelSelector string
}

func (p *parser) driftDetection(into *DriftDetection) func(*yaml.Node) {
	return func(value *yaml.Node) {
		if value.Kind != yaml.MappingNode {
			p.addf(value, "must have the keys mode and ignore")
			return
		}
		p.mapping(value, map[string]func(*yaml.Node){
			"mode": p.choice(&into.Mode, DriftEnabled, DriftWarn, DriftDisabled),
			"ignore": func(list *yaml.Node) {
				if list.Kind != yaml.SequenceNode {
					p.addf(list, "must be a list of rules with paths and target")
					return
				}
				for _, item := range list.Content {
					into.Ignore = append(into.Ignore, p.ignoreRule(safeyaml.Resolve(item)))
				}
			},
		}, nil)
	}
}

func (p *parser) ignoreRule(node *yaml.Node) (rule IgnoreRule) {
	if node.Kind != yaml.MappingNode {
		p.addf(node, "a rule must have the key paths, and can have target")
		return rule
	}
	if paths := safeyaml.Child(node, "paths"); paths == nil || isNull(paths) {
		p.addf(node, "paths is required")
	}
	t := &rule.Target
	p.mapping(node, map[string]func(*yaml.Node){
		"paths": func(list *yaml.Node) { rule.Paths = p.pointers(list) },
		"target": func(target *yaml.Node) {
			if target.Kind != yaml.MappingNode {
				p.addf(target, "must have at least one of the keys group, version, kind, name, namespace and labelSelector")
				return
			}
			p.mapping(target, map[string]func(*yaml.Node){
				"group": p.text(&t.Group, checkPattern), "version": p.text(&t.Version, checkPattern), "kind": p.text(&t.Kind, checkPattern),
				"name": p.text(&t.Name, checkPattern), "namespace": p.text(&t.Namespace, checkPattern),
				"labelSelector": p.text(&t.LabelSelector, checkSelector),
			}, nil)
		},
	}, nil)
	return rule
}

func (p *parser) pointers(list *yaml.Node) (paths []string) {
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		p.addf(list, "must be a list of JSON pointers, such as [/spec/replicas]")
		return nil
	}
	for _, item := range list.Content {
		item = safeyaml.Resolve(item)
		if item.Kind != yaml.ScalarNode || item.Value != "" && !strings.HasPrefix(item.Value, "/") {
			p.addf(item, "%q: must be a JSON pointer, such as /spec/replicas", item.Value)
			continue
		}
		paths = append(paths, item.Value)
	}
	return paths
}

func checkPattern(pattern string) []string {
	if _, err := regexp.Compile(pattern); err != nil {
		return []string{fmt.Sprintf("must be a regular expression: %v", err)}
	}
	return nil
}

func checkSelector(selector string) []string {
	if _, err := labels.Parse(selector); err != nil {
		return []string{fmt.Sprintf("must be a label selector, such as app=web: %v", err)}
	}
	return nil
}

// values returns the keys that are given.
func (d DriftDetection) values() map[string]any {
	values := map[string]any{}
	if d.Mode != "" {
		values["mode"] = d.Mode
	}
	var rules []any
	for _, rule := range d.Ignore {
		target := map[string]any{}
		t := rule.Target
		for _, field := range [][2]string{{"group", t.Group}, {"version", t.Version}, {"kind", t.Kind}, {"name", t.Name},
			{"namespace", t.Namespace}, {"labelSelector", t.LabelSelector}} {
			if field[1] != "" {
				target[field[0]] = field[1]
			}
		}
		value := map[string]any{"paths": slices.Clone(rule.Paths)}
		if len(target) > 0 {
			value["target"] = target
		}
		rules = append(rules, value)
	}
	if len(rules) > 0 {
		values["ignore"] = rules
	}
	return values
}
