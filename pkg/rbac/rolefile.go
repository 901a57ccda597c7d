package rbac

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// The comments around generated rules.
const (
	rulesBegin = "# +operon:rules:begin"
	rulesEnd   = "# +operon:rules:end"
)

// rulesNote returns the comment in the block of generated rules.
func rulesNote(source string) string {
	return "# Generated from " + source + "; add your own rules above or below this block."
}

// rulesMarker matches the line at which operator-sdk inserts rules.
var rulesMarker = lazyregexp.New(`^\s*#\s*\+kubebuilder:scaffold:rules\s*$`)

// UpdateRole returns a file with the manager's role in which the generated rules are replaced. They are in a block between
// comments; the other rules of the role belong to the user and to operator-sdk, and are kept. Permissions that those grant are
// left out of the block, and there is no block if nothing is left. A new block is before the scaffold marker of rules, or else
// after the last rule. The name of the file is for errors. source is what the rules are generated from, for a comment: the charts.
func UpdateRole(name string, text []byte, rules []Rule, source string) ([]byte, error) {
	lf, crlf := textdiff.ToLF(text)
	lines := slices.Collect(strings.Lines(string(lf)))
	begin, end, err := findBlock(name, lines)
	if err != nil {
		return nil, err
	}
	at := begin
	if begin >= 0 {
		lines = slices.Delete(lines, begin, end+1)
	}
	role, err := findRole(name, []byte(strings.Join(lines, "")))
	if err != nil {
		return nil, err
	}
	wanted, own := Permissions{}, Permissions{}
	for _, r := range rules {
		wanted.AddRule(r)
	}
	for _, r := range role.rules {
		own.AddRule(r)
	}
	added := wanted.Without(own).Rules()
	block, err := renderBlock(added, role.indent, source)
	if err != nil {
		return nil, err
	}
	if begin < 0 {
		if len(block) == 0 {
			return text, nil
		}
		at = role.place(lines)
	}
	lines = role.insert(lines, at, block)
	updated := []byte(strings.Join(lines, ""))
	if now, err := findRole(name, updated); err != nil || len(now.rules) != len(role.rules)+len(added) {
		return nil, diag.Finding{Position: diag.Position{File: name, Line: at + 1}, Problem: "rules cannot be inserted here",
			Fix: "move the comments " + rulesBegin + " and " + rulesEnd + " into the list of rules of the role"}
	}
	return textdiff.FromLF(updated, crlf), nil
}

// place returns the index of the line before which new rules are: the scaffold marker, or the one after the last rule.
func (r *roleText) place(lines []string) int {
	if at := slices.IndexFunc(lines, rulesMarker.MatchString); at > r.line {
		return at
	}
	return r.end
}

// insert inserts lines with rules before another one.
func (r *roleText) insert(lines []string, at int, block []string) []string {
	if r.empty && len(block) > 0 {
		lines[r.line] = emptyList.ReplaceAllString(lines[r.line], "")
	}
	if last := len(lines) - 1; !strings.HasSuffix(lines[last], "\n") {
		lines[last] += "\n"
	}
	return slices.Insert(lines, at, block...)
}

// emptyList matches an empty list in flow style.
var emptyList = lazyregexp.New(`[ \t]*\[[ \t]*\]`)

// otherBreaks are the characters that end lines in YAML, but not in the numbers of lines that are edited here.
const otherBreaks = "\r\u0085\u2028\u2029"

// findBlock returns the first and last line of the generated rules, or -1.
func findBlock(name string, lines []string) (begin, end int, err error) {
	begin, end = -1, -1
	for i, line := range lines {
		at := diag.Position{File: name, Line: i + 1}
		if strings.ContainsAny(line, otherBreaks) {
			return 0, 0, diag.Finding{Position: at, Problem: "unsupported line break", Fix: "end lines with a line feed only"}
		}
		switch strings.TrimSpace(line) {
		case rulesBegin:
			if begin >= 0 {
				return 0, 0, diag.Finding{Position: at, Problem: "second block of generated rules", Fix: "remove it"}
			}
			begin = i
		case rulesEnd:
			if begin < 0 || end >= 0 {
				return 0, 0, diag.Finding{Position: at, Problem: "end of generated rules without " + rulesBegin, Fix: "remove the line"}
			}
			end = i
		}
	}
	if begin >= 0 && end < 0 {
		return 0, 0, diag.Finding{Position: diag.Position{File: name, Line: begin + 1},
			Problem: "generated rules without " + rulesEnd, Fix: "add it after the last of them, or remove this line and the generated rules"}
	}
	return begin, end, nil
}

// A roleText is the text of a role.
type roleText struct {
	rules []Rule
	// items are the nodes of the rules.
	items []*yaml.Node
	// line is the index of the line with the key rules or its empty value, end the index of the line after the last rule.
	line, end int
	// indent is the indentation of the rules.
	indent int
	// empty reports whether the value of rules is an empty list, and namespaced whether the role is a Role.
	empty, namespaced bool
}

// findRole returns the manager's role in a file: the ClusterRole or Role named manager-role, or else the first one.
func findRole(name string, text []byte) (*roleText, error) {
	documents, err := safeyaml.Documents[yaml.Node](text)
	if err != nil {
		return nil, diag.Finding{Position: diag.Position{File: name}, Problem: "invalid YAML: " + strings.TrimPrefix(err.Error(), "yaml: "), Err: err}
	}
	var role *yaml.Node
	for _, d := range documents {
		if d.Kind == yaml.DocumentNode {
			d = d.Content[0]
		}
		if kind := safeyaml.ChildText(d, "kind"); kind != "ClusterRole" && kind != "Role" {
			continue
		}
		named := safeyaml.ChildText(safeyaml.Child(d, "metadata"), "name") == "manager-role"
		if role == nil || named {
			role = d
		}
		if named {
			break
		}
	}
	if role == nil {
		return nil, diag.Finding{Position: diag.Position{File: name}, Problem: "contains no ClusterRole",
			Fix: "add the ClusterRole manager-role, or restore the file from version control"}
	}
	i := safeyaml.ChildIndex(role, "rules")
	if i < 0 {
		return nil, diag.Finding{Position: diag.Position{File: name, Line: role.Line}, Problem: "the role has no rules", Fix: "add the key rules"}
	}
	key, value := role.Content[i], role.Content[i+1]
	found := &roleText{line: key.Line - 1, end: key.Line, indent: key.Column - 1, namespaced: safeyaml.ChildText(role, "kind") == "Role"}
	switch {
	case value.Kind == yaml.ScalarNode && value.ShortTag() == "!!null":
		return found, nil
	case value.Kind == yaml.SequenceNode && len(value.Content) == 0:
		found.empty, found.line, found.end = true, value.Line-1, lastLine(value)
		return found, nil
	case value.Kind != yaml.SequenceNode || value.Style&yaml.FlowStyle != 0:
		return nil, diag.Finding{Position: diag.Position{File: name, Line: key.Line}, Problem: "rules must be a list in block style", Fix: "write each rule on its own lines"}
	}
	found.end, found.indent, found.items = lastLine(value), value.Column-1, value.Content
	if err := value.Decode(&found.rules); err != nil {
		return nil, diag.Finding{Position: diag.Position{File: name, Line: key.Line}, Problem: "invalid rules: " + strings.TrimPrefix(err.Error(), "yaml: "), Err: err}
	}
	return found, nil
}

// lastLine returns the number of the last line of a node, from 1.
func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	return last
}

// renderBlock returns the lines of generated rules, or none if there are no rules.
func renderBlock(rules []Rule, indent int, source string) ([]string, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(rules); err != nil {
		return nil, err
	}
	lines := slices.Concat([]string{rulesBegin + "\n", rulesNote(source) + "\n"}, slices.Collect(strings.Lines(out.String())), []string{rulesEnd + "\n"})
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", indent) + line
	}
	return lines, nil
}
