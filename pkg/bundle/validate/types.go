package validate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// decodeError records that an object does not match its type.
func (c *content) decodeError(obj manifest.Object, err error) {
	problems, ok := errors.AsType[diag.Findings](err)
	if !ok {
		problems = diag.Findings{{Position: obj.Position, Problem: err.Error()}}
	}
	for _, p := range problems {
		wrong, ok := errors.AsType[*manifest.DecodeError](p)
		if !ok {
			wrong = &manifest.DecodeError{Problem: p.Problem}
		}
		finding := diag.Finding{
			Position: p.Position, Severity: diag.Error, Rule: "wrong-type", Object: describe(obj), Field: p.Field,
			Problem: wrong.Problem, Fix: typeFix(wrong.Wanted),
		}
		// The error of the version decoder has no position.
		spec := manifest.MapAt(obj.Fields, "spec")
		if version, ok := spec["version"]; ok && p.Field == "" && obj.Kind() == csvKind && isVersionError(wrong.Problem) {
			finding.Position, finding.Field = obj.Locate("spec", "version"), "spec.version"
			finding.Problem = "is empty"
			if text, _ := version.(string); text != "" {
				finding.Problem = fmt.Sprintf("%q is not a semantic version: %s", text, wrong.Problem)
			}
			finding.Rule, finding.Fix = "csv-version", "write MAJOR.MINOR.PATCH, such as 1.2.0"
		}
		c.findings = append(c.findings, finding)
	}
}

// typeFix returns the fix for a value that is not of the wanted type.
func typeFix(wanted string) string {
	switch wanted {
	case "true or false":
		return "write true or false without quotes"
	case "a string":
		return "quote the value"
	case "a list":
		return "write a list: each value on its own line after '- '"
	case "a mapping":
		return "write a mapping: lines 'key: value', indented"
	case "a number":
		return "write a number without quotes"
	}
	return "correct the value; 'kubectl explain' shows the type of each field"
}

// isVersionError reports whether an error is from the semver library, not from the JSON decoder.
func isVersionError(text string) bool {
	for _, part := range []string{"version", "Version", "patch number", "minor number", "major number", "Major", "Minor", "Patch", "strconv.ParseUint", "uild meta", "rerelease"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// decodeWithoutRelease decodes a CSV whose only problem is spec.release, a field that is newer than operator-sdk and
// ignored by it.
func (c *content) decodeWithoutRelease(obj manifest.Object, csv *v1alpha1.ClusterServiceVersion) bool {
	spec := manifest.MapAt(obj.Fields, "spec")
	if _, ok := spec["release"]; !ok {
		return false
	}
	fields, spec := maps.Clone(obj.Fields), maps.Clone(spec)
	delete(spec, "release")
	fields["spec"] = spec
	data, err := manifest.Encode(fields)
	if err != nil {
		return false
	}
	*csv = v1alpha1.ClusterServiceVersion{}
	if safeyaml.UnmarshalJSON(data, csv) != nil {
		return false
	}
	c.own(obj, "release", "spec.release", "must be a release: dot-separated identifiers of letters, digits and hyphens, at most 20 characters", "set a release such as 1, or remove the line")
	return true
}

// isMapping reports whether a document is a YAML mapping.
func isMapping(data []byte) bool {
	var fields map[string]any
	return safeyaml.UnmarshalJSON(data, &fields) == nil && fields != nil
}

// duplicateKeys finds duplicate keys of mappings; the last one counts.
func (c *content) duplicateKeys(doc manifest.Document) {
	var root yaml.Node
	if safeyaml.Unmarshal(doc.Data, &root) != nil {
		return
	}
	var at []string
	var visit func(node *yaml.Node)
	below := func(step string, node *yaml.Node) {
		at = append(at, step)
		visit(node)
		at = at[:len(at)-1]
	}
	visit = func(node *yaml.Node) {
		switch node.Kind {
		case yaml.DocumentNode:
			for _, child := range node.Content {
				visit(child)
			}
		case yaml.SequenceNode:
			for i, child := range node.Content {
				below(strconv.Itoa(i), child)
			}
		case yaml.MappingNode:
			first := map[string]int{}
			for key, value := range safeyaml.Fields(node) {
				if line, ok := first[key.Value]; ok {
					c.findings = append(c.findings, diag.Finding{
						Position: diag.Position{File: doc.File, Line: doc.Line + key.Line - 1, Column: key.Column},
						Severity: diag.Warning, Rule: "duplicate-key", Field: manifest.FieldPath(append(slices.Clip(at), key.Value)),
						Problem: fmt.Sprintf("duplicate key, first on line %d; the last one counts", doc.Line+line-1),
						Fix:     "keep one of the two",
					})
				}
				first[key.Value] = key.Line
				below(key.Value, value)
			}
		}
	}
	visit(&root)
}
