package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/behavior/report"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

var update = flag.Bool("update", false, "rewrite the expected page in testdata")

func meta() report.Meta { return report.Meta{Operator: "memcached-operator", Program: "operon 1.0.0"} }

// write returns the page of an observation, which must be well-formed.
func write(t *testing.T, o *behavior.Observation, findings diag.Findings, m report.Meta) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, o, findings, m); err != nil {
		t.Fatal(err)
	}
	checkMarkup(t, b.String())
	return b.String()
}

// checkMarkup checks that elements are closed, and that the page refers to nothing outside but the rules.
func checkMarkup(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	ids, links := map[string]bool{}, map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if name := start.Name.Local; name == "script" || name == "img" || name == "iframe" || name == "link" {
			t.Errorf("the page contains the element %s", name)
		}
		for _, attr := range start.Attr {
			switch name := attr.Name.Local; {
			case name == "id" && ids[attr.Value]:
				t.Errorf("two elements have the ID %s", attr.Value)
			case name == "id":
				ids[attr.Value] = true
			case name == "href":
				links[attr.Value] = true
			case name == "src" || strings.HasPrefix(name, "on"):
				t.Errorf("the page contains the attribute %s", name)
			}
		}
	}
	for link := range links {
		anchor, inside := strings.CutPrefix(link, "#")
		if inside && !ids[anchor] || !inside && !strings.HasPrefix(link, "https://github.com/operon-sdk/operon/blob/main/docs/behavior.md#") {
			t.Errorf("the page links to %s", link)
		}
	}
}

// TestPage compares the page of a run with the one in testdata.
func TestPage(t *testing.T) {
	t.Parallel()
	o := memcachedRun()
	got := write(t, o, o.Findings(), meta())
	if again := write(t, o, o.Findings(), meta()); again != got {
		t.Error("two pages of the same observation differ")
	}
	name := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("the page differs from %s; run the test with -update and look at the diff", name)
	}
	for _, text := range []string{"started at 2026-01-02 03:04:05 UTC", "write-without-change", `href="#finding-1"`, "made by the operator", "Available False → True", "2 errors, 2 warnings"} {
		if !strings.Contains(got, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
	if times := regexp.MustCompile(`\d\d:\d\d:\d\d`).FindAllString(got, -1); len(times) != 1 {
		t.Errorf("the page contains the absolute times %q, want only the start", times)
	}
}

// TestHostile checks that no text of a cluster becomes markup.
func TestHostile(t *testing.T) {
	t.Parallel()
	const evil = `"><script>alert(1)</script><!--' onload=x javascript:x` + "\u202e\x00\x1b[31m"
	o := memcachedRun()
	for i := range o.Requests {
		o.Requests[i].Reason, o.Requests[i].Message, o.Requests[i].Subresource, o.Requests[i].Verb = evil, evil, evil, evil
		if i%5 == 0 {
			o.Requests[i].Resource = evil
		}
	}
	for i := range o.Changes {
		after := o.Changes[i].After.DeepCopy()
		after.SetName(evil)
		after.SetKind(evil)
		after.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": evil, "status": evil + fmt.Sprint(i), "reason": evil, "message": evil}, 7, nil}}
		o.Changes[i].After = after
	}
	for i := range o.Steps {
		o.Steps[i].Name = evil
		o.Steps[i].Unsettled = errors.New(evil)
	}
	findings := diag.Findings{{
		Severity: evil, Rule: evil, Object: evil, Field: evil, Problem: evil, Fix: evil, Position: diag.Position{File: evil, Line: 1},
		Related: []diag.Finding{{Problem: evil, Time: o.Steps[0].Start}},
	}}
	page := write(t, o, findings, report.Meta{Operator: evil, Program: evil, Failure: evil})
	if strings.ContainsAny(page, "\x00\x1b\u202e") || strings.Contains(page, "<script") || strings.Contains(page, "<!--") {
		t.Error("the page contains a text as it is")
	}
}

// TestIncomplete writes pages of runs that ended early.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	whole := memcachedRun()
	for name, o := range map[string]*behavior.Observation{
		"nothing":        {},
		"no steps":       {Requests: whole.Requests, Changes: whole.Changes},
		"no requests":    {Steps: whole.Steps, Changes: whole.Changes},
		"only one step":  {Steps: whole.Steps[:1]},
		"all at once":    {Requests: whole.Requests[:1], Steps: []behavior.Step{{Name: "start"}}},
		"owner of owner": {Steps: whole.Steps, Changes: circle()},
	} {
		page := write(t, o, nil, report.Meta{Operator: "x", Failure: "the manager ended"})
		if !strings.Contains(page, "The run ended early.</strong> the manager ended") || strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
			t.Errorf("%s:\n%s", name, page)
		}
	}
}

// circle returns changes of objects that own each other and themselves.
func circle() (changes []stage.Change) {
	for i, owner := range []string{"b", "a", "c"} {
		o := kube.Named("v1", "ConfigMap", "x", []string{"a", "b", "c"}[i])
		o.SetUID(typesUID(o.GetName()))
		o.SetOwnerReferences(ownerReference("v1", "ConfigMap", owner, owner))
		changes = append(changes, stage.Change{Time: start.Add(time.Hour), After: o})
	}
	return changes
}

// TestSize checks that the size of a page has a limit, and that its tables say what is left out.
func TestSize(t *testing.T) {
	t.Parallel()
	o := &behavior.Observation{}
	var findings diag.Findings
	long := strings.Repeat("x", 5000)
	for i := range 50_000 {
		now := start.Add(time.Duration(i) * 7 * time.Millisecond)
		name := fmt.Sprintf("%s-%d", strings.Repeat("name", 50), i%300)
		r := gateway.Record{Start: now, Duration: time.Millisecond, Code: []int{200, 409, 0}[i%3], ServerCode: 200}
		r.Verb, r.Resource, r.Namespace, r.Name = []string{"get", "update"}[i/3%2], "configmaps", "default", name
		o.Requests = append(o.Requests, r)
		if i%100 == 0 {
			o.Steps = append(o.Steps, behavior.Step{Name: "step " + name, Start: now, End: now.Add(700 * time.Millisecond)})
			findings = append(findings, diag.Finding{Severity: diag.Error, Rule: behavior.RuleFight, Object: "configmap default/" + name, Problem: long})
		}
		if i > 300 && i%7 != 0 {
			continue
		}
		version := kube.Named("v1", "ConfigMap", "default", name)
		version.SetUID(typesUID(name))
		version.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": []string{"True", "False"}[i/300%2], "message": long}}}
		before := version.DeepCopy()
		before.Object["status"] = map[string]any{}
		c := stage.Change{Time: now, After: version, Before: before}
		if i < 300 {
			c.Before = nil
		}
		o.Changes = append(o.Changes, c)
	}
	began := time.Now()
	page := write(t, o, findings, meta())
	t.Logf("%d bytes in %s", len(page), time.Since(began))
	if len(page) > 3_000_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	for _, text := range []string{"and 300 more", "and 260 more objects", "<b>50000</b> requests"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

// TestExistingObjects expects no lanes for objects that existed before the first step, although the operator was already at work.
func TestExistingObjects(t *testing.T) {
	t.Parallel()
	o := kube.Named("v1", "ConfigMap", "kube-system", "of-the-cluster")
	o.SetUID(typesUID(o.GetName()))
	run := &behavior.Observation{
		Requests: []gateway.Record{{Start: start, Code: 200, Request: gateway.Request{Verb: "list", Version: "v1", Resource: "pods"}}},
		Changes:  []stage.Change{{Time: start.Add(time.Second), After: o}},
		Steps:    []behavior.Step{{Name: "start", Start: start.Add(2 * time.Second), End: start.Add(9 * time.Second)}},
	}
	if page := write(t, run, nil, meta()); strings.Contains(page, "of-the-cluster") {
		t.Errorf("the page shows an object that existed before:\n%s", page)
	}
	run.Changes[0].Time = start.Add(3 * time.Second)
	if page := write(t, run, nil, meta()); !strings.Contains(page, "of-the-cluster") {
		t.Errorf("the page lacks an object that was created:\n%s", page)
	}
}
