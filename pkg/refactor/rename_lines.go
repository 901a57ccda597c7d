package refactor

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/templates"
)

// A change replaces the lines of a file from start up to end, counted from 0.
type change struct {
	start, end int
	lines      []string
}

// readChanges finds the lines that the scaffold wrote and their new forms.
func (x *renamer) readChanges() error {
	byFile := map[string][]scaffold.RenderedPair{}
	for _, t := range x.Pairs {
		if t.Old != t.New {
			byFile[t.From] = append(byFile[t.From], t)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		if !x.tree.Exists(name) {
			continue
		}
		data, err := x.tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		x.changes[name] = changesOf(string(data), byFile[name], path.Ext(name) == ".go")
	}
	return nil
}

// changesOf returns the changes of the lines of a file in order. A line counts as one of the scaffold in any place. If it has
// several new forms, it must be at its place in the scaffold.
func changesOf(ours string, pairs []scaffold.RenderedPair, code bool) []change {
	text := lines(ours)
	known, doubtful := map[string]string{}, map[string]bool{}
	var blocks []change
	learn := func(before, after string) {
		key, body := lineKey(before, code), lineBody(after, code)
		if key == "" || key == lineKey(after, code) {
			return
		}
		if other, ok := known[key]; ok && other != body {
			doubtful[key] = true
		}
		known[key] = body
	}
	for _, t := range pairs {
		before, after := lines(t.Old), lines(t.New)
		if len(before) == len(after) {
			for i := range before {
				learn(before[i], after[i])
			}
			continue
		}
		toOurs := textdiff.MatchLines(before, text)
		for _, h := range hunks(before, after) {
			if h.To-h.From == h.OtherTo-h.OtherFrom {
				for i := range h.To - h.From {
					learn(before[h.From+i], after[h.OtherFrom+i])
				}
			} else if start, end, ok := place(toOurs, h, len(text)); ok && !t.Part {
				blocks = append(blocks, change{start, end, after[h.OtherFrom:h.OtherTo]})
			}
		}
	}
	placed := placedLines(text, pairs, code)
	inBlock := map[int]bool{}
	for _, b := range blocks {
		for i := b.start; i < b.end; i++ {
			inBlock[i] = true
		}
	}
	var changes []change
	for i, line := range text {
		for len(blocks) > 0 && blocks[0].start == i {
			changes = append(changes, blocks[0])
			blocks = blocks[1:]
		}
		key := lineKey(line, code)
		body, ok := known[key]
		if doubtful[key] {
			body, ok = placed[i]
		}
		if !ok || inBlock[i] {
			continue
		}
		tail := lineTail(line, code)
		if !code && !strings.Contains(tail, `"`) {
			body = quotedText.ReplaceAllStringFunc(body, func(quoted string) string { // written again by another tool
				return templates.YAML(strings.Trim(quoted, `"`))
			})
		}
		changes = append(changes, change{i, i + 1, []string{line[:len(line)-len(tail)] + body}})
	}
	return append(changes, blocks...)
}

var quotedText = lazyregexp.New(`"[^"]*"`)

// placedLines returns the new forms of lines at the place that a whole file of the scaffold has them.
func placedLines(text []string, pairs []scaffold.RenderedPair, code bool) map[int]string {
	placed := map[int]string{}
	for _, t := range pairs {
		before, after := lines(t.Old), lines(t.New)
		if t.Part || len(before) != len(after) {
			continue
		}
		for i, at := range textdiff.MatchLines(before, text) {
			if _, known := placed[at]; at >= 0 && !known && before[i] != after[i] {
				placed[at] = lineBody(after[i], code)
			}
		}
	}
	return placed
}

// lineTail returns a line without its indentation and, outside of Go, without the comment sign.
func lineTail(line string, code bool) string {
	if code {
		return strings.TrimLeft(line, " \t")
	}
	return strings.TrimLeft(line, " \t#")
}

func lineBody(line string, code bool) string { return strings.TrimRight(lineTail(line, code), " \t\r") }

// lineKey returns a line in a form for comparison, because gofmt aligns white space by adjacent lines.
func lineKey(line string, code bool) string {
	if !code {
		line = strings.ReplaceAll(line, `"`, "")
	}
	return strings.Join(strings.Fields(lineTail(line, code)), " ")
}

// changeEdits returns the edits that apply changes to a text, with its line ends.
func changeEdits(text []byte, changes []change) []edit {
	starts, crlf := lineStarts(text), isCRLF(string(text))
	var edits []edit
	for _, c := range changes {
		e := edit{From: starts[c.start], To: starts[c.end], Text: strings.Join(c.lines, "\n")}
		if len(c.lines) > 0 && (c.start == c.end || text[e.To-1] == '\n') {
			e.Text += "\n"
		}
		e.Text = string(textdiff.FromLF([]byte(e.Text), crlf))
		edits = append(edits, e)
	}
	return edits
}

// lineStarts returns the offsets of the starts of lines, and the length of the text.
func lineStarts(src []byte) []int {
	starts := []int{0}
	for i, b := range src {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	return append(starts, len(src))
}
