package diag

import (
	"errors"
	"reflect"
	"slices"
	"strings"
)

// A Group is an error that lists problems below a heading, and advice about all of them below these.
type Group struct {
	// Heading ends with a colon. If it is empty, the problems stand on their own, and only the advice is added to them.
	Heading string
	// Err contains the problems: Findings, the result of errors.Join, another group, or a single error.
	Err error
	// Advice are lines about what to do.
	Advice []string
	// Joined selects the text of one message: its lines after the first are indented, and all Findings are listed.
	Joined bool
}

// Error returns heading, problems and advice, one below the other.
func (g *Group) Error() string {
	lines := []string{g.Err.Error()}
	if findings, ok := g.Err.(Findings); ok && g.Joined {
		lines = nil
		for _, f := range findings {
			lines = append(lines, "  "+strings.ReplaceAll(f.Error(), "\n", "\n  "))
		}
	}
	if g.Heading != "" {
		lines = slices.Insert(lines, 0, g.Heading)
	}
	return strings.Join(append(lines, g.Advice...), "\n")
}

// Unwrap returns the problems.
func (g *Group) Unwrap() error { return g.Err }

// Advise returns an error with the problems of err and lines about what to do.
func Advise(err error, advice ...string) error { return &Group{Err: err, Advice: advice} }

// Explain is like Advise for a cause and a remedy that are one message.
func Explain(err error, advice ...string) error {
	return &Group{Err: err, Advice: advice, Joined: true}
}

// List returns an error that lists problems below a heading, and advice below these, in one message.
func List(heading string, problems Findings, advice ...string) error {
	return &Group{Heading: heading, Err: problems, Advice: advice, Joined: true}
}

// WithFix returns err with a fix behind its text. A finding about a place in a file stays one.
func WithFix(err error, fix string) error {
	finding, ok := err.(Finding)
	if !ok || finding.UsageError() { // the text of a value has no fix
		finding = Finding{Problem: err.Error(), Err: err}
	}
	if finding.Fix != "" {
		fix = finding.Fix + "; " + fix
	}
	finding.Fix = fix
	return finding
}

// Lines is like List for problems that are not indented below the heading.
func Lines(heading string, problems Findings, advice ...string) error {
	return &Group{Heading: heading, Err: errors.Join(problems.Unwrap()...), Advice: advice, Joined: true}
}

// A Section is a part of an error: findings, with a heading if they have one, and advice about them.
type Section struct {
	Heading  string
	Findings Findings
	Advice   []string
	// most is the number of findings that are printed as text; 0 is all.
	most int
}

// Shown returns the findings that are printed as text, and the lines below them: how many others there are, and the advice.
func (s Section) Shown() (Findings, []string) {
	if s.most == 0 {
		return s.Findings, s.Advice
	}
	first, rest := Shorten(s.Findings, "finding")
	return first, slices.Concat(rest, s.Advice)
}

// All returns the heading, as a finding, and all findings.
func (s Section) All() Findings {
	if s.Heading == "" {
		return s.Findings
	}
	return slices.Insert(slices.Clone(s.Findings), 0, Finding{Problem: s.Heading})
}

// Sections returns the parts of an error without repetitions: several checks may have the same finding. Errors that list others are
// Findings, groups and the results of errors.Join, also below errors that add nothing to their text. Any other error is one finding.
func Sections(err error) []Section { return distinct(sections(err, false)) }

// Messages is like Sections for people: a joined group is one finding.
func Messages(err error) []Section { return distinct(sections(err, true)) }

func distinct(all []Section) []Section {
	seen, advice := map[identity]bool{}, map[string]bool{}
	for i, s := range all {
		all[i].Findings = s.Findings.without(seen)
		all[i].Advice = slices.DeleteFunc(slices.Clone(s.Advice), func(line string) bool { return isRepeated(advice, line) })
	}
	return slices.DeleteFunc(all, func(s Section) bool { return len(s.Findings)+len(s.Advice) == 0 })
}

func sections(err error, joined bool) []Section {
	switch err := err.(type) {
	case nil:
		return nil
	case Finding:
		return []Section{{Findings: Findings{err}}}
	case Findings:
		return []Section{{Findings: err, most: MaxListed}}
	case *Group:
		if joined && err.Joined {
			return single(err)
		}
		return err.sections(joined)
	}
	// errors.Join's type is not exported. That of fmt.Errorf with several %w also has Unwrap() []error, but its text is not a list.
	if reflect.TypeOf(err) == reflect.TypeOf(errors.Join(err)) {
		var all []Section
		for _, part := range err.(interface{ Unwrap() []error }).Unwrap() {
			all = append(all, sections(part, joined)...)
		}
		return all
	}
	if cause := errors.Unwrap(err); cause != nil && cause.Error() == err.Error() {
		return sections(cause, joined)
	}
	return single(err)
}

// single returns an error as one finding.
func single(err error) []Section {
	cause, _ := errors.AsType[Finding](err)
	return []Section{{Findings: Findings{{Problem: strings.TrimRight(err.Error(), "\n"), Rule: cause.Rule, Err: err}}}}
}

func (g *Group) sections(joined bool) []Section {
	all := sections(g.Err, joined)
	if g.Heading != "" {
		one := Section{Heading: g.Heading}
		for _, s := range all {
			one.Findings, one.Advice, one.most = append(one.Findings, s.All()...), append(one.Advice, s.Advice...), max(one.most, s.most)
		}
		all = []Section{one}
	}
	if len(all) > 0 {
		last := &all[len(all)-1]
		last.Advice = slices.Concat(last.Advice, g.Advice)
	}
	return all
}
