package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// yamlSyntax inserts texts into a YAML file. scalar reports for each line whether it belongs to a block scalar.
type yamlSyntax struct {
	filename string
	lines    []string
	scalar   []bool
	valid    bool
}

// opensScalar matches the line above a block scalar: "key: |", "- >-", "key: |2 # comment".
var opensScalar = lazyregexp.New(`(^|[:\-]\s+)([!&]\S+\s+)*[|>][-+0-9]{0,2}\s*(\s#.*)?$`)

func scanYAML(lines []string, filename string) *yamlSyntax {
	y := &yamlSyntax{filename: filename, lines: lines, scalar: make([]bool, len(lines))}
	y.valid = yamlError(strings.Join(lines, "")) == nil
	parent, content := -1, -1 // indentation of the key of an open block scalar and of its text
	for i, line := range lines {
		trimmed := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if parent >= 0 {
			if content < 0 && trimmed != "" && indent > parent {
				content = indent
			}
			if trimmed == "" || content >= 0 && indent >= content {
				y.scalar[i] = true
				continue
			}
			parent, content = -1, -1
		}
		if !strings.HasPrefix(trimmed, "#") && opensScalar.MatchString(strings.TrimRight(line, "\r\n")) {
			parent = indent
		}
	}
	return y
}

func (y *yamlSyntax) find(marker string) (insertionPoint, bool) {
	for i, line := range y.lines {
		if !y.scalar[i] && strings.HasPrefix(strings.TrimSpace(line), "#") && isMarker(y.filename, marker, line) {
			return insertionPoint{line: i, indent: indentation(line), list: y.itemIndent(i)}, true
		}
	}
	return y.findList(marker)
}

// missing compares list items one by one, so that only new ones are added. An item with a name exists if the list has an item
// of that name, whatever the user changed in it.
func (y *yamlSyntax) missing(marker, text string) ([]string, error) {
	at, marked := y.find(marker)
	var add []string
	for _, item := range yamlItems(text) {
		if !y.has(item) && !(marked && y.hasNamed(item, at)) {
			add = append(add, item...)
		}
	}
	return add, nil
}

// yamlItems splits a text into its top-level list items.
func yamlItems(text string) [][]string {
	var items [][]string
	for line := range strings.SplitSeq(text, "\n") {
		if len(items) == 0 || strings.HasPrefix(line, "- ") {
			items = append(items, nil)
		}
		last := len(items) - 1
		items[last] = append(items[last], line)
	}
	return items
}

// has reports whether the file contains the lines of an item in sequence. A commented line of the item also
// matches if the user has uncommented it, but not the reverse.
func (y *yamlSyntax) has(item []string) bool {
	trimmed := func(lines []string, cutset string) []string {
		var out []string
		for _, line := range lines {
			if line = strings.TrimLeft(strings.TrimSpace(line), cutset); line != "" {
				out = append(out, line)
			}
		}
		return out
	}
	want := trimmed(item, "")
	if len(want) == 0 {
		return true
	}
	if slices.ContainsFunc(want, func(line string) bool { return !strings.HasPrefix(line, "#") }) {
		return textdiff.CountLines(trimmed(y.lines, ""), want) > 0
	}
	return textdiff.CountLines(trimmed(y.lines, "# \t"), trimmed(want, "# \t")) > 0
}

func (y *yamlSyntax) finish(text string) (string, error) {
	if err := yamlError(text); err != nil && y.valid {
		return "", fmt.Errorf("the result would not be valid YAML (%w); move the marker to the end of its list, with the indentation of the items", err)
	}
	return text, nil
}

// yamlError returns the error if a text is not a stream of YAML documents.
func yamlError(text string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	_, err = safeyaml.Documents[yaml.Node]([]byte(text))
	return err
}
