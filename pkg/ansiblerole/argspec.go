package ansiblerole

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/variables"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// An argument is an argument of a role, or a key of one.
type argument struct {
	// name is the name in the role, and field that in the custom resource.
	name, field string
	at          diag.Position
	description string
	typ         string
	// elements is the type of the items of a list, or "".
	elements string
	required bool
	choices  []*yaml.Node
	// fallback is the default, and current that of the role's variables, or nil.
	fallback, current *yaml.Node
	// options are the keys of a mapping, or of the mappings of a list.
	options []*argument
}

// A specification is the argument specification of an entry point of a role.
type specification struct {
	description string
	arguments   []*argument
}

// maxSchemaDepth is the number of nested options. Those below accept any value.
const maxSchemaDepth = 20

// specification returns the specification of an entry point of the role in a directory, or nil if there is none.
func (a *analysis) specification(dir, entry string) *specification {
	var entries *yaml.Node
	file := a.main(dir, "meta", "argument_specs")
	if file != "" {
		entries = field(a.load(file), "argument_specs")
	} else if file = a.main(dir, "meta", "main"); file != "" {
		entries = field(a.load(file), "argument_specs")
	}
	spec := field(entries, strings.TrimSuffix(strings.TrimSuffix(entry, ".yml"), ".yaml"))
	if spec == nil {
		return nil
	}
	s := &specification{description: prose(field(spec, "description"))}
	if s.description == "" {
		s.description = prose(field(spec, "short_description"))
	}
	s.arguments = a.options(field(spec, "options"), file, 0)
	return s
}

// options returns the arguments of a mapping of options.
func (a *analysis) options(options *yaml.Node, file string, depth int) []*argument {
	var all []*argument
	taken := map[string]bool{}
	for name, option := range fields(options) {
		if option == nil || option.Kind != yaml.MappingNode || isReserved(name) && depth == 0 {
			continue
		}
		o := &argument{
			name: name, at: diag.Position{File: file, Line: option.Line}, description: prose(field(option, "description")),
			typ: text(field(option, "type")), elements: text(field(option, "elements")), fallback: field(option, "default"),
		}
		o.required = isTrue(field(option, "required"))
		if o.typ == "" {
			o.typ = "str"
		}
		if choices := content(field(option, "choices")); choices != nil {
			switch choices.Kind {
			case yaml.SequenceNode:
				o.choices = choices.Content
			case yaml.MappingNode: // with descriptions
				for i := 0; i+1 < len(choices.Content); i += 2 {
					o.choices = append(o.choices, choices.Content[i])
				}
			}
		}
		if inner := field(option, "options"); inner != nil && depth < maxSchemaDepth {
			o.options = a.options(inner, file, depth+1)
			if o.typ == "list" && o.elements == "" {
				o.elements = "dict"
			}
		}
		if o.field = a.fieldName(name); taken[o.field] {
			o.field = name
		}
		if taken[o.field] {
			continue // a repeated key
		}
		taken[o.field] = true
		if !a.keepNames && variables.SnakeCase(o.field) != name {
			a.notes.Addf(o.at, "%s: no field of spec is converted to this name; rename the argument to %s", name, variables.SnakeCase(name))
		}
		all = append(all, o)
	}
	return all
}

// isReserved reports whether a variable is set by the runtime or by Ansible, or is one of the role's own.
func isReserved(name string) bool {
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, "ansible_")
}

// initialisms are words that are in upper case in the names of fields. It is constant.
var initialisms = strings.Fields("cidr dns http https id ip tcp tls udp uid uri url")

// fieldName returns the field of spec for an argument: the name in camel case if the runtime converts it back, or else the name.
func (a *analysis) fieldName(name string) string {
	if a.keepNames {
		return name
	}
	var conventional, simple strings.Builder
	for i, word := range strings.Split(name, "_") {
		if i > 0 && slices.Contains(initialisms, word) {
			conventional.WriteString(strings.ToUpper(word))
		} else if i > 0 {
			conventional.WriteString(capitalize(word))
		} else {
			conventional.WriteString(word)
		}
		if i > 0 {
			word = capitalize(word)
		}
		simple.WriteString(word)
	}
	for _, camel := range []string{conventional.String(), simple.String()} {
		if variables.SnakeCase(camel) == name {
			return camel
		}
	}
	return name
}

var (
	// linkMarkup matches the markup of Ansible for a text with a link, and textMarkup those for a kind of text.
	linkMarkup = lazyregexp.New(`\bL\(([^,()]*), *([^()]*)\)`)
	textMarkup = lazyregexp.New(`\b[BCEIMOPRUV]\(([^()]*)\)`)
)

// prose returns a description without markup: a text or a list of paragraphs.
func prose(node *yaml.Node) string {
	var paragraphs []string
	for _, item := range items(node) {
		paragraph := linkMarkup.ReplaceAllString(strings.TrimSpace(text(item)), "$1 ($2)")
		if paragraph = textMarkup.ReplaceAllString(paragraph, "$1"); paragraph != "" {
			paragraphs = append(paragraphs, paragraph)
		}
	}
	const longest = 2000
	description := strings.Join(paragraphs, "\n")
	if len(description) > longest {
		description = strings.ToValidUTF8(description[:longest], "")
	}
	return description
}

// isTrue reports whether a node is a true Boolean, as Ansible reads it.
func isTrue(node *yaml.Node) bool {
	return slices.Contains([]string{"true", "yes", "on"}, strings.ToLower(text(node)))
}

// An entryPoint is a role with the tasks that a watch runs.
type entryPoint struct {
	dir, tasks string
	// scope contains the variables that are defined where the role is called, and by itself.
	scope *scope
	// optional is true for dependencies, whose arguments other roles can set, and for roles that also get resources of which they do
	// not use the spec.
	optional bool
}

// entryPoints returns the roles that a watch runs itself with their dependencies, not those that these roles include. Those that are
// optional are the last.
func (a *analysis) entryPoints(watch Watch) []entryPoint {
	a.api = API{Watch: watch}
	a.resetPass()
	run := func(playbook, role string) []entryPoint {
		a.entered = nil
		if playbook != "" {
			a.playbook(playbook, a.root(), diag.Position{File: "watches.yaml"})
		} else if role != "" {
			a.role(role, roleOptions{}, a.root(), diag.Position{File: "watches.yaml"})
		}
		return a.entered
	}
	entries := run(watch.Playbook, watch.Role)
	for _, entry := range run(watch.FinalizerPlaybook, watch.FinalizerRole) {
		entry.optional = true
		entries = append(entries, entry)
	}
	slices.SortStableFunc(entries, func(x, y entryPoint) int {
		switch {
		case x.optional == y.optional:
			return 0
		case x.optional:
			return 1
		}
		return -1
	})
	return entries
}

// open records that what a watch runs can use fields of spec that no argument specification has. What the tasks of a role include is a
// part of the role, which has its arguments.
func (a *analysis) open(at diag.Position, s *scope, subject string) {
	if !s.inTasks {
		a.opened.Addf(at, "%s can use fields that no argument specification has; the schema of spec accepts any field", subject)
	}
}

// openTask records a task of a playbook, unless it calls a role without variables of its own.
func (a *analysis) openTask(task *yaml.Node, s *scope, file string) {
	name, _ := module(task)
	if usesVariables(task) || !slices.Contains([]string{"import_role", "include_role", "meta"}, shortName(name)) {
		a.open(diag.Position{File: file}, s, "the playbook")
	}
}

// usesVariables reports whether a play or task, or a role in a play, has templates or conditions.
func usesVariables(node *yaml.Node) bool {
	return hasTemplates(node, 0) || field(node, "when", "loop", "until") != nil
}

// defines reports whether a scope defines a variable.
func (s *scope) defines(name string) bool {
	for at := s; at != nil; at = at.parent {
		if _, ok := at.vars[name]; ok {
			return true
		}
	}
	return false
}
