package gotest

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The elements of a JUnit report, with one suite for each package.
type (
	junitReport struct {
		XMLName xml.Name `xml:"testsuites"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name  string `xml:"name,attr"`
		Start string `xml:"timestamp,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     seconds `xml:"time,attr"`
	}
	junitCase struct {
		Package string      `xml:"classname,attr"`
		Name    string      `xml:"name,attr"`
		Time    seconds     `xml:"time,attr"`
		Failure *junitFault `xml:"failure"`
		Error   *junitFault `xml:"error"`
		Skipped *junitFault `xml:"skipped"`
	}
	junitFault struct {
		Message string `xml:"message,attr"`
		Log     string `xml:",chardata"`
	}
	seconds float64
)

// MarshalText implements encoding.TextMarshaler.
func (s seconds) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%.3f", float64(s)), nil }

// WriteJUnit writes a JUnit report of runs that have ended.
func WriteJUnit(out io.Writer, runs ...*Run) error {
	var report junitReport
	for _, r := range runs {
		for _, p := range slices.SortedFunc(slices.Values(r.packages), func(a, b *pkg) int { return strings.Compare(a.name, b.name) }) {
			s := p.suite(r.Suffix)
			report.add(s.junitCounts)
			report.Suites = append(report.Suites, s)
		}
	}
	data, err := xml.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s%s\n", xml.Header, data)
	return err
}

func (c *junitCounts) add(more junitCounts) {
	c.Tests += more.Tests
	c.Failures += more.Failures
	c.Errors += more.Errors
	c.Skipped += more.Skipped
	c.Time += more.Time
}

func (p *pkg) suite(suffix string) junitSuite {
	s := junitSuite{Name: p.name + suffix, Start: p.start.UTC().Format(time.RFC3339), junitCounts: junitCounts{Time: seconds(p.elapsed)}}
	for _, t := range p.tests {
		c := junitCase{Package: s.Name, Name: t.name, Time: seconds(t.elapsed)}
		switch {
		case t.action == "skip":
			s.Skipped++
			c.Skipped = &junitFault{Message: "skipped", Log: t.log()}
		case t.failed():
			s.Failures++
			c.Failure = &junitFault{Message: "failed", Log: t.log()}
		}
		s.Cases = append(s.Cases, c)
	}
	if p.action != "pass" && p.action != "skip" && s.Failures == 0 { // it wasn't built, or ended outside of its tests
		s.Errors++
		fault := &junitFault{Message: "the package failed", Log: p.build + strings.Join(p.output, "")}
		s.Cases = append(s.Cases, junitCase{Package: s.Name, Name: "(package)", Error: fault})
	}
	s.Tests = len(s.Cases)
	return s
}
