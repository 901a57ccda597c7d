package helmkinds

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// A sampleFile is a sample in parts.
type sampleFile struct {
	// notes are the comments that create api writes, head is the rest up to spec.
	notes, head []string
	// set are the values before the first comment in spec, rest is what follows.
	set, rest []string
}

func splitSample(text []byte) sampleFile {
	lines := slices.Collect(strings.Lines(string(text)))
	var s sampleFile
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "spec:") })
	if at < 0 {
		return sampleFile{head: lines}
	}
	for _, line := range lines[:at] {
		if sampleNote.MatchString(strings.TrimRight(line, "\r\n")) {
			s.notes = append(s.notes, line)
		} else {
			s.head = append(s.head, line)
		}
	}
	body := lines[at+1:]
	first := slices.IndexFunc(body, func(line string) bool { return !isSet(line) })
	if first < 0 {
		first = len(body)
	}
	s.set, s.rest = body[:first], body[first:]
	return s
}

// isSet reports whether a line of spec is neither blank nor a comment.
func isSet(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && line[0] != '#'
}

// mergeSample returns the sample that the user may have edited with the comments and examples of the wanted one. full samples have the defaults
// of an earlier chart, which can't be told from edits, so that only examples are added.
func mergeSample(current, wanted []byte, full bool) []byte {
	ours, theirs := splitSample(current), splitSample(wanted)
	set, err := specOf(current)
	if err != nil || ours.notes == nil {
		return current
	}
	missing := missingKeys(theirs.set, set)
	rest := ours.rest
	if !full {
		rest = withSet(theirs.rest, ours.rest)
	}
	for _, attempt := range [][]string{rest, ours.rest} {
		spec := "spec:\n"
		if body := string(joined(ours.set, missing, attempt)); !slices.ContainsFunc(slices.Collect(strings.Lines(body)), isSet) {
			spec = "spec: {}\n"
		}
		object := joined(ours.head, []string{spec}, ours.set, missing, attempt)
		updated := append(joined(notesFor(theirs.notes, wanted, object)), object...)
		if now, err := specOf(updated); err == nil && containsValues(now, set) {
			return updated
		}
	}
	return current
}

const examplesNote = "# The chart requires values that have no default; replace these examples: "

// notesFor returns the comments of the wanted sample. The last one lists the examples that an object still contains.
func notesFor(notes []string, wanted, object []byte) []string {
	last := len(notes) - 1
	list, ok := strings.CutPrefix(notes[max(last, 0)], examplesNote)
	examples, err := specOf(wanted)
	set, setErr := specOf(object)
	if !ok || err != nil || setErr != nil {
		return notes
	}
	var left []string
	for name := range strings.SplitSeq(strings.TrimRight(list, ".\r\n"), ", ") {
		at := strings.Split(name, ".")
		now, _ := helmchart.ValueAt(set, at)
		if example, _ := helmchart.ValueAt(examples, at); reflect.DeepEqual(now, example) {
			left = append(left, name)
		}
	}
	notes = slices.Clone(notes[:last])
	if len(left) > 0 {
		notes = append(notes, examplesNote+strings.Join(left, ", ")+".\n")
	}
	return notes
}

func joined(parts ...[]string) []byte {
	return []byte(strings.Join(slices.Concat(parts...), ""))
}

// missingKeys returns the lines of the keys at the top of spec that values lack.
func missingKeys(lines []string, values map[string]any) []string {
	var missing []string
	add := false
	for _, line := range lines {
		if name, _, ok := strings.Cut(line, ":"); ok && strings.HasPrefix(line, "  ") && line[2] != ' ' && line[2] != '-' {
			_, exists := values[strings.Trim(strings.TrimSpace(name), `"'`)]
			add = !exists
		}
		if add {
			missing = append(missing, line)
		}
	}
	return missing
}

// containsValues reports whether all values are among others.
func containsValues(all, some map[string]any) bool {
	for name := range maps.Keys(some) {
		inner, isMapping := some[name].(map[string]any)
		other, both := all[name].(map[string]any)
		if isMapping && both && !containsValues(other, inner) || !(isMapping && both) && !reflect.DeepEqual(all[name], some[name]) {
			return false
		}
	}
	return true
}

var (
	commentedKey = lazyregexp.New(`^  #( *[^\s#'"-][^:#]*:)(\s|$)`)
	// remark matches a comment that isn't a value of the chart or a comment on one.
	remark = lazyregexp.New(`^  #\s?[^\s#{}\[\]"'-][^:]*$`)
)

// withSet returns the comments of the wanted sample, in which the lines that the user has set, or added as remarks, take the places of those
// for the same keys.
func withSet(wanted, current []string) []string {
	commented := make([]string, len(current))
	for i, line := range current {
		if commented[i] = line; isSet(line) {
			commented[i] = "  # " + strings.TrimPrefix(line, "  ")
		}
	}
	match := textdiff.MatchLines(commented, wanted)
	replaced, added := map[int]string{}, map[int][]string{}
	last := -1
	for i, line := range current {
		switch {
		case match[i] >= 0:
			last = match[i]
			if isSet(line) {
				replaced[last] = line
			}
		case isSet(line):
			if at := keyBetween(wanted, commented[i], last+1, nextMatch(match[i:], len(wanted))); at >= 0 {
				last = at
				replaced[at] = line
			} else {
				added[last] = append(added[last], line)
			}
		case remark.MatchString(line):
			added[last] = append(added[last], line)
		}
	}
	merged := slices.Clone(added[-1])
	for i, line := range wanted {
		if own, ok := replaced[i]; ok {
			line = own
		}
		merged = append(append(merged, line), added[i]...)
	}
	return merged
}

func nextMatch(match []int, none int) int {
	for _, at := range match {
		if at >= 0 {
			return at
		}
	}
	return none
}

// keyBetween returns the line with the key of a commented line, or -1.
func keyBetween(lines []string, commented string, from, to int) int {
	key := commentedKey.FindStringSubmatch(commented)
	if key == nil {
		return -1
	}
	for i := from; i < to; i++ {
		if other := commentedKey.FindStringSubmatch(lines[i]); other != nil && other[1] == key[1] {
			return i
		}
	}
	return -1
}
