package ansiblerole

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// describe writes the alternatives of a value, with "…" for unknown parts and a final "?" if it is open.
func describe(ev *evaluator, v value) string {
	var alts []string
	for _, alt := range v.alts {
		switch alt := alt.(type) {
		case string:
			alts = append(alts, strings.ReplaceAll(alt, unknown, "…"))
		case null:
			alts = append(alts, "null")
		case *dict:
			var keys []string
			for _, key := range slices.Sorted(maps.Keys(alt.fields)) {
				keys = append(keys, key+": "+describe(ev, alt.fields[key]))
			}
			alts = append(alts, "{"+strings.Join(keys, ", ")+"}")
		default:
			var items []string
			for _, item := range ev.itemsOf(value{alts: []any{alt}}).items {
				items = append(items, describe(ev, item))
			}
			alts = append(alts, fmt.Sprintf("[%s]", strings.Join(items, ", ")))
		}
	}
	slices.Sort(alts)
	if v.open {
		alts = append(alts, "?")
	}
	return strings.Join(alts, " | ")
}

// The value of an expression has an alternative for each path on which it can be computed, and is open where a custom resource decides.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		"plain":                                          "plain",
		"{{ name }}":                                     "web",
		"{{ missing }}":                                  "?",
		"{{ missing }}-config":                           "…-config",
		"{{ name }}-{{ missing }}-x":                     "web-…-x",
		"{{ missing | default(name) }}":                  "web | ?",
		"{{ 'a' if missing else name }}":                 "a | web",
		"{{ 'a' if missing }}":                           " | a",
		"{{ name | upper }}":                             "WEB",
		"{{ kinds[0] }}":                                 "Secret",
		"{{ kinds[missing] }}":                           "ConfigMap | Secret",
		"{{ kinds + ['Pod'] }}":                          "[Secret, ConfigMap, Pod]",
		"{{ kinds | join('-') }}":                        "Secret-ConfigMap",
		"{{ labels.app }}":                               "web",
		"{{ labels | combine({'app': 'b', 'c': 'd'}) }}": "{app: b, c: d}",
		"{{ (labels | combine({'c': 'd'})).app }}":       "web",
		"{{ labels | dict2items }}":                      "[{key: app, value: web}]",
		"{{ missing | combine(labels) }}":                "{app: web} | ?",
		"{{ loop }}":                                     "",
		"{{ loop | default('x') }}":                      "x",
		"{{ fact }}":                                     "one | two",
		"{% if missing %}a{% else %}b{% endif %}":        "a | b",
		"{% for k in kinds %}{{ k }},{% endfor %}":       "ConfigMap, | Secret, | ?",
		"{% set x = 'a' %}{{ x }}{{ x }}":                "aa",
	} {
		a := newAnalysis(Files{}, nil)
		a.resetPass()
		a.env.facts = map[string][]thunk{"fact": {{ready: textValue("one")}, {ready: textValue("two")}}}
		var vars yaml.Node
		if err := yaml.Unmarshal([]byte("name: web\nkinds: [Secret, ConfigMap]\nlabels: {app: \"{{ name }}\"}\nloop: \"{{ loop }}\"\n"), &vars); err != nil {
			t.Fatal(err)
		}
		s := a.env.root()
		s.define(&vars)
		if got := describe(a.eval, a.eval.text(expression, s)); got != want {
			t.Errorf("%s: got %q, want %q", expression, got, want)
		}
	}
}

// A default of a role stays settable through expressions; choices of its argument limit it.
func TestEvaluateDefaults(t *testing.T) {
	t.Parallel()
	choice := func(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }
	for _, test := range []struct {
		name, want string
		env        func(*environment)
		settable   int
	}{
		{name: "without specification", want: "Pod", settable: 1, env: func(*environment) {}},
		{name: "closed specification", want: "Pod", env: func(env *environment) { env.closed = true }},
		{name: "argument", want: "Pod", settable: 1, env: func(env *environment) {
			env.closed, env.arguments = true, map[string]*argument{"kind": {name: "kind"}}
		}},
		{name: "choices", want: "Job | Pod", env: func(env *environment) {
			env.arguments = map[string]*argument{"kind": {choices: []*yaml.Node{choice("Pod"), choice("Job")}}}
		}},
		{name: "value of the watch", want: "Service", env: func(env *environment) { env.api.Watch.Vars = map[string]any{"kind": "Service"} }},
		{name: "value of the finalizer", want: "Pod | Service", settable: 1, env: func(env *environment) {
			env.api.Watch.FinalizerVars = map[string]any{"kind": "Service"}
		}},
	} {
		a := newAnalysis(Files{}, nil)
		a.resetPass()
		test.env(a.env)
		s := a.env.root().child()
		s.overridden, s.isDefaults = true, true
		s.vars["kind"] = thunk{node: choice("Pod"), scope: s}
		v := a.eval.text("{{ kind }}", s)
		if got := describe(a.eval, v); got != test.want || len(v.settable) != test.settable {
			t.Errorf("%s: got %q, settable %v, want %q", test.name, got, v.settable, test.want)
		}
	}
}
