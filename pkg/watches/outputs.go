package watches

import (
	tparse "text/template/parse"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/redact"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// outputString is the type of outputs that name none.
const outputString = "string"

// An Output is a value that the operator writes to status.outputs of a custom resource.
type Output struct {
	// Name is the key in status.outputs.
	Name string
	// From is where the value comes from: a template of a Helm operator, or the name of a value that the module set_stats sets.
	From string
	// Type is string, integer, number, boolean, array or object.
	Type string
	// Description is the description of the field in the CRD. It may be empty.
	Description string
}

// An outputFormat describes the outputs of operators of one layout.
type outputFormat struct {
	// key is the key of Output.From.
	key string
	// check adds findings about Output.From.
	check func(p *parser, node *yaml.Node, from string)
	// named makes the name of an output the default of Output.From.
	named bool
}

func helmOutputs() outputFormat { return outputFormat{key: "template", check: (*parser).checkTemplate} }

func ansibleOutputs() outputFormat {
	return outputFormat{key: "stat", named: true, check: func(p *parser, node *yaml.Node, stat string) {
		if !identifier.MatchString(stat) {
			p.addf(node, "stat %q: must be the name of a variable", stat)
		}
	}}
}

// identifier matches names of outputs and of variables. Names of outputs must not have to be quoted in JSON paths.
var identifier = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// outputs returns a function that reads outputs, in the order of the file.
func (p *parser) outputs(into *[]Output, f outputFormat) func(*yaml.Node) {
	return func(node *yaml.Node) {
		if node.Kind != yaml.MappingNode {
			if !p.isVariable(node) {
				p.addf(node, "must be a map of names to values with the keys %s, type and description", f.key)
			}
			return
		}
		names := map[string]func(*yaml.Node){}
		for key := range safeyaml.Fields(node) {
			names[key.Value] = func(value *yaml.Node) { *into = append(*into, p.output(key, value, f)) }
		}
		p.mapping(node, names, nil)
	}
}

func (p *parser) output(key, value *yaml.Node, f outputFormat) Output {
	o := Output{Name: key.Value, Type: outputString}
	switch {
	case !identifier.MatchString(o.Name):
		p.addf(key, "output %q: a name has letters, digits and underscores, and starts with a letter", o.Name)
	case redact.IsSecretKey(o.Name):
		p.addf(key, "output %q has the name of a secret, which everyone who can read the resource would see; write the name of a Secret instead, as %sName", o.Name, o.Name)
	}
	from := value
	if value.Kind == yaml.ScalarNode {
		p.text(&o.From, noProblem)(value)
	} else if value.Kind == yaml.MappingNode {
		p.mapping(value, map[string]func(*yaml.Node){
			f.key:         func(value *yaml.Node) { from = value; p.text(&o.From, noProblem)(value) },
			"type":        p.choice(&o.Type, outputString, "integer", "number", "boolean", "array", "object"),
			"description": p.text(&o.Description, noProblem),
		}, nil)
	} else {
		p.addf(value, "must be a %s, or have the keys %s, type and description", f.key, f.key)
		return o
	}
	if o.Type == "" {
		o.Type = outputString
	}
	if o.From == "" && f.named {
		o.From = o.Name
	}
	switch {
	case o.From == "" && (from == value || from.Kind == yaml.ScalarNode):
		p.addf(value, "%s is required", f.key)
	case o.From != "" && !p.isVariable(from):
		f.check(p, from, o.From)
	}
	return o
}

// checkTemplate adds a finding about the syntax of a template. Its functions are Helm's, which only the operator knows.
func (p *parser) checkTemplate(node *yaml.Node, text string) {
	tree := tparse.New("template")
	tree.Mode = tparse.SkipFuncCheck
	if _, err := tree.Parse(text, "", "", map[string]*tparse.Tree{}); err != nil {
		p.addf(node, "%v", err)
	}
}

// outputValues returns what text writes.
func outputValues(outputs []Output, f outputFormat) map[string]any {
	values := map[string]any{}
	for _, o := range outputs {
		fields := map[string]any{f.key: o.From}
		if o.Type != outputString {
			fields["type"] = o.Type
		}
		if o.Description != "" {
			fields["description"] = o.Description
		}
		values[o.Name] = fields
	}
	return values
}
