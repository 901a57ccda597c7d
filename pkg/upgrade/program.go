package upgrade

import (
	"bytes"
	"go/ast"
	"go/format"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// The manager's program has another shape in every few versions of a scaffold, and lines of a person's stand among
// the scaffold's in it. Merging by lines alone leaves them in conflict. What a person adds to it is mostly whole, though:
// imports, types for the scheme, flags, fields of reconcilers and of the manager's options, statements before and after
// others, functions. This takes them over into today's program one by one. Where anything is left, nothing is done.

// knownText tells that some scaffold writes a line into the file.
func (m *merger) knownText(text string) bool {
	return slices.ContainsFunc(m.words.lines([]byte(text)), m.isKnown)
}

// programs merges two programs.
type programs struct {
	mine, theirs *source
	known        func(line string) bool
	// settled are the parts of mine that theirs has in another form.
	settled []textdiff.Edit
	edits   []textdiff.Edit
	// taken are the parts of mine that go into theirs, renamed the names in them that are others there.
	taken   []transfer
	renamed []textdiff.Edit
	// dropped are the statements of mine's main that theirs does without, or has otherwise.
	dropped map[ast.Node]bool
	ok      bool
}

// transfer takes the bytes from, to of mine to the place at, end of theirs.
type transfer struct {
	node     ast.Node
	from, to int
	at, end  int
	before   string
}

// take notes a transfer.
func (p *programs) take(n ast.Node, from, to, at, end int, before string) {
	p.taken = append(p.taken, transfer{n, from, to, at, end, before})
}

// mergeProgram gives today's program with all that a person has added to an older one. known tells the lines that a
// scaffold wrote. It reports false where something of it cannot be taken over.
func mergeProgram(mine, theirs []byte, known func(line string) bool) ([]byte, bool) {
	if crlf := []byte("\r\n"); bytes.Contains(mine, crlf) {
		text, ok := mergeProgram(bytes.ReplaceAll(mine, crlf, []byte("\n")), theirs, known)
		return bytes.ReplaceAll(text, []byte("\n"), crlf), ok
	}
	p := &programs{mine: readSource(mine), theirs: readSource(theirs), known: known, dropped: map[ast.Node]bool{}, ok: true}
	if p.mine == nil || p.theirs == nil {
		return nil, false
	}
	for _, name := range []string{"main", "init"} {
		if p.mine.function(name) == nil || p.theirs.function(name) == nil {
			return nil, false
		}
	}
	p.scheme()
	p.main()
	p.declarations()
	p.renames()
	if !p.ok {
		return nil, false
	}
	p.carry()
	p.imports()
	text, err := format.Source(textdiff.Apply(theirs, p.edits))
	if err != nil || !p.complete(text) {
		return nil, false
	}
	return text, true
}

// scaffolded tells that all lines of a part of mine are a scaffold's.
func (p *programs) scaffolded(from, to int) bool {
	for line := range strings.Lines(string(p.mine.text[p.mine.lineStart(from):p.mine.lineEnd(to-1)])) {
		if s := squeezed(line); len(s) > 3 && !p.known(strings.TrimRight(line, " \t\n")) {
			return false
		}
	}
	return true
}

func (p *programs) scaffoldedNode(n ast.Node) bool {
	return p.scaffolded(p.mine.offset(n.Pos()), p.mine.offset(n.End()))
}

// insert puts a text of mine into theirs.
func (p *programs) insert(at int, n ast.Node) {
	from, to := p.mine.with(n)
	p.take(n, from, to, at, at, "")
}

// settle notes that a part of mine needs no place in theirs.
func (p *programs) settle(n ast.Node) {
	p.settled = append(p.settled, textdiff.Edit{From: p.mine.offset(n.Pos()), To: p.mine.offset(n.End())})
}

// carry makes edits of theirs of what was taken over.
func (p *programs) carry() {
	for _, part := range p.taken {
		var within []textdiff.Edit
		for _, e := range p.renamed {
			if part.from <= e.From && e.To <= part.to {
				within = append(within, textdiff.Edit{From: e.From - part.from, To: e.To - part.from, Text: e.Text})
			}
		}
		text := part.before + string(textdiff.Apply(p.mine.text[part.from:part.to], within))
		p.edits = append(p.edits, textdiff.Edit{From: part.at, To: part.end, Text: text})
	}
}

// complete holds that each line of a person's is in a text, or is settled.
func (p *programs) complete(text []byte) bool {
	there := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		there[squeezed(line)] = true
	}
	for _, e := range p.edits {
		for line := range strings.Lines(e.Text) {
			there[squeezed(line)] = true
		}
	}
	for _, group := range p.mine.file.Comments {
		for _, c := range group.List {
			from := p.mine.offset(c.Pos())
			if c.Text[1] == '/' && !p.scaffolded(from, from+1) && !bytes.Contains(text, []byte(c.Text)) {
				return false
			}
		}
	}
	at := 0
	for line := range strings.Lines(string(p.mine.text)) {
		from, to := at, at+len(line)
		at = to
		s := squeezed(line)
		if len(s) <= 3 || there[s] || p.known(strings.TrimRight(line, " \t\n")) {
			continue
		}
		if slices.ContainsFunc(p.taken, func(part transfer) bool { return part.from <= from && to <= part.to }) {
			continue // renamed, or aligned otherwise
		}
		if !slices.ContainsFunc(p.settled, func(e textdiff.Edit) bool { return e.From < to && from < e.To }) {
			return false
		}
	}
	return true
}
