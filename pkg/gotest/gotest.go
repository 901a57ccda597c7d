// Package gotest reads the events of 'go test -json', prints what go test prints without that flag, and writes a JUnit report.
package gotest

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"time"
)

// A Run collects the results of tests. As an io.Writer, it reads the output of 'go test -json'.
type Run struct {
	// Out receives what go test prints without -json, a package at a time.
	Out io.Writer
	// Verbose is whether go test has -v or -bench, with which it prints all output of tests.
	Verbose bool
	// Suffix is appended to the names of packages in the report.
	Suffix string

	partial  []byte
	packages []*pkg
	// builds is the output of builds that failed, by the import path.
	builds map[string]string
	failed bool
}

// event is an event of 'go test -json'; see 'go doc test2json' and 'go help buildjson'.
type event struct {
	Time                time.Time
	Action              string
	Package, ImportPath string
	Test, Output        string
	Elapsed             float64
	FailedBuild         string
}

// pkg is the result of a package.
type pkg struct {
	result

	start time.Time
	tests []*result
	// all is the output in its order.
	all []string
	// build is the output of the build if that failed.
	build string
}

// result is the result of a test, or of a package without its tests.
type result struct {
	name string
	// action is the last one: pass, fail or skip, or another one if the test has not ended.
	action  string
	elapsed float64
	output  []string
	// depth is the number of tests that it is a part of.
	depth int
}

// Write reads a part of the output of go test.
func (r *Run) Write(p []byte) (int, error) {
	r.partial = append(r.partial, p...)
	for {
		line, rest, found := bytes.Cut(r.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		r.partial = rest
		if err := r.read(line); err != nil {
			return 0, err
		}
	}
}

// Close prints what is left after the end of go test.
func (r *Run) Close() error {
	rest := r.partial
	r.partial = nil
	if r.failed {
		rest = append(rest, "FAIL\n"...) // the only line of go test that isn't an event
	}
	_, err := r.Out.Write(rest)
	return err
}

// read reads a line, which is an event or what go prints before it runs tests.
func (r *Run) read(line []byte) error {
	var e event
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil {
		_, err := r.Out.Write(append(line, '\n'))
		return err
	}
	switch {
	case e.Action == "build-output":
		if r.builds == nil {
			r.builds = map[string]string{}
		}
		r.builds[e.ImportPath] += e.Output
	case e.Package != "":
		p := r.find(e)
		p.add(e)
		if e.Test == "" && slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			p.build = r.builds[e.FailedBuild]
			r.failed = r.failed || e.Action == "fail"
			_, err := io.WriteString(r.Out, p.text(r.Verbose))
			return err
		}
	}
	return nil
}

func (r *Run) find(e event) *pkg {
	i := slices.IndexFunc(r.packages, func(p *pkg) bool { return p.name == e.Package })
	if i < 0 {
		i = len(r.packages)
		r.packages = append(r.packages, &pkg{result: result{name: e.Package}, start: e.Time})
	}
	return r.packages[i]
}

// add adds an event to the results.
func (p *pkg) add(e event) {
	to := &p.result
	if e.Test != "" {
		i := slices.IndexFunc(p.tests, func(t *result) bool { return t.name == e.Test })
		if i < 0 {
			i = len(p.tests)
			p.tests = append(p.tests, &result{name: e.Test, depth: p.depthOf(e.Test)})
		}
		to = p.tests[i]
	}
	if e.Action == "output" {
		to.output = append(to.output, e.Output)
		p.all = append(p.all, e.Output)
		return
	}
	to.action, to.elapsed = e.Action, e.Elapsed
}

// depthOf returns the number of tests that a new one is a part of. Its own name can contain slashes, too.
func (p *pkg) depthOf(test string) (depth int) {
	for _, t := range p.tests {
		if strings.HasPrefix(test, t.name+"/") {
			depth++
		}
	}
	return depth
}

// text returns what go test prints for a package that has ended.
func (p *pkg) text(verbose bool) string {
	switch {
	case verbose:
		return p.build + strings.Join(p.all, "")
	case p.action != "fail":
		if n := len(p.output); n > 0 {
			return p.output[n-1] // the others say PASS, or come from the tests
		}
		return ""
	}
	text := p.build
	for _, t := range p.tests {
		if t.failed() {
			text += t.log()
		}
	}
	return text + strings.Join(p.output, "")
}

// failed reports whether a test failed. If the program ended before, the test has no result.
func (t *result) failed() bool { return !slices.Contains([]string{"pass", "skip", "bench"}, t.action) }

// log returns the output of a test, with the line of the result first, as go test prints it.
func (t *result) log() string {
	indent := strings.Repeat("    ", t.depth)
	var head, log string
	for _, line := range t.output {
		switch {
		case strings.HasPrefix(line, "--- "):
			head += indent + line
		case !strings.HasPrefix(line, "=== "):
			log += indent + line
		}
	}
	return head + log
}
