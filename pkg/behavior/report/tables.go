package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/gateway"
)

// A step is a step of the run.
type step struct {
	Number             int
	Name, Start        string
	Settled, Unsettled string
	Rest               string
	Counts             counts
	// X, Middle, Width and Busy are the place, its middle, the width, and the width until it has settled.
	X, Middle, Width, Busy string
	// Y and Baseline are the places of the bar and of its number, in pixels.
	Y, Baseline int
	// Numbered is set if the number fits.
	Numbered bool
}

// numberWidth is the share of the width that a digit needs on a narrow page.
const numberWidth = 0.022

// rowHeight is the height of a row of steps, in pixels.
const rowHeight = 24

// rowsOf returns the row of each step, from 0, and the number of rows: steps that go on at the same time are below each other.
func rowsOf(steps []behavior.Step) (rows []int, count int) {
	var ends []time.Time
	for _, s := range steps {
		row := slices.IndexFunc(ends, func(end time.Time) bool { return !end.After(s.Start) })
		if row < 0 {
			row, ends = len(ends), append(ends, s.End)
		}
		ends[row] = s.End
		rows = append(rows, row)
	}
	return rows, len(ends)
}

// steps returns the steps, with the requests that arrived in them, and their height.
func (b *board) steps(o *behavior.Observation) (steps []step, height int) {
	rows, count := rowsOf(o.Steps)
	for i, s := range o.Steps {
		settled := s.End
		top := rows[i] * rowHeight
		shown := step{Number: i + 1, Y: top + 3, Baseline: top + 16, Name: shorten(s.Name), Start: b.at(s.Start), X: b.x(s.Start), Width: b.width(s.Start, s.End)}
		switch {
		case s.Unsettled != nil:
			shown.Unsettled = shorten(s.Unsettled.Error())
		case !s.Settled.IsZero():
			settled = s.Settled
			shown.Settled, shown.Rest = seconds(settled.Sub(s.Start)), seconds(s.End.Sub(settled))
		}
		shown.Busy = b.width(s.Start, settled)
		shown.Middle = percent((b.share(s.Start) + b.share(s.End)) / 2)
		shown.Numbered = b.share(s.End)-b.share(s.Start) > numberWidth*float64(len(fmt.Sprint(i+1)))
		steps = append(steps, shown)
	}
	for _, r := range o.Requests {
		// The last step that has begun; of steps that go on at the same time, the one that the request concerns.
		n := sort.Search(len(o.Steps), func(i int) bool { return o.Steps[i].Start.After(r.Start) })
		for n > 1 && !o.Steps[n-1].Concerns(r.Namespace) && o.Steps[n-2].End.After(r.Start) {
			n--
		}
		if n > 0 {
			steps[n-1].Counts.add(b.classify(r))
		}
	}
	return steps, max(count, 1) * rowHeight
}

// A traffic is a row about the requests with one verb for one resource.
type traffic struct {
	Verb, Resource string
	Counts         counts
	// Codes are the codes of errors and how often there were.
	Codes, Mean, Max string

	sum, longest time.Duration
	codes        map[int]int
}

// traffic returns the rows, the one with the most requests first.
func (b *board) traffic(requests []gateway.Record) []*traffic {
	type kind struct{ verb, resource string }
	rows := map[kind]*traffic{}
	for _, r := range requests {
		k := kind{r.Verb, r.GroupResource()}
		t := rows[k]
		if t == nil {
			t = &traffic{Verb: shorten(k.verb), Resource: shorten(k.resource), codes: map[int]int{}}
			rows[k] = t
		}
		t.Counts.add(b.classify(r))
		t.sum, t.longest = t.sum+r.Duration, max(t.longest, r.Duration)
		if isFailed(r) {
			t.codes[r.Code]++
		}
	}
	var sorted []*traffic
	for _, t := range rows {
		t.Mean, t.Max, t.Codes = milliseconds(t.sum/time.Duration(t.Counts.Total())), milliseconds(t.longest), t.errors()
		sorted = append(sorted, t)
	}
	slices.SortFunc(sorted, func(a, b *traffic) int {
		return cmp.Or(b.Counts.Total()-a.Counts.Total(), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Verb, b.Verb))
	})
	return sorted
}

func (t *traffic) errors() string {
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(t.codes)) {
		name := fmt.Sprint(code)
		if code == 0 {
			name = "no answer"
		}
		parts = append(parts, fmt.Sprintf("%s × %d", name, t.codes[code]))
	}
	return strings.Join(parts, ", ")
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// A turnRow is a row about a change of a condition.
type turnRow struct{ At, Object, Change, Reason, Message string }

func (b *board) turnRows(turns []turn) (rows []turnRow) {
	for _, t := range turns {
		rows = append(rows, turnRow{b.at(t.time), t.lane.String(), t.String(), shorten(t.reason), shorten(t.detail)})
	}
	return rows
}
