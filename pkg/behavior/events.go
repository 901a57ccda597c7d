package behavior

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

const (
	// maxEvents is how many Events of a reason an object may get in a step. From ten on, client-go itself combines them.
	maxEvents = 10
	// maxRestEvents is how many it may get while nothing happens: one that comes late.
	maxRestEvents = 1
)

// eventStorms finds objects that get too many Events of a reason from the operator.
func (o *Observation) eventStorms() (findings diag.Findings) {
	events, keys := grouped(o.Writes, eventKey)
	for _, key := range keys {
		if f := o.eventStorm(events[key]); f != nil {
			findings = append(findings, *f)
		}
	}
	return findings
}

// eventKey returns the object and the reason of an Event that is written, or "".
func eventKey(w stage.Write) string {
	if w.Resource != "events" || w.Change == nil || w.Change.Outlined {
		return ""
	}
	return regarding(w.Change.After) + " " + kube.StringAt(w.Change.After.Object, "reason")
}

// eventStorm returns a finding if there are too many Events of a reason about an object, or nil.
func (o *Observation) eventStorm(events []stage.Write) *diag.Finding {
	inStep, atRest := map[*Step]int64{}, int64(0)
	var most, resting []gateway.Record
	var worst *Step
	for _, w := range events {
		step := o.stepAt(w.Start, w.Namespace)
		if step == nil {
			continue
		}
		most = append(most, w.Record)
		if inStep[step] += occurrences(w.Change); worst == nil || inStep[step] > inStep[worst] {
			worst = step
		}
		if step.isAtRest(w.Record) {
			atRest += occurrences(w.Change)
			resting = append(resting, w.Record)
		}
	}
	object, reason := regarding(events[0].Change.After), kube.StringAt(events[0].Change.After.Object, "reason")
	f := diag.Finding{
		Severity: diag.Warning, Rule: RuleEvents, Object: object,
		Fix: "emit an Event when something has changed, not in each pass",
	}
	switch {
	case atRest > maxRestEvents:
		f.Problem = fmt.Sprintf("gets %d Events with the reason %s while nothing happens", atRest, diag.EscapeLine(reason))
		f = evidence(f, resting...)
	case worst != nil && inStep[worst] > maxEvents:
		f.Problem = fmt.Sprintf("gets %d Events with the reason %s in one step, %s", inStep[worst], diag.EscapeLine(reason), worst.Name)
		f = evidence(f, most...)
	default:
		return nil
	}
	return &f
}

// regarding returns the kind and the name of the object that an Event is about, in either API.
func regarding(event *kube.Object) string {
	about := event.Object["regarding"]
	if about == nil {
		about = event.Object["involvedObject"]
	}
	name := kube.StringAt(about, "name")
	if namespace := kube.StringAt(about, "namespace"); namespace != "" {
		name = namespace + "/" + name
	}
	return strings.ToLower(kube.StringAt(about, "kind")) + " " + name
}

// occurrences returns how many times what an Event says has happened since its former version.
func occurrences(c *stage.Change) int64 {
	n := eventCount(c.After)
	if c.Before != nil {
		n -= eventCount(c.Before)
	}
	return max(n, 1)
}

// eventCount returns the counter of an Event, which is 0 for one that has occurred once in the newer API.
func eventCount(event *kube.Object) int64 {
	return max(kube.IntAt(event.Object, "series", "count"), kube.IntAt(event.Object, "count"), kube.IntAt(event.Object, "deprecatedCount"))
}
