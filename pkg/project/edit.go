package project

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A change to a PROJECT file is a change to its text: the parsed nodes only tell the lines that a value
// stands on. Writing the nodes out again would lose blank lines, quotes and the layout of lists, and with
// them a person's clean diff.

// put sets the value at a path of keys (string) and list positions (int), or takes it away when value is
// nil; a list position one past the end appends. Missing keys on the way are added, in alphabetical order
// where the file keeps that. Nothing changes on an error.
func (c *Config) put(path []any, value any) error {
	current, there := c.get(path)
	if there == (value != nil) && (value == nil || same(current, value)) {
		return nil
	}
	if _, inList := path[len(path)-1].(int); inList && value == nil && there {
		return c.dropItem(path)
	}
	before := *c
	if err := c.putText(path, value); err != nil {
		*c = before
		return err
	}
	if got, ok := c.get(path); ok != (value != nil) || ok && !same(got, value) {
		*c = before
		return unchangeable(path)
	}
	return nil
}

// dropItem removes an element of a list, and the list with its last one.
func (c *Config) dropItem(path []any) error {
	parent, i := path[:len(path)-1], path[len(path)-1].(int)
	whole, _ := c.get(parent)
	items, _ := whole.([]any)
	if len(items) == 1 {
		return c.put(parent, nil)
	}
	before := *c
	if err := c.putText(path, nil); err != nil {
		*c = before
		return err
	}
	if left, _ := c.get(parent); !same(left, slices.Delete(slices.Clone(items), i, i+1)) {
		*c = before
		return unchangeable(path)
	}
	return nil
}

func unchangeable(path []any) error {
	return &ParseError{Problem: fmt.Sprintf("%s cannot be changed in the way the file is written", pathName(path)),
		Hint: "write the file in block style, one key a line"}
}

// putDeep is put, but goes into maps and lists that are there already, so that the lines of what stays
// as it is stay too.
func (c *Config) putDeep(path []any, value any) error {
	current, ok := c.get(path)
	if !ok {
		return c.put(path, value)
	}
	switch want := value.(type) {
	case map[string]any:
		have, ok := current.(map[string]any)
		if !ok || len(have) == 0 || len(want) == 0 {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if err := c.putDeep(join(path, key), want[key]); err != nil {
				return err
			}
		}
		for _, key := range slices.Sorted(maps.Keys(have)) {
			if _, stays := want[key]; !stays {
				if err := c.put(join(path, key), nil); err != nil {
					return err
				}
			}
		}
		return nil
	case []any:
		have, ok := current.([]any)
		if !ok || len(have) == 0 || len(want) == 0 {
			break
		}
		for i, item := range want {
			if err := c.putDeep(join(path, i), item); err != nil {
				return err
			}
		}
		for i := len(have) - 1; i >= len(want); i-- {
			if err := c.put(join(path, i), nil); err != nil {
				return err
			}
		}
		return nil
	}
	return c.put(path, value)
}

// get returns the value at a path as YAML decodes it.
func (c *Config) get(path []any) (any, bool) {
	node := c.root
	for _, step := range path {
		switch s := step.(type) {
		case string:
			node = child(node, s)
		case int:
			if node.Kind != yaml.SequenceNode || s >= len(node.Content) {
				return nil, false
			}
			node = node.Content[s]
		}
		if node == nil {
			return nil, false
		}
	}
	var value any
	if node.Decode(&value) != nil {
		return nil, false
	}
	return value, true
}

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
		k := keyIndex(b.node, key)
		switch {
		case k < 0 && value == nil:
			return block{}, false, true, nil
		case k < 0:
			return block{}, false, true, c.insertEntry(b, key, with(nil, path[i+1:], value))
		case !last:
			start, end := c.entryLines(b, k)
			return block{b.node.Content[2*k+1], start, end}, true, false, nil
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
		_, end := c.entryLines(b, place-1)
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
	key, old := b.node.Content[2*k], b.node.Content[2*k+1]
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
	column := b.node.Content[2*k].Column - 1
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

// comments returns the comments on lines from start to end, one a line at the given column. Lines of block
// and quoted text that look like comments do not count.
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

// plain tells whether a block can be changed line by line.
func (c *Config) plain(b block) bool {
	switch b.node.Kind {
	case yaml.MappingNode:
		return c.plainMapping(b.node)
	case yaml.SequenceNode:
		return b.node.Style&yaml.FlowStyle == 0 && len(b.node.Content) > 0 && len(c.dashes(b)) == len(b.node.Content)
	}
	return false
}

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

// entryLines are the lines of a mapping's k-th entry. Blank lines and comments that follow at the key's
// column or left of it belong to what comes after.
func (c *Config) entryLines(b block, k int) (start, end int) {
	key := b.node.Content[2*k]
	start, end = key.Line-1, b.end
	if 2*k+2 < len(b.node.Content) {
		end = b.node.Content[2*k+2].Line - 1
	}
	return start, c.trim(start, end, key.Column-1)
}

// dashes are the lines with the dashes of a list's elements.
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

func (c *Config) itemLines(b block, dashes []int, i int) (start, end int) {
	start, end = dashes[i], b.end
	if i+1 < len(dashes) {
		end = dashes[i+1]
	}
	return start, c.trim(start, end, b.node.Column-1)
}

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

// documentEnd is the line after the document: that of an end marker, or of the file's end.
func (c *Config) documentEnd() int {
	for i := c.root.Line; i < len(c.lines); i++ {
		if strings.HasPrefix(c.lines[i], "...") || strings.HasPrefix(c.lines[i], "---") {
			return i
		}
	}
	return len(c.lines)
}

// style is the layout that new lines follow: that of the file.
func (c *Config) style() yamlStyle {
	s := yamlStyle{eol: "\n"}
	if len(c.lines) > 0 && strings.HasSuffix(c.lines[0], "\r\n") {
		s.eol = "\r\n"
	}
	for i := 0; i+1 < len(c.root.Content); i += 2 {
		key, value := c.root.Content[i], c.root.Content[i+1]
		if value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0 {
			s.indentLists = value.Column > key.Column
			break
		}
	}
	return s
}

func keyIndex(m *yaml.Node, key string) int {
	if m.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i < len(m.Content); i += 2 {
		if m.Content[i].Kind == yaml.ScalarNode && m.Content[i].Value == key {
			return i / 2
		}
	}
	return -1
}

// with returns a value in which the one at path is set to another, or taken away when that is nil.
func with(whole any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	switch step := path[0].(type) {
	case string:
		old, _ := whole.(map[string]any)
		m := maps.Clone(old)
		if m == nil {
			m = map[string]any{}
		}
		if inner := with(m[step], path[1:], value); inner != nil {
			m[step] = inner
		} else {
			delete(m, step)
		}
		if len(m) == 0 {
			return nil
		}
		return m
	case int:
		old, _ := whole.([]any)
		list := slices.Clone(old)
		if step >= len(list) {
			return append(list, with(nil, path[1:], value))
		}
		if inner := with(list[step], path[1:], value); inner != nil {
			list[step] = inner
		} else {
			list = slices.Delete(list, step, step+1)
		}
		if len(list) == 0 {
			return nil
		}
		return list
	}
	return whole
}

// same compares two values as YAML would read them back.
func same(a, b any) bool {
	return reflect.DeepEqual(a, b) ||
		slices.Equal(yamlStyle{}.entry(0, "x", a), yamlStyle{}.entry(0, "x", b))
}

func join(path []any, step any) []any { return append(slices.Clone(path), step) }

func pathName(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch s := step.(type) {
		case string:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s)
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		}
	}
	return b.String()
}

// cut splits a line after so many characters.
func cut(line string, characters int) (before, after string) {
	i := 0
	for ; characters > 0 && i < len(line); characters-- {
		_, size := utf8.DecodeRuneInString(line[i:])
		i += size
	}
	return line[:i], line[i:]
}

// splitLines splits a text where YAML counts lines, each with its line end.
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

// breakAt is the length of the line break that text starts with, 0 where it starts with none. YAML 1.1
// breaks lines at carriage returns, next line (U+0085), line and paragraph separators, too.
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

func endsLine(line string) bool {
	for i := max(0, len(line)-3); i < len(line); i++ {
		if n := breakAt([]byte(line[i:])); n > 0 && i+n == len(line) {
			return true
		}
	}
	return false
}
