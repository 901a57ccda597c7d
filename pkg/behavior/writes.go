package behavior

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// writesByObject returns the writes of each object and subresource.
func (o *Observation) writesByObject() (map[string][]stage.Write, []string) {
	return grouped(o.Writes, func(w stage.Write) string {
		if IsUpkeep(w.Request) {
			return ""
		}
		return w.GroupResource() + " " + w.Namespace + "/" + w.Name
	})
}

// minRepeated is how many times something must happen to be a habit.
const minRepeated = 3

func isAny(writes []stage.Write) bool { return len(writes) > 0 }

func isRepeated(writes []stage.Write) bool { return len(writes) >= minRepeated }

// rests reports whether a write is sent while nothing happens.
func (o *Observation) rests(w stage.Write) bool {
	return slices.ContainsFunc(o.Steps, func(s Step) bool { return s.isAtRest(w.Record) })
}

// habits returns the findings about objects of which enough writes match. finding gets these, and the number of all writes.
func (o *Observation) habits(
	enough func([]stage.Write) bool, match func(stage.Write) bool, finding func(matching []stage.Write, all int) diag.Finding,
) (findings diag.Findings) {
	writes, keys := o.writesByObject()
	for _, key := range keys {
		var matching []stage.Write
		var records []gateway.Record
		for _, w := range writes[key] {
			if match(w) {
				matching, records = append(matching, w), append(records, w.Record)
			}
		}
		if enough(matching) {
			f := finding(matching, len(writes[key]))
			f.Object = key
			findings = append(findings, evidence(f, records...))
		}
	}
	return findings
}

// pythonClient begins the User-Agent of the modules of Ansible. They patch objects without a comparison, and an author can't change that.
const pythonClient = "OpenAPI-Generator/"

// withoutChange finds objects that the operator writes as they are: again and again, or while nothing happens.
func (o *Observation) withoutChange() diag.Findings {
	behind := o.behindCache()
	isSame := func(w stage.Write) bool {
		return w.Change == nil && !strings.HasPrefix(w.UserAgent, pythonClient) && !behind[startOf(w)]
	}
	enough := func(writes []stage.Write) bool { return isRepeated(writes) || slices.ContainsFunc(writes, o.rests) }
	return o.habits(enough, isSame, func(matching []stage.Write, all int) diag.Finding {
		verb := "change"
		if len(matching) == 1 {
			verb = "changes"
		}
		return diag.Finding{
			Severity: diag.Warning, Rule: RuleNoChange, Problem: fmt.Sprintf("%d of %d writes %s nothing", len(matching), all, verb),
			Fix: "compare with the object in the cache, and write only what differs",
		}
	})
}

// cacheDelay is how far the cache of an operator may be behind its own writes.
const cacheDelay = time.Second

// A writeStart identifies a write.
type writeStart struct {
	uid   string
	start time.Time
}

func startOf(w stage.Write) writeStart { return writeStart{w.UID, w.Start} }

// behindCache returns the patches that an operator sends shortly after it has changed the object: it can't have seen its own change yet.
// An update is refused then, since it has the version of the object.
func (o *Observation) behindCache() map[writeStart]bool {
	behind, changed := map[writeStart]bool{}, map[string]time.Time{}
	for _, w := range o.Writes {
		switch last, found := changed[w.UID]; {
		case w.Change != nil:
			changed[w.UID] = w.Start
		case found && w.Verb == "patch" && w.BaseVersion == "" && w.Start.Sub(last) < cacheDelay:
			behind[startOf(w)] = true
		}
	}
	return behind
}

// atRest finds objects that the operator writes while nothing happens.
func (o *Observation) atRest() diag.Findings {
	return o.habits(isAny, o.rests, func([]stage.Write, int) diag.Finding {
		return diag.Finding{
			Severity: diag.Warning, Rule: RuleRest, Problem: "is written while nothing happens",
			Fix: "write only when the object differs from what it should be",
		}
	})
}

// changingStatus finds objects in which the operator only changes times or counters of the status, again and again. Each change calls
// Reconcile again.
func (o *Observation) changingStatus() diag.Findings {
	following := o.following()
	ticks := func(w stage.Write) bool {
		if w.Change == nil || w.Change.Before == nil {
			return false
		}
		differences := w.Change.Differences()
		return len(differences) > 0 && allTick(differences) && !(following[startOf(w)] && slices.ContainsFunc(differences, isCounter))
	}
	return o.habits(isRepeated, ticks, func(matching []stage.Write, _ int) diag.Finding {
		last := matching[len(matching)-1].Change
		return diag.Finding{
			Severity: diag.Warning, Rule: RuleTime, Field: last.Differences()[0].Path, Problem: fmt.Sprintf("%d writes change nothing else", len(matching)),
			Fix: "set times only together with what they are about, as a condition does with lastTransitionTime",
		}
	})
}

// following returns the writes of objects after others have changed something since the write before. A counter in one of them may say how
// many pods are ready, for example.
func (o *Observation) following() map[writeStart]bool {
	own := map[string]bool{}
	for _, w := range o.Writes {
		own[w.ResourceVersion] = true
	}
	var others []time.Time
	for _, c := range o.Changes {
		if !own[c.After.GetResourceVersion()] && !stage.IsHeartbeat(c.After) {
			others = append(others, c.Time)
		}
	}
	following, before := map[writeStart]bool{}, map[string]time.Time{}
	for _, w := range o.Writes {
		next, _ := slices.BinarySearchFunc(others, before[w.UID], time.Time.Compare)
		following[startOf(w)] = next < len(others) && others[next].Before(w.Start)
		before[w.UID] = w.Start
	}
	return following
}

// allTick reports whether differences are only times or counters.
func allTick(differences []stage.Difference) bool {
	for _, d := range differences {
		if !strings.HasPrefix(d.Path, "status.") && !strings.HasPrefix(d.Path, "metadata.annotations.") || !isTime(d) && !isCounter(d) {
			return false
		}
	}
	return true
}

func isTime(d stage.Difference) bool {
	for _, value := range []any{d.Before, d.After} {
		text, _ := value.(string)
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return false
		}
	}
	return true
}

func isCounter(d stage.Difference) bool {
	return number(d.After) == number(d.Before)+1 && !strings.HasSuffix(d.Path, "observedGeneration")
}

// number returns a number, or NaN.
func number(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// fights finds fields that alternate between two values. Kubernetes itself writes incidental objects, as pods become ready and stop.
func (o *Observation) fights() (findings diag.Findings) {
	type flips struct {
		object *kube.Object
		values []any
		count  int
		path   string
	}
	fields := map[string]*flips{}
	var keys []string
	for _, c := range o.Changes {
		if c.Before == nil || c.Deleted || stage.IsHeartbeat(c.After) || stage.IsIncidental(c.After) {
			continue
		}
		for _, d := range c.Differences() {
			if strings.HasPrefix(d.Path, "status.") {
				continue
			}
			key := string(c.After.GetUID()) + " " + d.Path
			if fields[key] == nil {
				fields[key] = &flips{object: c.After, path: d.Path, values: []any{d.Before}}
				keys = append(keys, key)
			}
			f := fields[key]
			if n := len(f.values); n > 1 && reflect.DeepEqual(f.values[n-2], d.After) {
				f.count++
			}
			f.values = append(f.values, d.After)
		}
	}
	for _, key := range keys {
		f := fields[key]
		if f.count < minRepeated {
			continue
		}
		n := len(f.values)
		findings = append(findings, diag.Finding{
			Severity: diag.Error, Rule: RuleFight, Object: kube.FullName(f.object), Field: f.path,
			Problem: fmt.Sprintf("changes between %v and %v again and again", f.values[n-2], f.values[n-1]),
			Fix:     "leave the field to one writer: remove it from what the operator writes, or from the other one",
		})
	}
	return findings
}
