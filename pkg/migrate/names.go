package migrate

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// Names are the parts of scaffolded texts that differ between projects. Facts are compared without them.
type Names struct {
	Project, Domain, Repo string
	Resources             []Resource
}

// Resource holds the names of one resource.
type Resource struct{ Group, Version, Kind, Plural string }

type pair struct{ name, token string }

// pairs returns the repository, the domain, the project, the image of the end-to-end tests, which may start with the
// repository, and the prefix of the leader election ID.
func (n Names) pairs() []pair {
	return []pair{
		{n.Repo, "\x01r"}, {n.Domain, "\x01d"}, {n.Project, "\x01p"}, {"example.com/" + n.Project + ":v", "\x01i"},
		{electionID(n.Repo), "\x01l"},
	}
}

// electionID returns the leader election ID, without its domain, as kubebuilder derives it.
func electionID(repo string) string {
	h := fnv.New32a()
	h.Write([]byte(repo)) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
}

// kindPairs returns the names of a resource without its version, which is often part of other text, such as the v1 of
// rbac.authorization.k8s.io/v1.
func (r Resource) kindPairs() []pair {
	return []pair{{r.Group, "\x01g"}, {r.Kind, "\x01K"}, {strings.ToLower(r.Kind), "\x01k"}, {r.Plural, "\x01s"}}
}

func (r Resource) versionPair() pair { return pair{r.Version, "\x01v"} }

// A normalizer removes the names from facts. If a name is part of another one, or of a word of the scaffold, a fact has
// several forms.
type normalizer struct {
	project, resources []*strings.Replacer
	// known caches the forms of facts, which are the same for all releases.
	known map[string][]uint64
}

func newNormalizer(n Names) *normalizer {
	all := n.pairs()
	repo, domain, rest := all[:1], all[1:2], all[2:]
	z := &normalizer{known: map[string][]uint64{}}
	// The name of the repository may be that of an image, and the domain that of an example.
	for _, pairs := range [][]pair{all, slices.Concat(domain, rest), slices.Concat(repo, rest), rest} {
		z.project = append(z.project, replacer(pairs))
	}
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
	}
	if len(found) > 1 { // facts about the order of units contain the names of several resources
		z.resources = append(z.resources, replacer(every))
	}
	return z
}

// replacer replaces the longest name first, because names may contain others.
func replacer(pairs []pair) *strings.Replacer {
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(len(b.name), len(a.name)) })
	var args []string
	for _, p := range pairs {
		if p.name != "" {
			args = append(args, p.name, p.token)
		}
	}
	return strings.NewReplacer(args...)
}

// factText returns a fact in one string.
func factText(f merge.Fact) string {
	return strings.Join(f.Path, "\x00") + "\x00" + string(f.Part) + "\x00" + strings.Join(f.Lines, "\n")
}

// forms returns the hashes of all forms of a fact. Callers must not change the result.
func (z *normalizer) forms(text string) []uint64 {
	if forms, ok := z.known[text]; ok {
		return forms
	}
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
	z.known[text] = slices.Clip(forms)
	return z.known[text]
}
