package migrate

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/merge"
)

// identify returns the release that scaffolded the project: the one with the most facts of the project's files. Among
// equals, it is this program, the release in PROJECT, or the latest one. The zero value means this program.
func (u *upgrader) identify() Release {
	counts := make([]int, len(u.o.Fingerprints.releases))
	current := 0
	for name, text := range u.ours {
		this := u.ownFacts(name)
		_, isCurrent := u.theirs[name]
		known := u.o.Fingerprints.files[name]
		for _, fact := range facts(name, text) {
			if fact.Part != merge.HeadLines || len(fact.Lines) == 0 {
				continue
			}
			if text := factText(fact); this[text] {
				current++
			}
			forms := u.normalizer.formsIn(known, factText(fact))
			fact.Part += merge.SwitchedOn
			forms = slices.Concat(forms, u.normalizer.formsIn(known, factText(fact)))
			for i, r := range u.o.Fingerprints.releases {
				if r.Tool == ownTool && !isCurrent {
					continue // a file for other content, which this program may write, too
				}
				if slices.ContainsFunc(forms, func(h uint64) bool { return known[h] != nil && known[h].Bit(i) == 1 }) {
					counts[i]++
				}
			}
		}
	}
	best, most := -1, current
	for i, n := range counts {
		if !u.isCandidate(u.o.Fingerprints.releases[i]) {
			continue
		}
		if n > most || n == most && best >= 0 && u.prefer(i, best) {
			best, most = i, n
		}
	}
	if best < 0 {
		return Release{}
	}
	return u.o.Fingerprints.releases[best]
}

// isCandidate reports whether a release can have scaffolded the project, according to PROJECT, in which this program
// writes the same as its peers. If none can, all are candidates.
func (u *upgrader) isCandidate(r Release) bool {
	fits := func(r Release) bool { return (r.Tool == u.o.Tool || r.Tool == ownTool) && r.Layout == u.o.Layout }
	return fits(r) || !slices.ContainsFunc(u.o.Fingerprints.releases, fits)
}

// prefer reports whether release i is preferred to j for a project that matches both equally.
func (u *upgrader) prefer(i, j int) bool {
	a, b := u.o.Fingerprints.releases[i], u.o.Fingerprints.releases[j]
	if v := minor(u.o.CLIVersion); v != "" && (a.Version == v) != (b.Version == v) {
		return a.Version == v
	}
	return compareReleases(a, b) > 0
}

// ownFacts returns the facts of a file in the current scaffold.
func (u *upgrader) ownFacts(name string) map[string]bool {
	current := map[string]bool{}
	if text, ok := u.theirs[name]; ok {
		for _, fact := range facts(name, text) {
			current[factText(fact)] = true
		}
	}
	return current
}

// similar is the minimum share of units with which a file counts as written by the release.
const similar = 0.3

// certain is the minimum share with which a file counts as written by a release other than the project's.
const certain = 0.8

// baseOf returns the base of a file: from the project's release, or from another release if only that matches the
// file. It is nil if no release matches.
func (u *upgrader) baseOf(name string) *base {
	known := u.o.Fingerprints.files[name]
	if known == nil {
		return nil
	}
	all := facts(name, u.ours[name])
	if u.result.From != (Release{}) {
		if current := u.releaseBase(name); share(all, current, similar) >= similar {
			return current
		}
	}
	var best *base
	most := similar
	for i := range u.o.Fingerprints.releases {
		b := u.newBase(name, i)
		if s := share(all, b, most); s > most {
			best, most = b, s
		}
	}
	return best
}

// origin returns the base of a file in the scaffold that wrote it, which is empty for files of the user.
func (u *upgrader) origin(name string) merge.Base {
	if b := u.baseOf(name); b != nil && (u.result.From != (Release{}) || !u.isCurrent(name)) {
		return b
	}
	return ownBase(u.ownFacts(name))
}

// isCurrent reports whether a file matches the current scaffold at least as well as any older release.
func (u *upgrader) isCurrent(name string) bool {
	all := facts(name, u.ours[name])
	own := share(all, ownBase(u.ownFacts(name)), similar)
	most := own
	if own < similar {
		most = certain
	}
	for i := range u.o.Fingerprints.releases {
		if own < 1 && share(all, u.newBase(name, i), most) > most {
			return false
		}
	}
	return true
}

// ownBase is a file of the current scaffold.
type ownBase map[string]bool

func (b ownBase) Has(f merge.Fact) bool { return b[factText(f)] }

// share returns the share of units whose lines the base has, or 0 if it is less than least.
func share(all []merge.Fact, b merge.Base, least float64) float64 {
	b = merge.WithOptions(b)
	all = slices.DeleteFunc(slices.Clone(all), func(f merge.Fact) bool { return f.Part != merge.HeadLines || len(f.Lines) == 0 })
	if len(all) == 0 {
		return 1
	}
	found := 0
	for i, fact := range all {
		if b.Has(fact) {
			found++
		}
		if possible := found + len(all) - i - 1; float64(possible)/float64(len(all)) < least {
			return 0
		}
	}
	return float64(found) / float64(len(all))
}
