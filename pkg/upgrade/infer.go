package upgrade

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// infer makes the base of the merge: the known file, with what other versions of its scaffold wrote instead
// and mine has, as if it had been written by that one.
func (m *merger) infer(f knownFile, pairs []int) {
	m.baseMine, m.baseHashes = nil, nil
	add := func(mine int, hash uint64) {
		m.baseMine = append(m.baseMine, mine)
		m.baseHashes = append(m.baseHashes, hash)
	}
	inMine, inTheirs := counts(m.mine), counts(m.theirs)
	base := 0
	for _, h := range textdiff.Hunks(pairs, len(m.mine)) {
		for ; base < h.From; base++ {
			add(pairs[base], f.lines[base].hash)
		}
		if m.scaffolded(h, inMine, inTheirs) {
			for j := h.OtherFrom; j < h.OtherTo; j++ {
				add(j, 0)
			}
			base = h.To
			continue
		}
		// A line that today's scaffold has too is no change, wherever it comes from.
		shared := func(j int) bool {
			text := m.mine[j].text
			return m.carried[j] || len(text) > 3 && inMine[text] == 1 && inTheirs[text] == 1
		}
		dropped := m.dropped(f, h)
		others := false
		for j := h.OtherFrom; j < h.OtherTo; j++ {
			others = others || m.mine[j].text != "" && !shared(j)
		}
		if h.OtherFrom < h.OtherTo && !others {
			base = h.To
		}
		rest := func() {
			for ; base < h.To; base++ {
				if f.lines[base].hash != textdiff.Hash("") && !dropped[base] { // a blank line that goes is no change
					add(-1, f.lines[base].hash)
				}
			}
		}
		for j := h.OtherFrom; j < h.OtherTo; j++ {
			if shared(j) {
				add(j, 0)
			} else {
				rest()
			}
		}
		rest()
	}
	for ; base < len(pairs); base++ {
		add(pairs[base], f.lines[base].hash)
	}
}

// dropped are the lines of the base that stand for values of a person's that today's has by now.
func (m *merger) dropped(f knownFile, h textdiff.Hunk) map[int]bool {
	dropped := map[int]bool{}
	for j := h.OtherFrom; j < h.OtherTo; j++ {
		was, ok := m.values[j]
		if !ok {
			continue
		}
		at := -1
		for i := h.To - 1; i >= h.From; i-- {
			if slices.Contains(was.forms, f.lines[i].hash) || at < 0 && !dropped[i] && f.lines[i].hash != textdiff.Hash("") {
				at = i
			}
		}
		if at >= 0 {
			dropped[at] = true
		}
	}
	return dropped
}

// scaffolded tells whether the lines of mine in a change are what another scaffold writes there.
func (m *merger) scaffolded(h textdiff.Hunk, inMine, inTheirs map[string]int) bool {
	of := h.From < h.To // else they are additions, of which only those about a resource of the project count
	for _, l := range m.mine[h.OtherFrom:h.OtherTo] {
		if l.text == "" {
			continue
		}
		if !m.isKnown(l) && !m.chosen(l) || len(l.versions) > 0 && !m.raisable(l) || toggles(l.text, inTheirs) {
			return false
		}
		of = of || inMine[l.text] == 1 && m.isKnown(line{forms: l.forms[l.own:]})
	}
	return of && h.OtherFrom < h.OtherTo
}

// chosen tells that a line was commented in for webhooks, in a kustomization that has them in another form today.
// There is nothing to keep of it then.
func (m *merger) chosen(l line) bool {
	if m.name != "config/default/kustomization.yaml" || strings.HasPrefix(l.text, "#") || strings.Contains(l.text, "Labels") {
		return false
	}
	for _, folder := range []string{"- ../webhook", "- ../certmanager"} {
		if !slices.ContainsFunc(m.theirs, func(t line) bool { return t.text == folder }) {
			return false
		}
	}
	return m.isKnown(m.commented(l))
}

// commented is a line as it is when it is commented out.
func (m *merger) commented(l line) line { return m.words.lines([]byte("#" + l.text))[0] }

// isKnown tells that a line is one of a scaffold's.
func (m *merger) isKnown(l line) bool {
	return slices.ContainsFunc(l.forms, func(form uint64) bool { return m.known[form] })
}

// toggles tells that a line is one of theirs, commented out or in: a choice of the project's.
func toggles(text string, inTheirs map[string]int) bool {
	if inTheirs[text] > 0 {
		return false
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]
	rest := text[len(indent):]
	if off, ok := strings.CutPrefix(rest, "#"); ok {
		return inTheirs[indent+off] > 0 || inTheirs[indent+strings.TrimPrefix(off, " ")] > 0 || inTheirs[off] > 0
	}
	return inTheirs[indent+"#"+rest] > 0 || inTheirs[indent+"# "+rest] > 0 || inTheirs["#"+text] > 0
}

// counts tells how often each line occurs.
func counts(lines []line) map[string]int {
	n := map[string]int{}
	for _, l := range lines {
		n[l.text]++
	}
	return n
}
