package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A vocabulary is the fields of a mapping: those that are read or can be ignored, and those that would change what a test means.
type vocabulary struct{ known, unsupported []string }

func known(names ...string) vocabulary { return vocabulary{known: names} }

// without returns the vocabulary with fields that aren't supported.
func (v vocabulary) without(names ...string) vocabulary {
	return vocabulary{known: v.known, unsupported: names}
}

// fields adds findings about fields that aren't known, or not supported.
func (p *parser) fields(node *yaml.Node, v vocabulary) {
	for key := range safeyaml.Fields(node) {
		switch {
		case slices.Contains(v.known, key.Value):
		case slices.Contains(v.unsupported, key.Value):
			p.addf(key, "%s isn't supported", key.Value)
		default:
			f := diag.Finding{Position: p.at(key), Problem: fmt.Sprintf("unknown field %q", key.Value)}
			if near, ok := diag.Nearest(key.Value, v.known); ok {
				f.Problem += fmt.Sprintf("; did you mean %q?", near)
			}
			p.findings = append(p.findings, f)
		}
	}
}

// jsonPath reads a path of fields and indices, such as {.status.conditions[0].type}.
func (p *parser) jsonPath(node *yaml.Node) (path []any) {
	text := safeyaml.ChildText(node, "path")
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
	for _, part := range strings.Split(strings.TrimPrefix(inner, "."), ".") {
		name, rest, indexed := strings.Cut(part, "[")
		path = append(path, name)
		bad := name == ""
		for indexed && !bad {
			var number string
			number, rest, _ = strings.Cut(rest, "]")
			index, err := strconv.Atoi(number)
			bad = err != nil || index < 0
			path = append(path, index)
			if rest, indexed = strings.CutPrefix(rest, "["); !indexed && rest != "" {
				bad = true
			}
		}
		if bad {
			p.addf(node, "jsonPath: %q must be a path of fields and indices, such as {.status.conditions[0].type}", text)
			return nil
		}
	}
	return path
}
