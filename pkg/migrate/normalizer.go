package migrate

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A normalizer removes the names from facts. If a name is part of another one, or of a word of the scaffold, a fact has
// several forms.
type normalizer struct {
	project, resources []*strings.Replacer
	// mixed finds the forms in which only some of the words that contain names have them replaced.
	mixed *mixer
	// known and knownMixed cache the plain and the mixed forms of facts, which are the same for all releases.
	known, knownMixed map[string][]uint64
}

func newNormalizer(n Names) *normalizer {
	all := n.pairs()
	repo, domain, rest := all[:1], all[1:2], all[2:]
	z := &normalizer{known: map[string][]uint64{}, knownMixed: map[string][]uint64{}, mixed: newMixer()}
	// An image may have the repository's name, and an example the domain.
	for _, pairs := range [][]pair{all, slices.Concat(domain, rest), slices.Concat(repo, rest), rest} {
		z.project = append(z.project, replacer(pairs))
		z.mixed.addPhrases(pairs)
	}
	z.mixed.addNames(all)
	found := map[Resource]bool{}
	every := all
	for _, r := range n.Resources {
		if found[r] {
			continue
		}
		found[r] = true
		kind := r.kindPairs()
		every = slices.Concat(every, kind, []pair{r.versionPair()})
		plural := slices.DeleteFunc(slices.Clone(kind), func(p pair) bool { return p.token == "\x01k" })
		for _, names := range [][]pair{kind, plural} {
			if r.Plural != strings.ToLower(r.Kind) && len(names) == len(plural) {
				continue // the only case with two forms is one word for both, such as redis
			}
			z.resources = append(z.resources,
				replacer(slices.Concat(all, names, []pair{r.versionPair()})), replacer(slices.Concat(all, names)),
				replacer(slices.Concat(names, []pair{r.versionPair()})))
		}
		z.mixed.addNames(slices.Concat(all, kind, []pair{r.versionPair()}), kind)
	}
	if len(found) > 1 { // facts about the order of units contain the names of several resources
		z.resources = append(z.resources, replacer(every))
	}
	return z
}

// longestFirst sorts names by their length, because names may contain others. Equal names keep their order.
func longestFirst(pairs []pair) []pair {
	pairs = slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.name == "" })
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(len(b.name), len(a.name)), cmp.Compare(a.name, b.name)) })
	return pairs
}

// replacer replaces the longest name first.
func replacer(pairs []pair) *strings.Replacer {
	var args []string
	for _, p := range longestFirst(pairs) {
		args = append(args, p.name, p.token)
	}
	return strings.NewReplacer(args...)
}

// factText returns a fact in one string.
func factText(f merge.Fact) string {
	return strings.Join(f.Path, "\x00") + "\x00" + string(f.Part) + "\x00" + strings.Join(f.Lines, "\n")
}

// formsIn returns the hashes of the forms of a fact that facts can have: those with all names replaced or none or, if facts have none of
// these, those with some names replaced, which are many. Callers must not change the result.
func (z *normalizer) formsIn(facts map[uint64]*big.Int, text string) []uint64 {
	forms, ok := z.known[text]
	if !ok {
		forms = z.plainForms(text)
		z.known[text] = forms
	}
	if len(facts) == 0 || slices.ContainsFunc(forms, func(h uint64) bool { return facts[h] != nil }) {
		return forms
	}
	mixed, ok := z.knownMixed[text]
	if !ok {
		for form := range z.mixed.forms(text) {
			mixed = append(mixed, textdiff.Hash(form))
		}
		slices.Sort(mixed)
		mixed = slices.Clip(slices.Compact(mixed))
		z.knownMixed[text] = mixed
	}
	return mixed
}

func (z *normalizer) plainForms(text string) []uint64 {
	forms := []uint64{textdiff.Hash(text)}
	for _, list := range [][]*strings.Replacer{z.project, z.resources} {
		for _, r := range list {
			if form := r.Replace(text); form != text {
				if h := textdiff.Hash(form); !slices.Contains(forms, h) {
					forms = append(forms, h)
				}
			}
		}
	}
	return slices.Clip(forms)
}
