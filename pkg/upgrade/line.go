package upgrade

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// Names are what a scaffold puts into its texts. They differ from project to project, and the texts of two
// projects are compared without them.
type Names struct {
	Project, Domain, Repo string
	Resources             []Resource
}

// Resource are the names of one resource.
type Resource struct{ Group, Version, Kind, Plural string }

// words takes the names out of lines, in several ways: where one name is part of another, or of a word that the
// scaffold has too, no single way is right for all lines.
type words struct {
	project, resources []*strings.Replacer
}

func newWords(n Names) *words {
	w := &words{}
	project := n.pairs()
	repo, domain, rest := project[:1], project[1:2], project[2:]
	// The repository's name may be an image's, and the domain one of an example.
	for _, pairs := range [][]pair{project, slices.Concat(domain, rest), slices.Concat(repo, rest), rest} {
		w.project = append(w.project, replacer(slices.Clone(pairs)))
	}
	seen := map[Resource]bool{}
	for _, r := range n.Resources {
		if !seen[r] {
			seen[r] = true
			w.resources = append(w.resources, replacer(append(n.pairs(), r.pairs()...)))
			if r.Plural == strings.ToLower(r.Kind) { // one word for both, such as redis
				plural := slices.DeleteFunc(r.pairs(), func(p pair) bool { return p.token == "\x01k" })
				w.resources = append(w.resources, replacer(append(n.pairs(), plural...)))
			}
		}
	}
	return w
}

type pair struct{ name, token string }

// pairs returns the repository, the domain, the project, and the prefix of the leader election ID, which scaffolds
// derive from the repository.
func (n Names) pairs() []pair {
	return []pair{{n.Repo, "\x01r"}, {n.Domain, "\x01d"}, {n.Project, "\x01p"}, {electionID(n.Repo), "\x01l"}}
}

// electionID returns the leader election ID, without its domain, as kubebuilder derives it.
func electionID(repo string) string {
	h := fnv.New32a()
	h.Write([]byte(repo)) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
}

func (r Resource) pairs() []pair {
	return []pair{
		{r.Group, "\x01g"}, {r.Version, "\x01v"}, {r.Kind, "\x01K"}, {strings.ToLower(r.Kind), "\x01k"}, {r.Plural, "\x01s"},
	}
}

// replacer replaces the longest name first, so that a name inside of another does not break it apart.
func replacer(pairs []pair) *strings.Replacer {
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(len(b.name), len(a.name)) })
	var args []string
	for _, p := range pairs {
		if p.name != "" {
			args = append(args, p.name, p.token)
		}
	}
	return strings.NewReplacer(args...)
}

// line is a line of a text in the forms in which it is compared.
type line struct {
	text string
	// forms are the hashes of the line without names and versions, in all ways to take the names out.
	forms []uint64
	// own counts the forms without names of resources, bare is the one without any name.
	own  int
	bare uint64
	// plain is the line without its versions, which are in versions.
	plain    string
	versions []string
}

// lines splits a text. The ends of lines and spaces before them do not count.
func (w *words) lines(text []byte) []line {
	var all []line
	for text := range strings.Lines(string(text)) {
		text = strings.TrimRight(text, " \t\r\n")
		l := line{text: text}
		l.plain, l.versions = cutVersions(aligned(text))
		l.forms = []uint64{textdiff.Hash(l.plain)}
		l.add(w.project)
		l.own = len(l.forms)
		l.add(w.resources)
		all = append(all, l)
	}
	return all
}

func (l *line) add(replacers []*strings.Replacer) {
	for _, r := range replacers {
		form, _ := cutVersions(aligned(r.Replace(l.text)))
		l.bare = textdiff.Hash(form)
		if !slices.Contains(l.forms, l.bare) {
			l.forms = append(l.forms, l.bare)
		}
	}
}

// aligned leaves one space of all that stand between words, as how many depends on the lines around, and takes the
// year from a copyright.
func aligned(text string) string {
	start := len(text) - len(strings.TrimLeft(text, " \t"))
	words := strings.Fields(text[start:])
	for i, word := range words {
		if year := strings.TrimRight(word, ".,"); i > 0 && words[i-1] == "Copyright" && len(year) == 4 && strings.Trim(year, "0123456789") == "" {
			words[i] = "\x02" + word[4:]
		}
	}
	return text[:start] + strings.Join(words, " ")
}

// cutVersions takes version numbers of two and more parts out of a line.
func cutVersions(text string) (plain string, versions []string) {
	var b strings.Builder
	for i := 0; i < len(text); {
		n := versionLength(text[i:])
		if n == 0 || i > 0 && isWord(text[i-1]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		versions = append(versions, text[i:i+n])
		b.WriteByte(0)
		i += n
	}
	return b.String(), versions
}

func isWord(c byte) bool {
	return c == '.' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// versionLength is how much of a text's beginning is a version: 1.26, v0.18.0. An address is none.
func versionLength(text string) int {
	i := 0
	if strings.HasPrefix(text, "v") {
		i = 1
	}
	dots, digits := 0, 0
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			digits++
			continue
		case c == '.' && digits > 0 && i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9':
			dots, digits = dots+1, 0
			continue
		}
		break
	}
	if dots == 0 || dots > 2 || i < len(text) && isWord(text[i]) {
		return 0
	}
	return i
}

// notAbove tells whether no version of one line is later than that of the other.
func notAbove(versions, limit []string) bool {
	for i, v := range versions {
		if i >= len(limit) || later(v, limit[i]) {
			return false
		}
	}
	return true
}

func later(a, b string) bool {
	x, y := strings.Split(strings.TrimPrefix(a, "v"), "."), strings.Split(strings.TrimPrefix(b, "v"), ".")
	for i := range max(len(x), len(y)) {
		if p, q := number(x, i), number(y, i); p != q {
			return p > q
		}
	}
	return false
}

func number(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return math.MaxInt // too many digits for a number: later than all
	}
	return n
}
