package scenario

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// resolve returns the files that the value of file means, which is relative to the scenario and can contain * and ?.
func (p *parser) resolve(node *yaml.Node) []string {
	before := len(p.findings)
	node = withoutAliases(node)
	if p.expressions(node); len(p.findings) > before {
		return nil
	}
	name := node.Value
	full := path.Join(p.dir, name)
	switch {
	case strings.Contains(name, "://"):
		p.addf(node, "file: %q is on another machine; copy it into the project", name)
	case path.IsAbs(name), strings.Contains(name, `\`), !fs.ValidPath(full):
		p.addf(node, "file: %q must be a file of the project, with a path relative to the scenario", name)
	case strings.ContainsAny(name, "*?["):
		return p.glob(full, p.at(node))
	default:
		if _, err := fs.Stat(p.project, full); err != nil {
			p.unreadable(p.at(node), &fs.PathError{Op: "stat", Path: full, Err: diag.Cause(err)})
			return nil
		}
		return []string{full}
	}
	return nil
}

// glob returns the files that match a pattern. There must be one.
func (p *parser) glob(pattern string, at diag.Position) []string {
	files, err := fs.Glob(p.project, pattern)
	if err == nil && len(files) == 0 {
		err = errors.New("there are no such files")
	}
	if err != nil {
		p.unreadable(at, &fs.PathError{Op: "read", Path: pattern, Err: err})
	}
	slices.Sort(files)
	return files
}

// unreadable adds a finding about a file or directory, with the place that names it.
func (p *parser) unreadable(at diag.Position, err error) {
	problem := "can't be read: " + diag.Cause(err).Error()
	if pathError, ok := errors.AsType[*fs.PathError](err); ok && pathError.Path != at.File {
		problem = pathError.Path + " " + problem
	}
	p.findings = append(p.findings, diag.Finding{Position: at, Problem: problem})
}

// inFile calls do with the documents of a file.
func (p *parser) inFile(file string, do func(*yaml.Node)) {
	outer := p.file
	p.file = file
	defer func() { p.file = outer }()
	data, err := safeyaml.ReadFile(p.project, file, safeyaml.MaxSize)
	if err != nil {
		p.unreadable(diag.Position{File: file}, err)
		return
	}
	documents, err := safeyaml.Documents[yaml.Node](data)
	if err != nil {
		p.findings = append(p.findings, diag.Finding{Position: diag.Position{File: file}, Problem: diag.EscapeLine(err.Error())})
		return
	}
	for _, document := range documents {
		if len(document.Content) > 0 && document.Content[0].Tag != "!!null" {
			do(safeyaml.Resolve(document.Content[0]))
		}
	}
}

// objectsOf returns the objects of a file. There must be one.
func (p *parser) objectsOf(file string, verb Verb) (objects []Object) {
	before := len(p.findings)
	p.inFile(file, func(node *yaml.Node) { objects = append(objects, p.objects(node, verb)...) })
	if len(objects) == 0 && len(p.findings) == before {
		p.findings = append(p.findings, diag.Finding{Position: diag.Position{File: file}, Problem: "contains no objects"})
	}
	return objects
}

// objects returns an object, or the items of a list.
func (p *parser) objects(node *yaml.Node, verb Verb) (objects []Object) {
	before := len(p.findings)
	node = withoutAliases(node)
	p.checking = verb == Assert || verb == Error
	p.expressions(node)
	p.checking = false
	if kind := safeyaml.ChildText(node, "kind"); kind == "TestStep" || kind == "TestAssert" {
		p.addf(node, "kind %s isn't supported; describe the steps in %s", kind, testFiles[0])
	}
	if len(p.findings) > before {
		return nil
	}
	text, err := yaml.Marshal(node)
	if err != nil {
		p.addf(node, "can't be read: %s", diag.EscapeLine(err.Error()))
		return nil
	}
	found, err := kube.Decode(text)
	if err != nil {
		problem := err.Error()
		if rest, ok := strings.CutPrefix(problem, "line 1: "); ok { // of the part
			problem = rest
		}
		p.addf(node, "%s", diag.EscapeLine(problem))
	}
	for _, o := range found {
		if o.GetName() == "" && o.GetGenerateName() == "" && (verb == Apply || verb == Update || verb == Patch || verb == Delete && len(o.GetLabels()) == 0) {
			p.addf(node, "metadata.name is required for %s", verb)
		}
		objects = append(objects, Object{o, p.at(node)})
	}
	return objects
}

// withoutAliases returns a copy of a part of a document in which aliases are replaced by what they refer to, as that can be elsewhere. The
// limits of safeyaml count this.
func withoutAliases(node *yaml.Node) *yaml.Node {
	part := *safeyaml.Resolve(node)
	part.Anchor = ""
	part.Content = make([]*yaml.Node, len(part.Content))
	for i, child := range safeyaml.Resolve(node).Content {
		part.Content[i] = withoutAliases(child)
	}
	return &part
}
