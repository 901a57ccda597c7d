package upgrade

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// Side says what becomes of a place that both a person and the scaffold have changed.
type Side int

const (
	// Neither leaves both in the file, between conflict markers.
	Neither Side = iota
	// Ours takes the project's lines, Theirs the scaffold's.
	Ours
	Theirs
)

// Markers of a conflict, as version control systems write them.
const (
	startMarker  = "<<<<<<< "
	middleMarker = "======="
	endMarker    = ">>>>>>> "
)

// HasConflict tells whether a text holds conflict markers.
func HasConflict(text []byte) bool {
	start, end := false, false
	for line := range strings.Lines(string(text)) {
		start = start || strings.HasPrefix(line, startMarker)
		end = end || start && strings.HasPrefix(line, endMarker)
	}
	return end
}

// merger merges one file.
type merger struct {
	name          string
	words         *words
	mine, theirs  []line
	rawMine       []string
	rawTheirs     []string
	known         map[uint64]bool
	side          Side
	label         string
	crlf          bool
	conflicts     int
	baseMine      []int               // base line → mine line, or -1
	baseHashes    []uint64            // of lines without one in mine
	limitVersions map[string][]string // line without versions → versions of theirs
	carried       map[int]bool        // lines of mine that theirs has, by now
	values        map[int]line        // those of them that replace a line of theirs, with that
	offered       [][]uint64          // forms that the lines of mine have as comments, in YAML; none for comments
}

// likeness compares a file with what a scaffold writes: 1 for the same lines, 0 for none in common. Besides pairs,
// lines that were commented in count as had in common.
func likeness(pairs []int, other, commentedIn int) float64 {
	found := commentedIn
	for _, p := range pairs {
		if p >= 0 {
			found++
		}
	}
	if len(pairs)+other == 0 {
		return 1
	}
	return 2 * float64(found) / float64(len(pairs)+other)
}

// commentedIn counts the lines of mine that a known file has as comments: choices that its scaffold offers.
func (m *merger) commentedIn(f knownFile, pairs []int) int {
	left, paired := map[uint64]int{}, map[int]bool{}
	for i, l := range f.lines {
		if pairs[i] < 0 {
			left[l.hash]++
		} else {
			paired[pairs[i]] = true
		}
	}
	n := 0
	for j, forms := range m.offered {
		if paired[j] {
			continue
		}
		if at := slices.IndexFunc(forms, func(hash uint64) bool { return left[hash] > 0 }); at >= 0 {
			left[forms[at]]--
			n++
		}
	}
	return n
}

// pairKnown pairs the lines of a known file with those of mine.
func (m *merger) pairKnown(f knownFile) []int {
	light := map[uint64]bool{}
	for _, text := range []string{"", "}", ")", "{", "---", "]", "},", "})", "\t}", "\t\t}", "\t})"} {
		light[textdiff.Hash(text)] = true
	}
	weight := func(i int) int32 {
		if light[f.lines[i].hash] {
			return 1
		}
		return 8
	}
	return textdiff.Match(len(f.lines), len(m.mine), weight, func(i, j int) bool {
		k, l := f.lines[i], m.mine[j]
		return slices.Contains(l.forms, k.hash) && (slices.Equal(k.versions, l.versions) || m.raisable(l))
	})
}

// raisable tells that the versions of a line are none that a person has raised above the scaffold's.
func (m *merger) raisable(l line) bool {
	limit, ok := m.limitVersions[l.plain]
	return ok && notAbove(l.versions, limit)
}

// result merges and returns the text.
func (m *merger) result(strict bool) []byte {
	weight := func(i int) int32 {
		if at := m.baseMine[i]; at >= 0 {
			return weigh(m.mine[at].text)
		}
		return 8
	}
	toTheirs := textdiff.Match(len(m.baseMine), len(m.theirs), weight, func(i, j int) bool {
		t := m.theirs[j]
		if at := m.baseMine[i]; at >= 0 {
			return m.mine[at].plain == t.plain
		}
		return slices.Contains(t.forms, m.baseHashes[i])
	})
	var out bytes.Buffer
	m.conflicts = 0
	for _, c := range merge(len(m.baseMine), m.baseMine, toTheirs, len(m.mine), len(m.theirs), strict) {
		switch c.kind {
		case same:
			for i := range c.mineTo - c.mineFrom {
				m.alike(&out, c.mineFrom+i, c.theirsFrom+i)
			}
		case mineChanged:
			m.write(&out, m.rawMine[c.mineFrom:c.mineTo])
		case theirsChanged:
			m.write(&out, m.rawTheirs[c.theirsFrom:c.theirsTo])
		case clashing:
			if !strict && c.baseFrom == c.baseTo && path.Ext(m.name) != ".go" {
				// Both only add, and the order of additions is of no matter in what is no code.
				m.write(&out, m.rawTheirs[c.theirsFrom:c.theirsTo])
				m.write(&out, m.rawMine[c.mineFrom:c.mineTo])
				continue
			}
			m.clash(&out, c)
		}
	}
	return out.Bytes()
}

// alike writes a line that both have, with the later versions of the two.
func (m *merger) alike(out *bytes.Buffer, mine, theirs int) {
	if notAbove(m.mine[mine].versions, m.theirs[theirs].versions) && m.mine[mine].text != m.theirs[theirs].text {
		m.write(out, m.rawTheirs[theirs:theirs+1])
		return
	}
	m.write(out, m.rawMine[mine:mine+1])
}

// write puts lines out, each with an end; merged files have one at their end too.
func (m *merger) write(out *bytes.Buffer, raw []string) {
	for _, text := range raw {
		text = strings.TrimRight(text, "\r\n")
		out.WriteString(text)
		if m.crlf {
			out.WriteByte('\r')
		}
		out.WriteByte('\n')
	}
}

// clash writes lines that both have changed: once where they are the same, and otherwise as the side says.
func (m *merger) clash(out *bytes.Buffer, c chunk) {
	mine, theirs := m.mine[c.mineFrom:c.mineTo], m.theirs[c.theirsFrom:c.theirsTo]
	start := 0
	for start < min(len(mine), len(theirs)) && mine[start].text == theirs[start].text {
		start++
	}
	stop := 0
	for stop < min(len(mine), len(theirs))-start && mine[len(mine)-1-stop].text == theirs[len(theirs)-1-stop].text {
		stop++
	}
	a, b := m.rawMine[c.mineFrom:c.mineTo], m.rawTheirs[c.theirsFrom:c.theirsTo]
	m.write(out, a[:start])
	onlyMine, onlyTheirs := a[start:len(a)-stop], b[start:len(b)-stop]
	if len(onlyMine)+len(onlyTheirs) > 0 {
		switch m.side {
		case Ours:
			m.write(out, onlyMine)
		case Theirs:
			m.write(out, onlyTheirs)
		default:
			m.conflicts++
			m.write(out, []string{startMarker + "the project"})
			m.write(out, onlyMine)
			m.write(out, []string{middleMarker})
			m.write(out, onlyTheirs)
			m.write(out, []string{endMarker + m.label})
		}
	}
	m.write(out, a[len(a)-stop:])
}

// whole is the merge of a file as one conflict.
func (m *merger) whole() []byte {
	var out bytes.Buffer
	m.conflicts = 0
	m.clash(&out, chunk{kind: clashing, mineTo: len(m.mine), theirsTo: len(m.theirs)})
	return out.Bytes()
}

// rawLines are the lines of a text with their ends.
func rawLines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

// checkSyntax tells what is wrong with a text, of the kinds of files that can be read.
func checkSyntax(name string, text []byte) error {
	switch path.Ext(name) {
	case ".go":
		_, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		return err
	case ".yaml", ".yml":
		for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var node yaml.Node
			if err := decoder.Decode(&node); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := duplicates(&node); err != nil {
				return err
			}
		}
	}
	return nil
}

// duplicates finds keys given twice.
func duplicates(node *yaml.Node) error {
	if node.Kind == yaml.MappingNode {
		seen := map[string]bool{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i].Value
			if seen[key] {
				return fmt.Errorf("line %d: %s is given twice", node.Content[i].Line, key)
			}
			seen[key] = true
		}
	}
	for _, child := range node.Content {
		if err := duplicates(child); err != nil {
			return err
		}
	}
	return nil
}

// formatted is a Go file as gofmt has it, if mine was.
func formatted(name string, mine, text []byte) []byte {
	if path.Ext(name) != ".go" {
		return text
	}
	if was, err := format.Source(mine); err != nil || !bytes.Equal(was, mine) {
		return text
	}
	if out, err := format.Source(importedOnce(name, text)); err == nil {
		return out
	}
	return text
}

// importedOnce takes imports away that a file has twice, as when a person and the scaffold have added the same.
func importedOnce(name string, text []byte) []byte {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ImportsOnly)
	if err != nil {
		return text
	}
	seen := map[string]bool{}
	var edits []textdiff.Edit
	for _, spec := range file.Imports {
		key := spec.Path.Value
		if spec.Name != nil {
			key = spec.Name.Name + " " + key
		}
		if seen[key] {
			from, to := fset.PositionFor(spec.Pos(), false).Offset, fset.PositionFor(spec.End(), false).Offset
			edits = append(edits, textdiff.Edit{From: from, To: to})
		}
		seen[key] = true
	}
	return textdiff.Apply(text, edits)
}
