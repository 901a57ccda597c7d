package scenario

import (
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// bindings are values by name, which ($NAME) stands for.
type bindings map[string]*yaml.Node

// bind adds a list of bindings to those in effect. Those that defaults has don't replace others.
func (p *parser) bind(list *yaml.Node, defaults bool) {
	bound := maps.Clone(p.bindings)
	for _, item := range contentOf(list) {
		p.fields(item, known("name", "value").without("compiler"))
		name, value := safeyaml.ChildText(item, "name"), safeyaml.Child(item, "value")
		if name == "" || value == nil {
			p.addf(item, "a binding requires name and value")
			continue
		}
		if _, exists := bound[name]; exists && defaults {
			continue
		}
		value = withoutAliases(value)
		p.expressions(value)
		bound[name] = value
	}
	p.bindings = bound
}

// contentOf returns the elements of a list, which can be nil.
func contentOf(list *yaml.Node) []*yaml.Node {
	if list == nil || list.Kind != yaml.SequenceNode {
		return nil
	}
	return list.Content
}

// bindText binds a name to a string.
func (p *parser) bindText(name, value string) {
	p.bindings = maps.Clone(p.bindings)
	if p.bindings == nil {
		p.bindings = bindings{}
	}
	p.bindings[name] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// within calls do and restores bindings and timeouts.
func (p *parser) within(do func()) {
	bound, limits := p.bindings, p.timeouts
	do()
	p.bindings, p.timeouts = bound, limits
}

// expressions replaces ($NAME) in a node, and adds findings about other expressions in keys and values.
func (p *parser) expressions(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!str" {
		if text := strings.TrimSpace(node.Value); isExpression(text) {
			value := p.bindings[strings.TrimSuffix(strings.TrimPrefix(text, "($"), ")")]
			if value == nil {
				p.addf(node, "%s: expressions in parentheses aren't supported, other than names of bindings; write the value, or the fields with their values", diag.EscapeLine(text))
				return
			}
			line := node.Line
			*node = *value
			node.Line = line
			return
		}
	}
	for i, child := range node.Content {
		isKey := node.Kind == yaml.MappingNode && i%2 == 0
		if !isKey || !p.checking || !isFilter(child.Value) {
			p.expressions(child)
		}
	}
}

// isExpression reports whether a key or value is an expression, which can be preceded by ~ for each element, and followed by ->name.
func isExpression(text string) bool {
	text = strings.TrimPrefix(text, "~")
	if before, _, found := strings.Cut(text, "->"); found {
		text = before
	}
	if i := strings.Index(text, ".("); i > 0 || strings.HasPrefix(text, ".(") { // ~name.(expression)
		text = text[i+1:]
	}
	return strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")")
}

// use reads the step of a template, with its arguments.
func (p *parser) use(node *yaml.Node, step *Step) {
	p.fields(node, known("template", "with"))
	with := safeyaml.Child(node, "with")
	p.fields(with, known("bindings"))
	template := safeyaml.Child(node, "template")
	if template == nil {
		p.addf(node, "use requires template")
		return
	}
	p.within(func() {
		p.bind(safeyaml.Child(with, "bindings"), false)
		for _, file := range p.resolve(template) {
			p.inFile(file, func(document *yaml.Node) {
				if safeyaml.ChildText(document, "kind") != "StepTemplate" {
					p.addf(document, "must have kind StepTemplate")
					return
				}
				spec := safeyaml.Child(document, "spec")
				p.fields(spec, known("bindings", "try", "catch", "finally", "cleanup"))
				p.bind(safeyaml.Child(spec, "bindings"), true)
				p.operate(spec, step)
			})
		}
	})
}
