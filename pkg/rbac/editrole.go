package rbac

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A RuleEdit is a change of a rule in a file. The rules are in one line each.
type RuleEdit struct {
	// Position is that of the former rule, or of the line above the new one.
	diag.Position
	// Before is empty for a new rule, and After for one that is removed.
	Before string
	After  []string
}

// EditRole returns a file with the manager's role in which edit has changed the rules of the user: those that aren't in the generated block;
// see UpdateRole. Its first result has what replaces a rule, by its index, and the second one new rules, which are above the block. The other
// rules stay as they are written.
func EditRole(name string, text []byte, edit func(own []Rule) (replaced map[int][]Rule, added []Rule)) ([]byte, []RuleEdit, error) {
	lf, crlf := textdiff.ToLF(text)
	lines := slices.Collect(strings.Lines(string(lf)))
	begin, end, err := findBlock(name, lines)
	if err != nil {
		return nil, nil, err
	}
	role, err := findRole(name, lf)
	if err != nil {
		return nil, nil, err
	}
	var own []Rule
	var items []*yaml.Node
	for i, item := range role.items {
		if !isWithin(item, begin, end) {
			own, items = append(own, role.rules[i]), append(items, item)
		}
	}
	replaced, added := edit(slices.Clone(own))
	at := begin
	if begin < 0 {
		at = role.place(lines)
	}
	block, short, err := written(added, strings.Repeat(" ", role.indent)+"- ", false)
	if err != nil {
		return nil, nil, err
	}
	var edits []RuleEdit
	for _, rule := range short {
		edits = append(edits, RuleEdit{Position: diag.Position{File: name, Line: at}, After: []string{rule}})
	}
	lines = role.insert(lines, at, block)
	for i, item := range slices.Backward(items) {
		rules, ok := replaced[i]
		if !ok {
			continue
		}
		first := item.Line - 1
		shift := 0
		if first >= at {
			shift = len(block)
		}
		line := lines[first+shift]
		changed, after, err := written(rules, line[:min(item.Column-1, len(line))], item.Style&yaml.FlowStyle != 0)
		if err != nil {
			return nil, nil, err
		}
		before, err := inLine(own[i])
		if err != nil {
			return nil, nil, err
		}
		lines = slices.Replace(lines, first+shift, lastLine(item)+shift, changed...)
		edits = slices.Insert(edits, 0, RuleEdit{Position: diag.Position{File: name, Line: item.Line}, Before: before, After: after})
	}
	updated := []byte(strings.Join(lines, ""))
	if now, err := findRole(name, updated); err != nil || !reflect.DeepEqual(sorted(now.rules), sorted(expected(role.rules, own, replaced, added))) {
		return nil, nil, diag.Finding{Position: diag.Position{File: name, Line: role.line + 1}, Problem: "the rules can't be edited as they are written", Fix: "write each rule in block style"}
	}
	return textdiff.FromLF(updated, crlf), edits, nil
}

// GeneratedRules returns the rules in the generated block of a file with the manager's role; see UpdateRole.
func GeneratedRules(name string, text []byte) (rules []Rule, err error) {
	lf, _ := textdiff.ToLF(text)
	begin, end, err := findBlock(name, slices.Collect(strings.Lines(string(lf))))
	if err != nil || begin < 0 {
		return nil, err
	}
	role, err := findRole(name, lf)
	if err != nil {
		return nil, err
	}
	for i, item := range role.items {
		if isWithin(item, begin, end) {
			rules = append(rules, role.rules[i])
		}
	}
	return rules, nil
}

// isWithin reports whether a rule is between two lines, which are -1 without a block.
func isWithin(item *yaml.Node, begin, end int) bool { return item.Line-1 > begin && item.Line-1 < end }

// written returns the lines of rules in a list, behind the text that begins an item, and each rule in one line.
func written(rules []Rule, lead string, flow bool) (lines, short []string, err error) {
	for _, rule := range rules {
		more, err := ruleLines(rule, lead, flow)
		if err != nil {
			return nil, nil, err
		}
		one, err := inLine(rule)
		if err != nil {
			return nil, nil, err
		}
		lines, short = append(lines, more...), append(short, one)
	}
	return lines, short, nil
}

// ruleLines returns the lines of a rule behind the text that begins its first one. The others are indented as far.
func ruleLines(rule Rule, lead string, flow bool) ([]string, error) {
	var node yaml.Node
	if err := node.Encode(rule); err != nil {
		return nil, err
	}
	if flow {
		node.Style = yaml.FlowStyle
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(&node); err != nil {
		return nil, err
	}
	lines := slices.Collect(strings.Lines(out.String()))
	for i, line := range lines {
		if i > 0 {
			lead = strings.Repeat(" ", len(lead))
		}
		lines[i] = lead + line
	}
	return lines, nil
}

// inLine returns a rule as YAML in one line.
func inLine(rule Rule) (string, error) {
	lines, err := ruleLines(rule, "", true)
	return strings.TrimSpace(strings.Join(lines, "")), err
}

// expected returns the rules of a role after an edit, in any order.
func expected(all, own []Rule, replaced map[int][]Rule, added []Rule) []Rule {
	rules := slices.Clone(all)
	for i, rule := range own {
		if kept, ok := replaced[i]; ok {
			at := slices.IndexFunc(rules, rule.Equal)
			rules = slices.Replace(rules, at, at+1, kept...)
		}
	}
	return append(rules, added...)
}

func sorted(rules []Rule) []Rule {
	rules = append([]Rule{}, rules...)
	slices.SortStableFunc(rules, compareRules)
	return rules
}
