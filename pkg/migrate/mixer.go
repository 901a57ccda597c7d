package migrate

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A mixer finds the forms of a fact in which some words have the names of the project replaced and others do not. They match the
// scaffold of a project whose name is a word of scaffolds: in one called "project", the namespace "project-system" contains the name,
// and the comment "the root of the project" does not.
type mixer struct {
	// phrases replace the names that are more than one word, such as the repository.
	phrases []*strings.Replacer
	// names are the project's names and, in each further item, lists of these and the names of one resource, longest first.
	names [][][]pair
	// options caches, by word and index in names, the word and what it can be replaced with.
	options map[string]map[int][]string
	// limit is the maximum number of forms for each item of names. A text with more forms has many words with names, which are hardly
	// all of them words of the scaffold, too.
	limit int
}

// The limits for facts, which can have many lines, and for single lines.
const (
	factForms = 1 << 12
	lineForms = 1 << 14
)

// maxMixedSize limits the total size of the forms for each item of names, in bytes.
const maxMixedSize = 4 << 20

// maxOptions limits the options of a word.
const maxOptions = 64

// word matches a word that can contain names. The byte 1 begins a replaced name.
var word = lazyregexp.New("[A-Za-z0-9_\x01-]+")

func newMixer() *mixer { return &mixer{options: map[string]map[int][]string{}, limit: factForms} }

// addPhrases adds the names that are more than one word.
func (m *mixer) addPhrases(pairs []pair) {
	m.phrases = append(m.phrases, replacer(slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return word.FindString(p.name) == p.name })))
}

// addNames adds lists of names that occur together.
func (m *mixer) addNames(lists ...[]pair) {
	var names [][]pair
	for _, list := range lists {
		names = append(names, longestFirst(list))
	}
	m.names = append(m.names, names)
}

// forms returns the forms of a text.
func (m *mixer) forms(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var texts []string
		for _, phrases := range m.phrases {
			if t := phrases.Replace(text); !slices.Contains(texts, t) {
				texts = append(texts, t)
			}
		}
		for _, t := range texts {
			words := word.FindAllStringIndex(t, -1)
			named := map[int]bool{} // items of names that are in the text
			for _, at := range words {
				for i := range m.optionsOf(t[at[0]:at[1]]) {
					named[i] = true
				}
			}
			if len(named) == 0 && !yield(t) {
				return
			}
			for _, i := range slices.Sorted(maps.Keys(named)) {
				var places []place
				for _, at := range words {
					all := m.optionsOf(t[at[0]:at[1]])
					options, ok := all[i]
					if !ok {
						options = all[0]
					}
					if options != nil {
						places = append(places, place{at[0], at[1], options})
					}
				}
				if !m.eachChoice(t, places, yield) {
					return
				}
			}
		}
	}
}

// A place is a word of a text that contains names. The first option is the word.
type place struct {
	start, end int
	options    []string
}

// optionsOf returns the options of a word that contains names.
func (m *mixer) optionsOf(w string) map[int][]string {
	if found, ok := m.options[w]; ok {
		return found
	}
	var found map[int][]string
	for i, pairs := range m.names {
		options := replacements(w, pairs)
		if len(options) == 1 || i > 0 && slices.Equal(options, found[0]) {
			continue
		}
		if found == nil {
			found = map[int][]string{}
		}
		found[i] = options
	}
	m.options[w] = found
	return found
}

// replacements returns a word and what it can be replaced with: some of the names in it are replaced. Equal names, as of a project and a
// group, are replaced with each of their tokens.
func replacements(w string, lists [][]pair) []string {
	options := []string{w}
	var replace func(done, rest string, pairs []pair)
	replace = func(done, rest string, pairs []pair) {
		for ; rest != "" && len(options) < maxOptions; done, rest = done+rest[:1], rest[1:] {
			at := slices.IndexFunc(pairs, func(p pair) bool { return p.begins(done, rest) })
			if at < 0 {
				continue
			}
			for _, p := range pairs[at:] {
				if p.name != pairs[at].name {
					break
				}
				replaced, rest := done+p.token, rest[len(p.name):]
				if option := replaced + rest; !slices.Contains(options, option) {
					options = append(options, option)
				}
				replace(replaced, rest, pairs)
			}
		}
	}
	for _, pairs := range lists {
		replace("", w, pairs)
	}
	return options
}

// begins reports whether the rest of a word begins with a name. The names of the project are parts of no other words.
func (p pair) begins(done, rest string) bool {
	after, ok := strings.CutPrefix(rest, p.name)
	if !ok || !slices.Contains([]string{"\x01d", "\x01p", "\x01r"}, p.token) {
		return ok
	}
	return (done == "" || !isAlphanumeric(done[len(done)-1])) && (after == "" || !isAlphanumeric(after[0]))
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// eachChoice yields a text with each combination of the options of its words. If there are too many, words with the same characters
// around them have the same option, and if there are still too many, equal words.
func (m *mixer) eachChoice(text string, places []place, yield func(string) bool) bool {
	for _, key := range []func(int, place) string{
		func(i int, _ place) string { return strconv.Itoa(i) },
		func(_ int, p place) string { return text[max(0, p.start-2):min(len(text), p.end+2)] },
		func(_ int, p place) string { return text[p.start:p.end] },
	} {
		var groups []string // of places that have the same option
		var sizes []int
		group, total := make([]int, len(places)), 1
		for i, p := range places {
			k := key(i, p)
			if group[i] = slices.Index(groups, k); group[i] < 0 {
				group[i] = len(groups)
				groups, sizes = append(groups, k), append(sizes, len(p.options))
				total = min(total*len(p.options), m.limit+1)
			}
		}
		if total > m.limit || total*len(text) > maxMixedSize {
			continue
		}
		for n := range total {
			var form strings.Builder
			end, chosen := 0, make([]int, len(sizes))
			for i, size := range sizes {
				chosen[i] = n % size
				n /= size
			}
			for i, p := range places {
				form.WriteString(text[end:p.start])
				form.WriteString(p.options[chosen[group[i]]])
				end = p.end
			}
			form.WriteString(text[end:])
			if !yield(form.String()) {
				return false
			}
		}
		return true
	}
	return true
}
