package project

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A change edits the text of the file at the lines of the parsed nodes. Encoding the nodes would lose blank lines, quotes and the
// style of lists.

// A block is a mapping or list in block style with the lines of its entries.
type block struct {
	node       *yaml.Node
	start, end int
}

// putText changes the lines of the innermost block on the path.
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
			// Flow style, an alias or an empty value: the complete entry is replaced.
			entry, _ := c.get(path[:i+1])
			return c.putText(path[:i+1], with(entry, path[i+1:], value))
		}
	}
	return nil
}

// step finds path[i] in a block and returns the block of its value. If the path ends here or the entry is missing, it makes the
// change instead, and done is true.
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

// dropEmptied removes a mapping or list that would become empty, as the peers do.
func (c *Config) dropEmptied(path []any) error {
	if len(path) == 0 {
		return fmt.Errorf("%s: the last key cannot be removed", FileName)
	}
	return c.putText(path, nil)
}

// insertEntry adds a key to a mapping: in alphabetical order, or last if the keys are not sorted.
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
	// The first key of a list item follows the dash, which the new key does now.
	first := b.node.Content[0].Line - 1
	prefix, rest := cut(c.lines[first], column)
	if b.node != c.root && first > b.start && strings.Trim(prefix, " ") == "" {
		// Insert before the comments of the first key. In the root they are the header of the file.
		return c.splice(b.start+1, b.start+1, lines)
	}
	lines[0] = prefix + lines[0][column:]
	return c.splice(first, first+1, append(lines, strings.Repeat(" ", column)+rest))
}

// replaceEntry replaces an entry. A comment after a single-line value is kept there, others are moved above.
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
		// Comments cannot be above the first key of a list item.
		return c.splice(start, end, append(lines, above...))
	}
	return c.splice(start, end, append(above, lines...))
}

// removeEntry removes a key and its value. After the dash of a list item, the next key moves up.
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

// rewrite encodes the document in block style, for files in flow style (JSON).
func (c *Config) rewrite(path []any, value any) error {
	var document map[string]any
	if err := c.root.Decode(&document); err != nil {
		return fmt.Errorf("%s: %w", FileName, err)
	}
	changed, ok := with(document, path, value).(map[string]any)
	if !ok {
		return fmt.Errorf("%s: the change would remove all keys", FileName)
	}
	start, end := c.root.Line-1, c.documentEnd()
	return c.splice(start, end, append(c.comments(start, end, 0), c.style().entries(0, changed)...))
}
