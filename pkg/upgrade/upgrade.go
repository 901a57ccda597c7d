// Package upgrade brings what a scaffold wrote into a project up to today's: a three-way merge of what the old
// scaffold wrote, what is there, and what today's writes. Old scaffolds are known by the hashes of their lines.
package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// State says what an upgrade does with a file.
type State int

const (
	// Created and Removed are files that only one of the scaffolds has.
	Created State = iota
	Removed
	// Replaced is one that nobody has edited, Merged one with edits that fit.
	Replaced
	Merged
	// Conflicting holds places that both a person and the scaffold have changed.
	Conflicting
	// Kept is left as it is though the scaffold has changed it; Note says why.
	Kept
)

// File is what an upgrade does with one file.
type File struct {
	Name  string
	State State
	// Note says more, Conflicts how many places of the file are in conflict.
	Note      string
	Conflicts int
}

// Options say how to upgrade.
type Options struct {
	Names Names
	// Known are the scaffolds that may have made the project.
	Known *Known
	// Side decides conflicts, Label names today's scaffold in their markers.
	Side  Side
	Label string
}

// Result is what came of an upgrade.
type Result struct {
	// From is the scaffold that the project is most like. Its zero value is today's own.
	From  Scaffold
	Files []File
}

// Conflicts lists the files that a person has to settle.
func (r *Result) Conflicts() []File {
	return slices.DeleteFunc(slices.Clone(r.Files), func(f File) bool { return f.State != Conflicting })
}

// minimum is the likeness from which a file counts as one that a scaffold wrote.
const minimum = 0.5

// Files upgrades the scaffold's files in a tree to those of today. Nothing else is touched: neither a person's
// code nor what is generated.
func Files(tree *scaffold.Tree, today map[string][]byte, o Options) (*Result, error) {
	u := &upgrader{
		tree: tree, today: maps.Clone(today), o: o, words: newWords(o.Names), votes: map[Scaffold]float64{}, carried: map[string][]string{},
	}
	if err := u.settings(); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for name := range o.Known.files {
		names[name] = true
	}
	for name := range u.today {
		if Scaffolded(name) {
			names[name] = true
		}
	}
	var plans []*plan
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p, err := u.plan(name)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	u.result.From = u.origin()
	var removed []*plan
	for _, p := range plans {
		switch {
		case !p.there:
			u.create(p)
		case u.today[p.name] == nil:
			removed = append(removed, p)
		default:
			u.update(p)
		}
	}
	if err := u.remove(removed); err != nil {
		return nil, err
	}
	if err := u.complete(); err != nil {
		return nil, err
	}
	slices.SortFunc(u.result.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return &u.result, nil
}

// upgrader upgrades one project.
type upgrader struct {
	tree  *scaffold.Tree
	today map[string][]byte
	o     Options
	words *words
	votes map[Scaffold]float64
	// carried are files whose settings are in others by now, with those that no other can hold.
	carried map[string][]string
	result  Result
}

// plan is a file with the scaffold that it is most like.
type plan struct {
	name  string
	there bool
	gone  bool
	mine  []byte
	m     *merger
	// own tells that the file is most like today's. Otherwise base is what it is like, paired with it by pairs.
	own   bool
	base  knownFile
	pairs []int
	like  float64
}

func (u *upgrader) plan(name string) (*plan, error) {
	p := &plan{name: name}
	mine, err := u.tree.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	p.there, p.mine = true, mine
	theirs := u.today[name]
	m := &merger{
		name: name, words: u.words, mine: u.words.lines(mine), theirs: u.words.lines(theirs),
		rawMine: rawLines(mine), rawTheirs: rawLines(theirs), known: u.o.Known.hashes[name],
		side: u.o.Side, label: u.o.Label, crlf: bytes.Contains(mine, []byte("\r\n")), limitVersions: map[string][]string{},
	}
	p.m = m
	for _, t := range m.theirs {
		m.limitVersions[t.plain] = t.versions
	}
	if path.Ext(name) == ".yaml" {
		for _, l := range m.mine {
			var forms []uint64
			if !strings.HasPrefix(l.text, "#") {
				forms = m.commented(l).forms
			}
			m.offered = append(m.offered, forms)
		}
	}
	if theirs != nil {
		pairs := textdiff.Match(len(m.theirs), len(m.mine), func(i int) int32 { return weigh(m.theirs[i].text) }, func(i, j int) bool { return m.theirs[i].text == m.mine[j].text })
		p.own, p.like = true, likeness(pairs, len(m.mine), 0)
		u.votes[Scaffold{}] += p.like
	}
	for _, f := range u.o.Known.files[name] {
		pairs := m.pairKnown(f)
		like := likeness(pairs, len(m.mine), m.commentedIn(f, pairs))
		for _, s := range f.scaffolds {
			u.votes[s] += like / float64(u.variants(name, s))
		}
		if like > p.like {
			p.own, p.base, p.pairs, p.like = false, f, pairs, like
		}
	}
	return p, nil
}

// variants counts the forms in which a scaffold writes a file.
func (u *upgrader) variants(name string, s Scaffold) int {
	n := 0
	for _, f := range u.o.Known.files[name] {
		if slices.Contains(f.scaffolds, s) {
			n++
		}
	}
	return n
}

// origin is the scaffold that most files are like. Of equals it is today's own, or the latest.
func (u *upgrader) origin() Scaffold {
	var best Scaffold
	for _, s := range u.o.Known.Scaffolds() {
		if u.votes[s] > u.votes[best]+1e-9 {
			best = s
		}
	}
	return best
}

func (u *upgrader) add(p *plan, state State, note string) {
	f := File{Name: p.name, State: state, Note: note}
	if state == Conflicting {
		f.Conflicts = p.m.conflicts
	}
	u.result.Files = append(u.result.Files, f)
}

// create adds a file that the old scaffold did not have. One that it had and that is gone was removed by a person.
func (u *upgrader) create(p *plan) {
	text := u.today[p.name]
	if text == nil || u.result.From == (Scaffold{}) || u.o.Known.writes(u.result.From, p.name) {
		return
	}
	u.tree.WriteFile(p.name, text, 0o644)
	u.add(p, Created, "")
}

func (u *upgrader) update(p *plan) {
	switch {
	case HasConflict(p.mine):
		u.add(p, Conflicting, "holds conflict markers")
		return
	case p.own:
		return
	case p.like < minimum:
		u.add(p, Kept, "is not what a scaffold wrote")
		return
	}
	p.m.carry()
	p.m.infer(p.base, p.pairs)
	edited := u.edited(p) || len(p.m.carried) > 0
	text := formatted(p.name, p.mine, p.m.result(false))
	switch {
	case document(p.name) && edited:
		u.add(p, Kept, "was edited")
		return
	case document(p.name):
		text = u.today[p.name]
	}
	if p.m.conflicts == 0 && u.breaks(p, text) {
		text = formatted(p.name, p.mine, p.m.result(true))
	}
	if p.m.conflicts == 0 && u.breaks(p, text) {
		text = p.m.whole()
	}
	if p.name == "cmd/main.go" && (p.m.conflicts > 0 || u.o.Side == Neither && bytes.Contains(p.mine, []byte(`ctrl.Log.WithName("controllers")`))) {
		if merged, ok := mergeProgram(p.mine, u.today[p.name], p.m.knownText); ok {
			text, p.m.conflicts = merged, 0
		}
	}
	if bytes.Equal(text, p.mine) {
		return
	}
	u.tree.WriteFile(p.name, text, 0o644)
	switch {
	case p.m.conflicts > 0:
		u.add(p, Conflicting, "")
	case edited:
		u.add(p, Merged, "")
	default:
		u.add(p, Replaced, "")
	}
}

// breaks tells that a merged text cannot be read, while mine could.
func (u *upgrader) breaks(p *plan, text []byte) bool {
	return checkSyntax(p.name, text) != nil && checkSyntax(p.name, p.mine) == nil
}

// edited tells whether a person changed what a scaffold wrote.
func (u *upgrader) edited(p *plan) bool {
	return len(textdiff.Hunks(p.m.baseMine, len(p.m.mine))) > 0
}

// complete adds the manifests of today's scaffold that are missing and that a kustomization names now.
func (u *upgrader) complete() error {
	for _, name := range slices.Sorted(maps.Keys(u.today)) {
		if Scaffolded(name) || !strings.HasPrefix(name, "config/") || u.tree.Exists(name) {
			continue
		}
		if user, err := u.namedBy(name); err != nil || user == "" {
			if err != nil {
				return err
			}
			continue
		}
		u.tree.WriteFile(name, u.today[name], 0o644)
		u.result.Files = append(u.result.Files, File{Name: name, State: Created})
	}
	return nil
}

// Describe says in words, for the end of a line, what an upgrade does with a file.
func (f File) Describe() string {
	switch f.State {
	case Replaced:
		return "  (not edited)"
	case Merged:
		return "  (your edits stay)"
	case Removed:
		return "  (today's scaffold does without it)"
	case Conflicting:
		if f.Note == "" {
			return fmt.Sprintf("  (conflicts: %d)", f.Conflicts)
		}
	}
	if f.Note == "" {
		return ""
	}
	return "  (" + f.Note + ")"
}
