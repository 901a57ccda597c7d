package jinja

import (
	"fmt"
	"testing"
)

func TestParseExpression(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`'a' ~ b.c[0] + "d"`:                    `{+ {~ {a false} {{{b} {c false}} {0 false}}} {d false}}`,
		`a if b is defined and c == 1 else 'd'`: `{{a} {and {[{b}]} {[{c} {1 false}]}} {d false}}`,
		`x | default('y') | lower`:              `{{{x} default {[{y false}] map[]}} lower {[] map[]}}`,
		`lookup('k8s', kind=k, n='a')`:          `{{lookup} {[{k8s false}] map[kind:{k} n:{a false}]}}`,
		`{'a': [1, none], b: {}}`:               `{[{a false} {b}] [{[{1 false} { true}]} {[] []}]}`,
		`not a in b`:                            `{[{[{a} {b}]}]}`,
		`a not in b`:                            `{[{a} {b}]}`,
		`a[1:] | kubernetes.core.x`:             `{{{a} {1 false} <nil>} x {[] map[]}}`,
		`a.b('c').d | ternary(1, 2)`:            `{{{{{a} {b false}} {[{c false}] map[]}} {d false}} ternary {[{1 false} {2 false}] map[]}}`,
		`a,`:                                    `{[{a}]}`,
		`(a, 'b' 'c')`:                          `{[{a} {bc false}]}`,
		`a b`:                                   `{[{a}]}`,
		`True`:                                  `{true false}`,
		`-1`:                                    `{[{1 false}]}`,
		`a | `:                                  `{{a}  {[] map[]}}`,
		`'a`:                                    `<nil>`,
		`(`:                                     `<nil>`,
		``:                                      `<nil>`,
	} {
		if got := fmt.Sprint(ParseExpression(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a {b} c":                 `[{a {b} c}]`,
		"{{ {'a': '}}'}['a'] }}b": `[{{{[{a false}] [{}} false}]} {a false}}} {b}]`,
		"{%- if a -%}x{% elif b %}y{% else %}z{%+ endif %}":       `[{[{a} {b}] [[{x}] [{y}] [{z}]] true}]`,
		"{% for k, v in a if b %}{{ k }}\n{% endfor %}":           `[{[k v] {a} [{{k}} {` + "\n" + `}]}]`,
		"{% set a = 'b' %}{% set c %}d{% endset %}":               `[{[a] {b false} []} {[c] <nil> [{d}]}]`,
		"{% set ns.a = 'b' %}":                                    `[{[] {b false} []}]`,
		"{% raw %}{{ a }}{% endraw %}":                            `[{{{ a }}}]`,
		"{# {{ a }}\n #}b":                                        `[{1} {b}]`,
		"{% include 'a' ignore missing %}":                        `[{{a false} false}]`,
		"{% import 'a' as b %}{% from c import d with context %}": `[{{a false} b []} {{c}  [{d d}]}]`,
		"{% extends a ~ 'b' %}":                                   `[{{~ {a} {b false}} true}]`,
		"{% from 'a' import b as c, d without context %}":         `[{{a false}  [{b c} {d d}]}]`,
		"{% with a = 'b', c = d %}e{% endwith %}":                 `[{[{[a] {b false} []} {[c] {d} []} {e}]}]`,
		"{{ a":                     `[{<nil>}]`,
		"{% if a %}b":              `[{[{a}] [[{b}]] false}]`,
		"{% endif %}b{":            `[{b{}]`,
		"{%\nif a\n%}b{% endif %}": `[{2} {[{a}] [[{b}]] false}]`,
	} {
		if got := fmt.Sprint(Parse(text)); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	if e, ok := Expression(" {{ a }}\n"); !ok || e != (Name{"a"}) {
		t.Errorf("got %v, %t", e, ok)
	}
	for _, text := range []string{"a {{ b }}", "{{ a }}{{ b }}", "a"} {
		if e, ok := Expression(text); ok {
			t.Errorf("%s: got %v", text, e)
		}
	}
}

func TestParseMacro(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{% macro m(a, b='c') %}\nd\n{% endmacro %}": "{m [{a <nil>} {b {c false}}] [{\nd\n}] 2}",
		"{% macro m %}{% macro":                      "{m [] [] 0}",
		"{% call(a) m('b') %}c{% endcall %}":         "{{m} {[{b false}] map[]}} {caller [{a <nil>}] [{c}] 0}",
		"{% call m() %}c":                            "{{m} {[] map[]}} {caller [] [{c}] 0}",
	} {
		got := ""
		switch n := Parse(text)[0].(type) {
		case *Macro:
			got = fmt.Sprint(*n)
		case CallBlock:
			got = fmt.Sprint(n.Call, " ", *n.Caller)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"{% for a in b %}{{ a.b[c] | d('e', f=g) }}{% else %}{% endfor %}", "{{ [{'a': (b, c) if d is e else f}] }}",
		"{% if a %}{% elif %}{% raw %}{% endraw %}{# a #}", "{% set a %}{% include b %}{% macro c(d) %}", "{% from a import b as c, d %}{% call(e) c(f=1) %}{% endcall %}{% with a = 1 %}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var visit func(nodes []Node)
		visit = func(nodes []Node) {
			for _, n := range nodes {
				switch n := n.(type) {
				case Output:
					Walk(n.Value, func(Expr) {})
				case Branch:
					for _, body := range n.Bodies {
						visit(body)
					}
				case Loop:
					visit(n.Body)
				case *Macro:
					visit(n.Body)
				case CallBlock:
					visit(n.Caller.Body)
				}
			}
		}
		visit(Parse(text))
		Walk(ParseExpression(text), func(Expr) {})
	})
}
