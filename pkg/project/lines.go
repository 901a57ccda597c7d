package project

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// comments returns the comments on lines from start to end, one per line at the given column. Block scalars and quoted texts can
// contain lines that look like comments, which are not included.
func (c *Config) comments(start, end, column int) []string {
	var found []string
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for _, comment := range []string{n.HeadComment, n.LineComment, n.FootComment} {
			for _, line := range strings.Split(comment, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					found = append(found, line)
				}
			}
		}
		for _, inner := range n.Content {
			walk(inner)
		}
	}
	walk(c.root)
	var lines []string
	for _, line := range c.lines[start:min(end, len(c.lines))] {
		for _, comment := range found {
			if strings.HasSuffix(strings.TrimSpace(line), comment) {
				lines = append(lines, strings.Repeat(" ", column)+comment+c.style().eol)
				break
			}
		}
	}
	return lines
}

// splice replaces the lines from start to end and parses the result.
func (c *Config) splice(start, end int, with []string) error {
	lines := slices.Clone(c.lines)
	eol := c.style().eol
	if start > 0 && start <= len(lines) && len(with) > 0 && !endsLine(lines[start-1]) {
		lines[start-1] += eol
	}
	lines = slices.Replace(lines, start, end, with...)
	return c.load([]byte(strings.Join(lines, "")))
}

// plain reports whether a block can be changed by line.
func (c *Config) plain(b block) bool {
	switch b.node.Kind {
	case yaml.MappingNode:
		return c.plainMapping(b.node)
	case yaml.SequenceNode:
		return b.node.Style&yaml.FlowStyle == 0 && len(b.node.Content) > 0 && len(c.dashes(b)) == len(b.node.Content)
	}
	return false
}

// plainMapping reports whether a mapping is in block style with one key per line.
func (c *Config) plainMapping(m *yaml.Node) bool {
	if m.Style&yaml.FlowStyle != 0 || len(m.Content) == 0 {
		return false
	}
	column := m.Content[0].Column
	for i := 0; i < len(m.Content); i += 2 {
		key := m.Content[i]
		if key.Kind != yaml.ScalarNode || key.Column != column || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0 ||
			key.Line < 1 || key.Line > len(c.lines) {
			return false
		}
		prefix, rest := cut(c.lines[key.Line-1], column-1)
		allowed := " "
		if i == 0 {
			allowed = " -"
		}
		if strings.Trim(prefix, allowed) != "" || rest == "" || strings.HasPrefix(rest, "?") {
			return false
		}
	}
	return true
}

// entryLines returns the lines of a mapping entry, whose key is at index k. Blank lines and comments after it that are not
// indented further than the key belong to the next entry.
func (c *Config) entryLines(b block, k int) (start, end int) {
	key := b.node.Content[k]
	start, end = key.Line-1, b.end
	if k+2 < len(b.node.Content) {
		end = b.node.Content[k+2].Line - 1
	}
	return start, c.trim(start, end, key.Column-1)
}

// dashes returns the lines of the dashes of a list.
func (c *Config) dashes(b block) []int {
	var found []int
	for i := max(b.start, b.node.Line-1); i < b.end && i < len(c.lines); i++ {
		prefix, rest := cut(c.lines[i], b.node.Column-1)
		dash := strings.HasPrefix(rest, "-") && (len(rest) == 1 || strings.ContainsAny(rest[1:2], " \t\r\n"))
		if dash && strings.Trim(prefix, " ") == "" {
			found = append(found, i)
		}
	}
	return found
}

// itemLines returns the lines of a list item.
func (c *Config) itemLines(b block, dashes []int, i int) (start, end int) {
	start, end = dashes[i], b.end
	if i+1 < len(dashes) {
		end = dashes[i+1]
	}
	return start, c.trim(start, end, b.node.Column-1)
}

// trim returns end without preceding blank lines and comments up to a column.
func (c *Config) trim(start, end, column int) int {
	for ; end > start+1; end-- {
		line := strings.TrimRight(c.lines[end-1], " \t\r\n")
		text := strings.TrimLeft(line, " \t")
		if text != "" && (text[0] != '#' || len(line)-len(text) > column) {
			break
		}
	}
	return end
}

// documentEnd returns the line after the document: an end marker's line, or the end of the file.
func (c *Config) documentEnd() int {
	for i := c.root.Line; i < len(c.lines); i++ {
		if strings.HasPrefix(c.lines[i], "...") || strings.HasPrefix(c.lines[i], "---") {
			return i
		}
	}
	return len(c.lines)
}

// style returns the style of the file, for new lines.
func (c *Config) style() yamlStyle {
	s := yamlStyle{eol: "\n"}
	if len(c.lines) > 0 && strings.HasSuffix(c.lines[0], "\r\n") {
		s.eol = "\r\n"
	}
	for key, value := range safeyaml.Fields(c.root) {
		if value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0 {
			s.indentLists = value.Column > key.Column
			break
		}
	}
	return s
}

// cut splits a line after a number of characters.
func cut(line string, characters int) (before, after string) {
	i := 0
	for ; characters > 0 && i < len(line); characters-- {
		_, size := utf8.DecodeRuneInString(line[i:])
		i += size
	}
	return line[:i], line[i:]
}

// splitLines splits a text into the lines of YAML, with their line breaks.
func splitLines(text []byte) []string {
	var lines []string
	start := 0
	for i := 0; i < len(text); {
		size := breakAt(text[i:])
		if size == 0 {
			i++
			continue
		}
		i += size
		lines = append(lines, string(text[start:i]))
		start = i
	}
	if start < len(text) {
		lines = append(lines, string(text[start:]))
	}
	return lines
}

// breakAt returns the length of the line break that text starts with, or 0. Line breaks of YAML 1.1 include carriage returns, next
// line (U+0085), line and paragraph separators.
func breakAt(text []byte) int {
	switch {
	case len(text) > 1 && text[0] == '\r' && text[1] == '\n':
		return 2
	case text[0] == '\n' || text[0] == '\r':
		return 1
	case len(text) > 1 && text[0] == 0xC2 && text[1] == 0x85:
		return 2
	case len(text) > 2 && text[0] == 0xE2 && text[1] == 0x80 && (text[2] == 0xA8 || text[2] == 0xA9):
		return 3
	}
	return 0
}

// endsLine reports whether a line ends with a line break.
func endsLine(line string) bool {
	for i := max(0, len(line)-3); i < len(line); i++ {
		if n := breakAt([]byte(line[i:])); n > 0 && i+n == len(line) {
			return true
		}
	}
	return false
}
