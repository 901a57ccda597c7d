package project

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A change to a PROJECT file is a change to its text: the parsed nodes only tell the lines that a value
// stands on. Writing the nodes out again would lose blank lines, quotes and the layout of lists, and with
// them a person's clean diff.

// block is a mapping or list in block style, and the lines that hold its entries.
type block struct {
	node       *yaml.Node
	start, end int
}

// putText finds the innermost block on the path and changes its lines.
func (c *Config) putText(path []any, value any) error {
	if !c.plainMapping(c.root) {
		return c.rewrite(path, value)
	}
	at := block{c.root, c.root.Content[0].Line - 1, c.documentEnd()}
	for i := range path {
		last := i == len(path)-1
		inner, found, done, err := c.step(at, path, i, value)
		if err != nil || done {
			return err
		}
		if found && !last && c.plain(inner) {
			at = inner
			continue
		}
		if found && !last {
			// Flow style, an alias or an empty value: the entry as a whole is written anew.
			whole, _ := c.get(path[:i+1])
			return c.putText(path[:i+1], with(whole, path[i+1:], value))
		}
	}
	return nil
}

// step looks up path[i] in a block. It returns the lines of that entry's value, or has done the change
// where the path ends here or the entry is missing.
func (c *Config) step(b block, path []any, i int, value any) (inner block, found, done bool, err error) {
	last := i == len(path)-1
	switch key := path[i].(type) {
	case string:
		k := safeyaml.ChildIndex(b.node, key)
		switch {
		case k < 0 && value == nil:
			return block{}, false, true, nil
		case k < 0:
			return block{}, false, true, c.insertEntry(b, key, with(nil, path[i+1:], value))
		case !last:
			start, end := c.entryLines(b, k)
			return block{b.node.Content[k+1], start, end}, true, false, nil
		case value == nil && len(b.node.Content) == 2:
			return block{}, false, true, c.dropEmptied(path[:i])
		case value == nil:
			return block{}, false, true, c.removeEntry(b, k)
		}
		return block{}, false, true, c.replaceEntry(b, k, value)
	case int:
		if b.node.Kind != yaml.SequenceNode {
			return block{}, false, true, fmt.Errorf("%s: %s is not a list", FileName, pathName(path[:i]))
		}
		dashes := c.dashes(b)
		column := b.node.Column - 1
		if key >= len(dashes) {
			_, end := c.itemLines(b, dashes, len(dashes)-1)
			return block{}, false, true, c.splice(end, end, c.style().item(column, with(nil, path[i+1:], value)))
		}
		start, end := c.itemLines(b, dashes, key)
		if !last {
			return block{b.node.Content[key], start, end}, true, false, nil
		}
		if value == nil && len(dashes) == 1 {
			return block{}, false, true, c.dropEmptied(path[:i])
		}
		if value == nil {
			return block{}, false, true, c.splice(start, end, nil)
		}
		return block{}, false, true, c.splice(start, end, append(c.comments(start, end, column), c.style().item(column, value)...))
	}
	return block{}, false, true, fmt.Errorf("%s: bad path", FileName)
}

// dropEmptied takes away what would be an empty map or list, as the peers leave those out.
func (c *Config) dropEmptied(path []any) error {
	if len(path) == 0 {
		return fmt.Errorf("%s: the last key cannot be removed", FileName)
	}
	return c.putText(path, nil)
}

// insertEntry adds a key to a mapping: at its alphabetical place, or last where the keys are in another order.
func (c *Config) insertEntry(b block, key string, value any) error {
	var keys []string
	for i := 0; i < len(b.node.Content); i += 2 {
		keys = append(keys, b.node.Content[i].Value)
	}
	place := len(keys)
	if slices.IsSorted(keys) {
		place, _ = slices.BinarySearch(keys, key)
	}
	column := b.node.Content[0].Column - 1
	lines := c.style().entry(column, key, value)
	if place > 0 {
		_, end := c.entryLines(b, 2*(place-1))
		return c.splice(end, end, lines)
	}
	// The first key of a list's element stands behind the dash: the new one takes that place.
	first := b.node.Content[0].Line - 1
	prefix, rest := cut(c.lines[first], column)
	if b.node != c.root && first > b.start && strings.Trim(prefix, " ") == "" {
		// Above the comments that are about the present first key. In the root those are the file's header.
		return c.splice(b.start+1, b.start+1, lines)
	}
	lines[0] = prefix + lines[0][column:]
	return c.splice(first, first+1, append(lines, strings.Repeat(" ", column)+rest))
}

// replaceEntry writes an entry anew. A comment behind a single-line value stays there, others go above.
func (c *Config) replaceEntry(b block, k int, value any) error {
	key, old := b.node.Content[k], b.node.Content[k+1]
	column := key.Column - 1
	start, end := c.entryLines(b, k)
	prefix, _ := cut(c.lines[start], column)
	lines := c.style().entry(column, key.Value, value)
	lines[0] = prefix + lines[0][column:]
	above := c.comments(start, end, column)
	if comment := old.LineComment + key.LineComment; comment != "" && strings.Contains(c.lines[start], comment) && len(above) > 0 {
		eol := c.style().eol
		before := c.lines[start][:strings.LastIndex(c.lines[start], comment)]
		gap := before[len(strings.TrimRight(before, " \t")):]
		lines[0] = strings.TrimSuffix(lines[0], eol) + gap + strings.TrimSpace(comment) + eol
		above = above[1:]
	}
	if strings.ContainsAny(prefix, "-") {
		// Behind a list's dash nothing can stand above.
		return c.splice(start, end, append(lines, above...))
	}
	return c.splice(start, end, append(above, lines...))
}

// removeEntry takes a key and its value away; behind a list's dash the next key moves up.
func (c *Config) removeEntry(b block, k int) error {
	start, end := c.entryLines(b, k)
	column := b.node.Content[k].Column - 1
	prefix, _ := cut(c.lines[start], column)
	if k > 0 || !strings.Contains(prefix, "-") {
		return c.splice(start, end, nil)
	}
	next := b.node.Content[2].Line - 1
	_, rest := cut(c.lines[next], column)
	lines := append([]string{}, c.lines[end:next]...)
	return c.splice(start, next+1, append(lines, prefix+rest))
}

// rewrite writes the whole document in block style, for files in flow style (JSON).
func (c *Config) rewrite(path []any, value any) error {
	var whole map[string]any
	if err := c.root.Decode(&whole); err != nil {
		return fmt.Errorf("%s: %w", FileName, err)
	}
	changed, ok := with(whole, path, value).(map[string]any)
	if !ok {
		return fmt.Errorf("%s: nothing would be left", FileName)
	}
	start, end := c.root.Line-1, c.documentEnd()
	return c.splice(start, end, append(c.comments(start, end, 0), c.style().entries(0, changed)...))
}
