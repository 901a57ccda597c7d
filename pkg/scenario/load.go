package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/diag"
)

// Names returns the names of the scenarios of a project, in their order.
func Names(project fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(project, Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", Dir, diag.Cause(err))
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Options are the options of Load.
type Options struct {
	// Names selects scenarios; none means all.
	Names []string
	// Namespace replaces the namespaces of the scenarios, unless it is empty.
	Namespace string
}

// Load reads scenarios of a project, in the order of their names. The error lists all problems.
func Load(project fs.FS, o Options) ([]*Scenario, error) {
	all, err := Names(project)
	if err != nil {
		return nil, err
	}
	var findings diag.Findings
	for _, name := range o.Names {
		if !slices.Contains(all, name) {
			findings = append(findings, unknownScenario(name, all))
		}
	}
	if len(findings) > 0 {
		return nil, findings
	}
	var scenarios []*Scenario
	for _, name := range all {
		if len(o.Names) > 0 && !slices.Contains(o.Names, name) {
			continue
		}
		p := &parser{project: project, dir: path.Join(Dir, name), namespace: o.Namespace}
		if s := p.scenario(name); s != nil {
			scenarios = append(scenarios, s)
		}
		findings = append(findings, p.findings...)
	}
	return scenarios, findings.Err()
}

func unknownScenario(name string, all []string) diag.Finding {
	f := diag.Finding{Field: "--scenario", Value: name, Problem: fmt.Sprintf("the directory %s doesn't exist", path.Join(Dir, name))}
	if len(all) > 0 {
		f.Problem += "; scenarios are " + strings.Join(all, ", ")
	}
	f.Suggestion, _ = diag.Nearest(name, all)
	return f
}

// A parser reads one scenario.
type parser struct {
	project fs.FS
	// dir is the directory of the scenario, and file the one that is read.
	dir, file string
	// namespace is that of the scenario; empty until it is known.
	namespace string
	bindings  bindings
	// checking reports whether an assertion is read, in which keys can select elements of lists.
	checking bool
	timeouts timeouts
	findings diag.Findings
}

// testFiles are the names of files with a Test.
var testFiles = [...]string{"chainsaw-test.yaml", "chainsaw-test.yml"}

// scenario returns nil if the scenario is to be skipped.
func (p *parser) scenario(name string) *Scenario {
	s := &Scenario{Name: name}
	p.timeouts = defaultTimeouts()
	for _, file := range testFiles {
		if _, err := fs.Stat(p.project, path.Join(p.dir, file)); err == nil {
			if !p.test(path.Join(p.dir, file), s) {
				return nil
			}
			return s
		}
	}
	s.Namespace = p.setNamespace(namespaceOf(name))
	s.Steps = p.numbered()
	if len(s.Steps) == 0 && len(p.findings) == 0 {
		p.findings = append(p.findings, diag.Finding{
			Position: diag.Position{File: p.dir}, Problem: "has no steps",
			Fix: "add " + testFiles[0] + ", or files such as 00-install.yaml and 01-assert.yaml",
		})
	}
	return s
}

// setNamespace sets the namespace of the scenario unless another one was given, and returns it.
func (p *parser) setNamespace(name string) string {
	if p.namespace == "" {
		p.namespace = name
	}
	p.bindText("namespace", p.namespace)
	return p.namespace
}

// namespaceOf returns the namespace of a scenario without another one.
func namespaceOf(name string) string {
	valid := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}
	namespace := "operon-" + strings.Map(valid, strings.ToLower(name))
	return strings.TrimRight(namespace[:min(len(namespace), validation.DNS1123LabelMaxLength)], "-")
}
