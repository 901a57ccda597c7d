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
	// fallback is the default, and current the default in the role's variables, or nil.
	fallback, current *yaml.Node
	// options are the keys of a mapping, or of the mappings of a list.
	options []*argument
	// aliases are the fields for other names of the argument. aliasOf is the name of the argument that this one is an alias of, or "".
	aliases []string
	aliasOf string
}

// A specification is the argument specification of an entry point of a role.
type specification struct {
	description string
	arguments   []*argument
}

// A specReader reads argument specifications and makes schemas of them.
type specReader struct {
	*analysis
	// keepNames is true if the keys of spec are not converted.
	keepNames bool
	// object is the name of the variable with the custom resource, or "".
	object string
}

// maxSchemaDepth is the number of nested options. Those below accept any value.
const maxSchemaDepth = 20

// specification returns the specification of an entry point of the role in a directory, or nil if there is none.
func (r *specReader) specification(dir, entry string) *specification {
	var entries *yaml.Node
	var file string
	for _, name := range []string{"argument_specs", "main"} { // the first may have comments only
		if file = r.files.main(dir, "meta", name); file != "" {
			entries = field(r.files.load(file), "argument_specs")
		}
		if entries != nil {
			break
		}
	}
	spec := field(entries, strings.TrimSuffix(strings.TrimSuffix(entry, ".yml"), ".yaml"))
	if spec == nil {
		return nil
	}
	s := &specification{description: prose(field(spec, "description"))}
	if s.description == "" {
		s.description = prose(field(spec, "short_description"))
	}
	s.arguments = r.options(field(spec, "options"), file, 0)
	return s
}

func (r *specReader) options(options *yaml.Node, file string, depth int) []*argument {
	var all []*argument
	taken := map[string]bool{}
	add := func(o *argument) bool {
		if o.field = r.fieldName(o.name); taken[o.field] {
			o.field = o.name
		}
		if taken[o.field] {
			return false // a repeated key
		}
		taken[o.field] = true
		if !r.keepNames && variables.SnakeCase(o.field) != o.name {
			r.notes.Addf(o.at, "%s: no field of spec is converted to this name; rename the argument to %s", o.name, variables.SnakeCase(o.name))
		}
		all = append(all, o)
		return true
	}
	for name, option := range fields(options) {
		if option == nil || option.Kind != yaml.MappingNode || depth == 0 && r.isSetByOthers(name, diag.Position{File: file, Line: option.Line}) {
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
			o.options = r.options(inner, file, depth+1)
			if o.typ == "list" && o.elements == "" {
				o.elements = "dict"
			}
		}
		if add(o) {
			for _, node := range items(field(option, "aliases")) {
				o.aliases = append(o.aliases, text(node))
			}
		}
	}
	for _, o := range slices.Clone(all) {
		names := o.aliases
		o.aliases = nil
		for _, name := range names {
			alias := *o
			alias.name, alias.aliasOf, alias.aliases = name, o.name, nil
			alias.description, alias.required, alias.fallback = "Another name for "+o.field+".", false, nil
			isKnown := func(other *argument) bool { return other.name == name }
			if name != "" && !slices.ContainsFunc(all, isKnown) && add(&alias) {
				o.aliases = append(o.aliases, alias.field)
			}
		}
	}
	return all
}

// isSetByOthers reports whether the runtime or Ansible sets a variable; spec gets no field for it then. Variables of Ansible are noted.
func (r *specReader) isSetByOthers(name string, at diag.Position) bool {
	switch {
	case name == "ansible_operator_meta", r.object != "" && (name == r.object || name == r.object+"_spec"):
		return true
	case strings.HasPrefix(name, "ansible_"):
		r.notes.Addf(at, "%s: variables whose names begin with ansible_ belong to Ansible; the schema of spec doesn't have this one", name)
		return true
	}
	return false
}

// isPrivate reports whether the name of a variable says that it is the role's own, or Ansible's.
func isPrivate(name string) bool {
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, "ansible_")
}

// initialisms are words that are in upper case in the names of fields. It is constant.
var initialisms = strings.Fields("cidr dns http https id ip tcp tls udp uid uri url")

// fieldName returns the field of spec for an argument: the name in camel case if the runtime converts it back, or else the name.
func (r *specReader) fieldName(name string) string {
	if r.keepNames || strings.HasPrefix(name, "_") {
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
	// linkMarkup matches Ansible's markup for a text with a link, and textMarkup the markup for a kind of text.
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

// entryPoints returns the roles that a watch runs itself with their dependencies, but not the roles that these include. Optional ones
// are last.
func (r *specReader) entryPoints(watch Watch) []entryPoint {
	*r.env = newEnvironment(API{Watch: watch})
	r.resetPass()
	run := func(playbook, role string) []entryPoint {
		r.walker.entered = nil
		r.walker.watched(playbook, role)
		return r.walker.entered
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
