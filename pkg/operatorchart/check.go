package operatorchart

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Check returns what is wrong with the files of a chart that users may have edited: templates that can't be parsed, and values of another type
// than the generated ones, at which templates fail. dir is the directory of the chart, for positions.
func (c *Chart) Check(dir string, files Files) diag.Findings {
	var findings diag.Findings
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(name, "templates/") {
			if finding, ok := checkTemplate(files[name]); !ok {
				finding.File = dir + "/" + name
				findings = append(findings, finding)
			}
		}
	}
	var generated, current yaml.Node
	if safeyaml.Unmarshal(c.Files[valuesFile], &generated) != nil || safeyaml.Unmarshal(files[valuesFile], &current) != nil {
		return findings // reading the values reports it
	}
	if len(generated.Content) > 0 && len(current.Content) > 0 {
		findings = append(findings, checkValues(dir+"/"+valuesFile, current.Content[0], generated.Content[0], "")...)
	}
	return findings
}

// parseError is an error of text/template: the name of the template, a line, and a problem.
var parseError = lazyregexp.New(`^template: [^:]*:(\d+)(?::\d+)?: (.*)$`)

// checkTemplate returns the problem of a template whose syntax is wrong. Helm's functions are not known here.
func checkTemplate(text []byte) (diag.Finding, bool) {
	tree := parse.New("x")
	tree.Mode = parse.SkipFuncCheck
	_, err := tree.Parse(string(text), "", "", map[string]*parse.Tree{})
	if err == nil {
		return diag.Finding{}, true
	}
	finding := diag.Finding{Problem: err.Error()}
	if found := parseError.FindStringSubmatch(err.Error()); found != nil {
		finding.Line, _ = strconv.Atoi(found[1])
		finding.Problem = found[2]
	}
	finding.Problem = "is no valid template: " + finding.Problem
	return finding, false
}

// checkValues returns the values in a section whose types differ from the types of the generated values.
func checkValues(file string, current, generated *yaml.Node, path string) diag.Findings {
	var findings diag.Findings
	for i := 0; i+1 < len(current.Content); i += 2 {
		key, value := current.Content[i], current.Content[i+1]
		want := safeyaml.Child(generated, key.Value)
		if want == nil {
			continue
		}
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		is, wants := typeName(value), typeName(want)
		switch {
		case is == "null" || wants == "null" || is == wants:
		case key.Value == "tag" && value.Kind == yaml.ScalarNode: // Helm's --set gives numbers, too
		default:
			findings = append(findings, diag.Finding{Position: diag.Position{File: file, Line: key.Line, Column: key.Column},
				Problem: fmt.Sprintf("%s must be %s, not %s", at, wants, is)})
			continue
		}
		if slices.Contains(sections(), at) && value.Kind == yaml.MappingNode {
			findings = append(findings, checkValues(file, value, want, at)...)
		}
	}
	return findings
}

// typeName returns the type of a value for messages.
func typeName(value *yaml.Node) string {
	switch value.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return typeName(value.Alias)
	}
	switch value.ShortTag() {
	case "!!null":
		return "null"
	case "!!bool":
		return "a boolean"
	case "!!int", "!!float":
		return "a number"
	}
	return "a string"
}
