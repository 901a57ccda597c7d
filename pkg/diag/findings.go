package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Findings are all findings of an input, so that the user can correct them at once.
type Findings []Finding

// Error lists the first findings, one per line.
func (f Findings) Error() string {
	first, lines := Shorten(f, "finding")
	for i, one := range first {
		lines = slices.Insert(lines, i, one.Error())
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the findings.
func (f Findings) Unwrap() []error {
	errs := make([]error, len(f))
	for i, one := range f {
		errs[i] = one
	}
	return errs
}

// Add adds a finding about a value that the user gave.
func (f *Findings) Add(field, value, problem string) {
	*f = append(*f, Finding{Field: field, Value: value, Problem: problem})
}

// Addf adds a finding about a place in a file.
func (f *Findings) Addf(at Position, format string, args ...any) {
	*f = append(*f, Finding{Position: at, Problem: fmt.Sprintf(format, args...)})
}

// Err returns the findings as an error, or nil if there are none.
func (f Findings) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Sort sorts findings by position and problem, in place, and returns them without duplicates.
func (f Findings) Sort() Findings {
	slices.SortFunc(f, func(a, b Finding) int {
		return cmp.Or(a.Position.Compare(b.Position), strings.Compare(a.Problem, b.Problem))
	})
	return slices.CompactFunc(f, func(a, b Finding) bool { return a.Position == b.Position && a.Problem == b.Problem })
}

// Collapse shortens findings for people: of more than three with the same text, it returns only the first, with their Count.
func (f Findings) Collapse() Findings {
	const most = 3
	type text struct{ object, problem, fix, rule string }
	said := func(f Finding) text { return text{f.Object, f.Problem, f.Fix, f.Rule} }
	counts := map[text]int{}
	for _, one := range f {
		counts[said(one)]++
	}
	var out Findings
	for _, one := range f {
		switch n := counts[said(one)]; {
		case n < 0: // the first is in the list
			continue
		case n > most:
			one.Count, counts[said(one)] = n, -1
		}
		out = append(out, one)
	}
	return out
}

// WithRule returns the findings with a rule.
func (f Findings) WithRule(rule string) Findings {
	return slices.DeleteFunc(slices.Clone(f), func(one Finding) bool { return one.Rule != rule })
}

// Distinct returns the findings without repetitions, in their order.
func (f Findings) Distinct() Findings { return f.without(map[identity]bool{}) }

// Has reports whether a finding with the same position, text and rule is among the findings.
func (f Findings) Has(other Finding) bool {
	return slices.ContainsFunc(f, func(one Finding) bool { return one.identity() == other.identity() })
}

// identity distinguishes findings.
type identity struct {
	Position
	message, rule string
}

func (f Finding) identity() identity { return identity{f.Position, f.Message(), f.Rule} }

// isRepeated reports whether a key was seen before, and adds it.
func isRepeated[K comparable](seen map[K]bool, key K) bool {
	repeated := seen[key]
	seen[key] = true
	return repeated
}

// without returns the findings that are not among those seen, each once, and adds them to these.
func (f Findings) without(seen map[identity]bool) Findings {
	return slices.DeleteFunc(slices.Clone(f), func(one Finding) bool {
		return isRepeated(seen, one.identity())
	})
}
