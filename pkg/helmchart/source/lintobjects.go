package source

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
)

// objects adds the problems of the objects that the chart renders in versions of Kubernetes.
func (l *linter) objects(ctx context.Context, values map[string]any, versions []string) error {
	defined, err := crds(l.chart)
	if err != nil {
		return err
	}
	c := &objectChecker{files: l.files, kinds: knownKinds(), added: addedFields(), found: map[string]int{}}
	r := &renderer{
		request: helmchart.RenderRequest{Files: l.files, ReleaseName: "test-release", Namespace: l.namespace},
		limits:  l.limits, lint: true, externalSchema: externalReference(l.chart),
	}
	for _, version := range versions {
		if r.capabilities, err = capabilities("v"+version+".0", false, defined); err != nil {
			return err
		}
		rendering, err := r.renderUntil(ctx, values)
		if err != nil {
			return err
		}
		if rendering.Error != "" {
			f := diag.Finding{Severity: diag.Error, Rule: "template", Problem: rendering.Error, Position: diag.Position{File: "templates"}}
			l.place(&f)
			c.add(version, f)
		}
		for _, o := range append(rendering.Objects, defined...) {
			c.check(version, o)
		}
	}
	l.findings = append(l.findings, c.results(len(versions))...)
	return nil
}

// An objectChecker collects the problems of objects, each once for all versions.
type objectChecker struct {
	files    helmchart.Files
	kinds    *runtime.Scheme
	added    map[string]int
	findings diag.Findings
	// versions are those that have the problem of findings, and found its index by text.
	versions [][]string
	found    map[string]int
}

func (c *objectChecker) add(version string, f diag.Finding) {
	key := fmt.Sprint(f.Position, f.Severity, f.Object, f.Field, f.Problem)
	i, ok := c.found[key]
	if !ok {
		i = len(c.findings)
		c.found[key] = i
		c.findings, c.versions = append(c.findings, f), append(c.versions, nil)
	}
	if found := c.versions[i]; len(found) == 0 || found[len(found)-1] != version {
		c.versions[i] = append(found, version)
	}
}

// results returns the findings, with their versions unless these are all.
func (c *objectChecker) results(all int) diag.Findings {
	for i := range c.findings {
		if found := c.versions[i]; len(found) < all {
			c.findings[i].Problem += " (Kubernetes " + diag.Enumerate(found) + ")"
		}
	}
	return c.findings
}

// check adds the problems of an object in a version.
func (c *objectChecker) check(version string, o helmchart.RenderedObject) {
	minor := minorOf(version)
	apiVersion, _ := o.Object["apiVersion"].(string)
	kind, _ := o.Object["kind"].(string)
	metadata, _ := o.Object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	_, file, _ := strings.Cut(o.Template, "/")
	at := diag.Finding{Object: strings.TrimSpace(kind + " " + cmp.Or(name, fmt.Sprint(metadata["generateName"]))), Position: diag.Position{File: file}}
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	if p := checkKind(c.kinds, gvk, minor); p != nil {
		f := at
		f.Severity, f.Rule, f.Problem, f.Fix = diag.Error, "removed-api", p.problem, p.fix
		if p.deprecated {
			f.Severity, f.Rule = diag.Warning, "deprecated-api"
		}
		f.Object = ""
		f.Line = c.onlyLine(file, `apiVersion:\s*["']?`+regexp.QuoteMeta(apiVersion)+`["']?\s*$`)
		c.add(version, f)
	}
	typed, err := c.kinds.New(gvk)
	if err != nil {
		return
	}
	fields := &fieldChecker{added: c.added, minor: minor}
	fields.check("", o.Object, reflect.TypeOf(typed))
	for _, p := range fields.problems {
		f := at
		f.Severity, f.Rule, f.Field, f.Problem, f.Fix = diag.Error, "invalid-field", p.path, p.path+" "+p.problem, p.fix
		if p.unknown {
			f.Rule = "unknown-field"
		}
		key := p.path[strings.LastIndexByte(p.path, '.')+1:]
		key, _, _ = strings.Cut(key, "[")
		f.Line = c.onlyLine(file, `^[\s-]*["']?`+regexp.QuoteMeta(key)+`["']?:`)
		c.add(version, f)
	}
}

// onlyLine returns the number of the line of a file that matches a pattern, or 0 unless exactly one does: a template can render a field
// in several places, or elsewhere.
func (c *objectChecker) onlyLine(file, pattern string) int {
	expression := regexp.MustCompile(pattern)
	found, number := 0, 0
	for line := range bytes.Lines(c.files[file]) {
		number++
		if expression.Match(bytes.TrimRight(line, "\r\n")) {
			if found > 0 {
				return 0
			}
			found = number
		}
	}
	return found
}
