package behavior_test

import (
	"fmt"
	"testing"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/stage"
)

// event returns the write of an Event about an object. The fields of the former version are "" for a new one.
func event(t *testing.T, second int, about, before, after string) stage.Write {
	t.Helper()
	full := func(fields string) string {
		return "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: a}, reason: Checked, involvedObject: {kind: Memcached, namespace: a, name: " + about + "}" + fields + "}"
	}
	w := stage.Write{Record: request(second, "create", "events", "e", 201), Change: &stage.Change{Time: at(second), After: object(t, full(after))}}
	if before != "" {
		w.Change.Before = object(t, full(before))
	}
	return w
}

// TestEventStorms checks how many Events are too many.
func TestEventStorms(t *testing.T) {
	t.Parallel()
	events := func(n, second int, about string) (writes []stage.Write) {
		for range n {
			writes = append(writes, event(t, second, about, "", ""))
		}
		return writes
	}
	newer := event(t, 15, "one", "", "")
	newer.Group = "events.k8s.io"
	newer.Change.After = object(t, "{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: e, namespace: a}, reason: Checked, regarding: {kind: Node, name: one}, series: {count: 2}}")
	steps := []behavior.Step{{Name: "create one", Start: at(0), Settled: at(10), End: at(20)}, {Name: "delete one", Start: at(20), Settled: at(30), End: at(40)}}
	for name, test := range map[string]struct {
		writes []stage.Write
		want   string
	}{
		"many in a step":            {events(11, 1, "one"), "memcached a/one: gets 11 Events with the reason Checked in one step, create one"},
		"ten in a step":             {events(10, 1, "one"), ""},
		"many in several steps":     {append(events(6, 1, "one"), events(6, 21, "one")...), ""},
		"about several objects":     {append(events(6, 1, "one"), events(6, 1, "two")...), ""},
		"counter":                   {[]stage.Write{event(t, 1, "one", "", ", count: 1"), event(t, 1, "one", ", count: 1", ", count: 25")}, "memcached a/one: gets 25 Events with the reason Checked in one step, create one"},
		"counter that hardly grows": {[]stage.Write{event(t, 1, "one", ", count: 90", ", count: 91")}, ""},
		"at rest":                   {events(2, 15, "one"), "memcached a/one: gets 2 Events with the reason Checked while nothing happens"},
		"late":                      {append(events(5, 5, "one"), events(1, 15, "one")...), ""},
		"counter at rest":           {[]stage.Write{event(t, 15, "one", ", count: 1", ", count: 3")}, "memcached a/one: gets 2 Events with the reason Checked while nothing happens"},
		"the newer API at rest":     {[]stage.Write{newer}, "node one: gets 2 Events with the reason Checked while nothing happens"},
		"before the steps":          {events(20, -5, "one"), ""},
		"not changed":               {[]stage.Write{{Record: withRecord(request(15, "patch", "events", "e", 200), func(r *gateway.Record) { r.UID = "u" })}}, ""},
	} {
		o := behavior.Observation{Writes: test.writes, Steps: steps}
		got := ""
		for _, f := range o.Findings() {
			got += fmt.Sprintf("%s: %s", f.Object, f.Problem)
			if f.Rule != behavior.RuleEvents || len(f.Related) == 0 {
				t.Errorf("%s: %v", name, f)
			}
		}
		if got != test.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, test.want)
		}
	}
}
