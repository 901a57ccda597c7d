package ansiblerole

import (
	"iter"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A call is a call of a module.
type call struct {
	eval      *evaluator
	name      string
	arguments *yaml.Node
	task      *yaml.Node
	scope     *scope
	at        diag.Position
}

// argument returns the first of several arguments of a call that is given. Arguments can be in a text: key=value.
func (c *call) argument(names ...string) (value, bool) {
	for _, name := range names {
		node, s := c.argumentNode(name)
		if node != nil {
			if v := c.eval.node(node, s); !slices.ContainsFunc(v.alts, isOmitted) || len(v.alts) > 1 {
				return v, true
			}
		}
	}
	return value{}, false
}

func isOmitted(alt any) bool {
	_, ok := alt.(omitted)
	return ok
}

// argumentNode returns an argument of a call with the scope to evaluate it in, or nil.
func (c *call) argumentNode(name string) (*yaml.Node, *scope) {
	arguments := content(c.arguments)
	if arguments != nil && arguments.Kind == yaml.ScalarNode {
		for key, text := range keyValues(arguments.Value) {
			if key == name {
				return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: arguments.Line}, c.scope
			}
		}
		if (name == "_raw_params" || name == "file") && !strings.HasPrefix(arguments.Value, "file=") {
			return arguments, c.scope
		}
	}
	if node := field(arguments, name); node != nil {
		return node, c.scope
	}
	if node := field(field(c.task, "args"), name); node != nil {
		return node, c.scope
	}
	for _, key := range []string{c.name, shortName(c.name), "group/k8s", "group/kubernetes.core.k8s", "group/community.kubernetes.k8s"} {
		if strings.HasPrefix(key, "group/") && !strings.HasPrefix(shortName(c.name), "k8s") {
			continue
		}
		if t, ok := c.scope.defaults[key]; ok {
			if node := field(t.node, name); node != nil {
				return node, t.scope
			}
		}
	}
	return nil, nil
}

// taskFiles returns the name of the task file that a call includes. Variables can follow it in the same text: main.yml name={{ item }}.
func (c *call) taskFiles() value {
	arguments := content(c.arguments)
	if arguments == nil || arguments.Kind != yaml.ScalarNode {
		v, _ := c.argument("file", "_raw_params")
		return v
	}
	name, _ := cutWord(strings.TrimSpace(arguments.Value))
	return c.eval.text(strings.TrimPrefix(name, "file="), c.scope)
}

// cutWord cuts a text after its first word, which may contain spaces in quotes and braces.
func cutWord(text string) (word, rest string) {
	quote, braces := byte(0), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			braces++
		case c == '}':
			braces--
		case c == ' ' && braces <= 0:
			return text[:i], text[i:]
		}
	}
	return text, ""
}

// keyValues yields the arguments in a text of the form key=value key="a value".
func keyValues(text string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
			word, rest := cutWord(text)
			key, value, ok := strings.Cut(word, "=")
			text = rest
			if ok && !yield(key, strings.Trim(value, `"'`)) {
				return
			}
		}
	}
}

// isTrue reports whether an argument is given and can be true.
func (c *call) isTrue(name string) bool {
	v, ok := c.argument(name)
	canBeTrue, _ := v.truth()
	return ok && canBeTrue
}

func (c *call) state() value {
	if v, ok := c.argument("state"); ok {
		return v
	}
	return textValue("present")
}

func (c *call) apiVersion() value {
	if v, ok := c.argument("api_version", "api", "version"); ok {
		return v
	}
	return textValue("v1")
}

func (c *call) argumentObject() value {
	d := &dict{fields: map[string]value{"apiVersion": c.apiVersion()}}
	if kind, ok := c.argument("kind"); ok {
		d.fields["kind"] = kind
	}
	return value{alts: []any{d}}
}

// withArguments adds the kind and API version of the arguments to an object of a definition that lacks them.
func (c *call) withArguments(o value) value {
	missing := false
	for _, key := range []string{"kind", "apiVersion"} {
		v := c.eval.get(o, key)
		missing = missing || !v.open && len(v.alts) == 0
	}
	if !missing {
		return o
	}
	merged := &dict{fields: map[string]value{}, bases: []value{o}}
	for name, key := range map[string]string{"kind": "kind", "api_version": "apiVersion"} {
		if v := c.eval.get(o, key); !v.open && len(v.alts) == 0 {
			if argument, ok := c.argument(name); ok {
				merged.fields[key] = argument
			} else if key == "apiVersion" {
				merged.fields[key] = textValue("v1")
			}
		}
	}
	return value{alts: []any{merged}}
}

// stateVerbs returns the verbs of the module k8s for its state, and whether it can create objects.
func (c *call) stateVerbs() (verbs []string, creates bool) {
	state := c.state()
	states, complete := state.texts()
	if !complete || slices.ContainsFunc(states, func(s string) bool { return !known(s) }) {
		states = []string{"present", "absent"}
	} else if len(state.settable) > 0 {
		states = append(states, "present", "absent")
	}
	verbs = []string{"get"}
	if c.isTrue("wait") {
		verbs = append(verbs, "list", "watch")
	}
	for _, s := range states {
		switch s {
		case "absent":
			verbs = append(verbs, "delete")
			if _, ok := c.argument("label_selectors"); ok {
				verbs = append(verbs, "list")
			}
			if c.isTrue("delete_all") {
				verbs = append(verbs, "deletecollection", "list")
			}
		case "patched":
			verbs = append(verbs, "patch")
		default:
			verbs = append(verbs, "create", "patch")
			if c.isTrue("force") {
				verbs = append(verbs, "update")
			}
			creates = true
		}
	}
	return verbs, creates
}
