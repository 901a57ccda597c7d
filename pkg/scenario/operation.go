package scenario

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// operations reads a list of operations of a step.
func (p *parser) operations(step *yaml.Node, field string) (operations []Operation) {
	list := safeyaml.Child(step, field)
	if list == nil || list.Tag == "!!null" {
		return nil
	}
	if list.Kind != yaml.SequenceNode {
		p.addf(list, "%s must be a list of operations", field)
		return nil
	}
	for _, node := range list.Content {
		if o, ok := p.operation(safeyaml.Resolve(node)); ok {
			operations = append(operations, o)
		}
	}
	return operations
}

// unsupported returns the operations of Chainsaw that Operon doesn't have.
func unsupported() []string {
	return []string{"script", "command", "podLogs", "events", "describe", "get", "proxy"}
}

// operation reads an operation, which has the key of one verb.
func (p *parser) operation(node *yaml.Node) (o Operation, ok bool) {
	var verbs []string
	for _, verb := range Supported() {
		verbs = append(verbs, string(verb))
	}
	var found *yaml.Node
	for key, value := range safeyaml.Fields(node) {
		switch {
		case slices.Contains(unsupported(), key.Value):
			p.addf(key, "the operation %s isn't supported; supported are %s", key.Value, strings.Join(verbs, ", "))
			return o, false
		case !slices.Contains(verbs, key.Value):
			continue
		case found != nil:
			p.addf(key, "must be an operation of its own: %s is one already", o.Verb)
			return o, false
		}
		found, o = safeyaml.Resolve(value), Operation{Position: p.at(key), Verb: Verb(key.Value)}
	}
	p.fields(node, known(append(verbs, "description", "continueOnError", "bindings")...).without("outputs", "compiler", "cluster"))
	if found == nil {
		if len(p.findings) == 0 {
			p.addf(node, "must be an operation: %s", strings.Join(verbs, ", "))
		}
		return o, false
	}
	o.Timeout = p.timeouts[o.Verb]
	p.within(func() {
		p.bind(safeyaml.Child(node, "bindings"), false)
		p.bind(safeyaml.Child(found, "bindings"), false) // in older versions of Chainsaw
		p.operationFields(found, &o)
	})
	return o, true
}

// operationFields reads the fields of an operation.
func (p *parser) operationFields(node *yaml.Node, o *Operation) {
	if timeout := safeyaml.Child(node, "timeout"); timeout != nil {
		o.Timeout = p.duration("timeout", timeout)
	}
	never := []string{"outputs", "cluster", "clusters", "compiler"}
	switch o.Verb {
	case Sleep:
		p.fields(node, known("duration"))
		if duration := safeyaml.Child(node, "duration"); duration != nil {
			o.Timeout = p.duration("duration", duration)
		} else {
			p.addf(node, "sleep requires duration")
		}
	case Wait:
		p.wait(node, o)
	case Delete:
		p.fields(node, known("bindings", "ref", "file", "timeout", "template", "expect").without(append(never, "deletionPropagationPolicy")...))
		p.expect(node, o)
		if ref := safeyaml.Child(node, "ref"); ref != nil {
			o.Objects = p.ref(ref)
			return
		}
		p.operands(node, o, "file or ref")
	case Assert, Error:
		p.fields(node, known("bindings", "file", "resource", "timeout", "template").without(never...))
		p.operands(node, o, "file or resource")
	default:
		p.fields(node, known("bindings", "file", "resource", "timeout", "template", "expect").without(append(never, "subresource", "dryRun")...))
		p.expect(node, o)
		p.operands(node, o, "file or resource")
	}
}

// operands reads the objects of an operation.
func (p *parser) operands(node *yaml.Node, o *Operation, choice string) {
	file, resource := safeyaml.Child(node, "file"), safeyaml.Child(node, "resource")
	switch {
	case file != nil && resource != nil:
		p.addf(resource, "%s takes file or resource, not both", o.Verb)
	case file != nil:
		for _, name := range p.resolve(file) {
			o.Objects = append(o.Objects, p.objectsOf(name, o.Verb)...)
		}
	case resource != nil:
		o.Objects = p.objects(safeyaml.Resolve(resource), o.Verb)
	default:
		p.addf(node, "%s requires %s", o.Verb, choice)
	}
}

// ref reads a reference to an object, or to all of a kind with labels.
func (p *parser) ref(node *yaml.Node) []Object {
	p.fields(node, known("apiVersion", "kind", "namespace", "name", "labels"))
	return []Object{{p.reference(node), p.at(node)}}
}

// reference returns an object with the kind, namespace, name and labels of a node.
func (p *parser) reference(node *yaml.Node) *kube.Object {
	node = withoutAliases(node)
	p.expressions(node)
	o := kube.Named(safeyaml.ChildText(node, "apiVersion"), safeyaml.ChildText(node, "kind"), safeyaml.ChildText(node, "namespace"), safeyaml.ChildText(node, "name"))
	if o.GetAPIVersion() == "" || o.GetKind() == "" {
		p.addf(node, "apiVersion and kind are required")
	}
	labels := map[string]string{}
	for key, value := range safeyaml.Fields(safeyaml.Child(node, "labels")) {
		labels[key.Value] = value.Value
	}
	if len(labels) > 0 {
		o.SetLabels(labels)
	}
	return o
}

// expect reads which result an operation must have. Only that it fails can be expected.
func (p *parser) expect(node *yaml.Node, o *Operation) {
	list := safeyaml.Child(node, "expect")
	if list == nil {
		return
	}
	for _, item := range list.Content {
		p.fields(item, known("check").without("match"))
		switch check := safeyaml.Child(item, "check"); {
		case safeyaml.ChildText(check, "($error != null)") == "true":
			o.Refused = true
		case safeyaml.ChildText(check, "($error == null)") != "true":
			p.addf(item, "only the checks ($error != null): true and ($error == null): true are supported")
		}
	}
}

// wait reads the fields of wait.
func (p *parser) wait(node *yaml.Node, o *Operation) {
	p.fields(node, known("apiVersion", "kind", "namespace", "name", "selector", "timeout", "for", "format").without("cluster", "clusters"))
	if timeout := safeyaml.Child(node, "timeout"); timeout != nil {
		o.Timeout = p.duration("timeout", timeout)
	}
	object := p.reference(node)
	if selector := safeyaml.Child(node, "selector"); selector != nil {
		object.SetLabels(p.selector(selector))
	}
	o.Objects = []Object{{object, p.at(node)}}
	goal := safeyaml.Child(node, "for")
	p.fields(goal, known("condition", "deletion", "jsonPath", "jsonpath"))
	condition, value := safeyaml.Child(goal, "condition"), safeyaml.Child(goal, "jsonPath")
	if value == nil {
		value = safeyaml.Child(goal, "jsonpath")
	}
	switch {
	case condition != nil:
		p.fields(condition, known("name", "value"))
		o.For = For{Condition: safeyaml.ChildText(condition, "name"), Value: safeyaml.ChildText(condition, "value")}
		if o.For.Condition == "" {
			p.addf(condition, "condition requires name")
		}
		if o.For.Value == "" {
			o.For.Value = "True"
		}
	case value != nil:
		p.fields(value, known("path", "value"))
		o.For = For{Path: p.jsonPath(value), Value: safeyaml.ChildText(value, "value")}
	case safeyaml.ChildIndex(goal, "deletion") >= 0:
		o.For.Deletion = true
	default:
		p.addf(node, "wait requires for with condition, jsonPath or deletion")
	}
}

// selector reads a label selector of equalities, such as app=web,tier=front.
func (p *parser) selector(node *yaml.Node) map[string]string {
	labels := map[string]string{}
	for _, part := range strings.Split(node.Value, ",") {
		key, value, found := strings.Cut(strings.Replace(part, "==", "=", 1), "=")
		if !found || strings.HasSuffix(key, "!") {
			p.addf(node, "selector: %q must be a list of labels, such as app=web,tier=front", node.Value)
			return nil
		}
		labels[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return labels
}

// at returns the position of a node.
func (p *parser) at(node *yaml.Node) diag.Position {
	if node == nil {
		return diag.Position{File: p.file}
	}
	return diag.Position{File: p.file, Line: node.Line}
}

func (p *parser) addf(node *yaml.Node, format string, args ...any) {
	p.findings = append(p.findings, diag.Finding{Position: p.at(node), Problem: fmt.Sprintf(format, args...)})
}
