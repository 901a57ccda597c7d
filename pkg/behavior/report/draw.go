package report

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/behavior"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gateway"
)

// counts are numbers of requests of each class. Same are the writes that changed nothing, and Upkeep the requests for leases and events.
type counts struct{ Reads, Writes, Same, Failed, Upkeep int }

// add counts a request of a class.
func (c *counts) add(class string) { *c.of(class)++ }

func (c *counts) of(class string) *int {
	switch class {
	case "failed":
		return &c.Failed
	case "write":
		return &c.Writes
	case "same":
		return &c.Same
	case "upkeep":
		return &c.Upkeep
	}
	return &c.Reads
}

// Total is the number of all requests.
func (c counts) Total() int { return c.Reads + c.Writes + c.Same + c.Failed + c.Upkeep }

func (c counts) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		text string
	}{
		{c.Reads, diag.Count(c.Reads, "read")}, {c.Writes, diag.Count(c.Writes, "write")}, {c.Same, diag.Count(c.Same, "write") + " without a change"},
		{c.Failed, fmt.Sprintf("%d failed", c.Failed)}, {c.Upkeep, fmt.Sprintf("%d for leases and events", c.Upkeep)},
	} {
		if part.n > 0 {
			parts = append(parts, part.text)
		}
	}
	return strings.Join(parts, ", ")
}

// classify returns the class of a request: read, write, same, failed or upkeep. To read what doesn't exist is no failure.
func (b *board) classify(r gateway.Record) string {
	switch {
	case isFailed(r) && (r.IsWrite() || r.Code != http.StatusNotFound):
		return "failed"
	case behavior.IsUpkeep(r.Request):
		return "upkeep"
	case b.unchanged[idOf(r)]:
		return "same"
	case r.IsWrite():
		return "write"
	}
	return "read"
}

// isFailed reports whether the program got an error, or no answer.
func isFailed(r gateway.Record) bool { return r.Code == 0 || r.Code >= http.StatusBadRequest }

// A period is a time in which an object is in one state.
type period struct{ X, Width, Class, Title string }

// A dot is one change of a condition, or several that are close to each other. Class is the state of the last condition.
type dot struct {
	X, Class, Title string
	More            int
}

// A mark is one request or several that are close to each other.
type mark struct {
	X, Class, Title string
	Y, Height       int
}

// extent returns where a mark is in a lane: writes are across the period, reads below it, and failed requests across both.
func extent(class string) (y, height int) {
	switch class {
	case "read":
		return 27, 7
	case "failed":
		return 12, 23
	}
	return 13, 14
}

// maxMarks limits the marks of all lanes.
const maxMarks = 5000

// bucketsFor returns the number of marks of a class in each lane.
func bucketsFor(lanes int) int { return min(max(maxMarks/max(lanes, 1), 100), 400) }

// bucket returns the number of the bucket that a time is in.
func (s scale) bucket(t time.Time, buckets int) int {
	return min(int(s.share(t)*float64(buckets)), buckets-1)
}

// draw fills the drawing of a lane.
func (l *lane) draw(b *board, buckets int) {
	l.drawPeriods(b, buckets)
	l.drawDots(b, buckets)
	for _, class := range []string{"read", "write", "same", "failed"} {
		y, height := extent(class)
		found := make([][]gateway.Record, buckets)
		for _, r := range l.requests {
			if b.classify(r) == class {
				n := b.bucket(r.Start, buckets)
				found[n] = append(found[n], r)
			}
		}
		for _, records := range found {
			if len(records) > 0 {
				l.Marks = append(l.Marks, mark{b.x(records[0].Start), class, b.title(class, records), y, height})
			}
		}
	}
}

// title describes requests of one class.
func (b *board) title(class string, records []gateway.Record) string {
	r := records[0]
	if len(records) > 1 {
		var c counts
		*c.of(class) = len(records)
		return fmt.Sprintf("%s: %s", b.at(r.Start), c)
	}
	text := fmt.Sprintf("%s: %s", b.at(r.Start), r.Verb)
	if r.Subresource != "" {
		text += " " + r.Subresource
	}
	text += answer(r)
	if class == "same" {
		text += ", without a change"
	}
	return shorten(text)
}

// answer describes what the program got.
func answer(r gateway.Record) string {
	if r.Code == 0 {
		return ", no answer"
	}
	return strings.TrimRight(fmt.Sprintf(", %d %s", r.Code, r.Reason), " ")
}

// drawPeriods draws the states. Those that are too short to be seen are replaced by the next one.
func (l *lane) drawPeriods(b *board, buckets int) {
	var visible []state
	for _, s := range l.states {
		if n := len(visible); n > 0 && b.bucket(visible[n-1].from, buckets) == b.bucket(s.from, buckets) {
			visible[n-1].class = s.class
			continue
		}
		visible = append(visible, s)
	}
	for i, s := range visible {
		end := b.end
		if i+1 < len(visible) {
			end = visible[i+1].from
		}
		if s.class != "gone" {
			title := fmt.Sprintf("%s to %s: %s", b.at(s.from), b.at(end), word(s.class))
			l.Periods = append(l.Periods, period{b.x(s.from), b.width(s.from, end), s.class, title})
		}
	}
}

func (l *lane) drawDots(b *board, buckets int) {
	last, more := -1, 0
	for _, t := range l.turns {
		n := b.bucket(t.time, buckets)
		if n != last {
			last, more = n, 0
			l.Dots = append(l.Dots, dot{X: b.x(t.time), Title: fmt.Sprintf("%s: %s", b.at(t.time), t)})
		} else {
			more++
		}
		shown := &l.Dots[len(l.Dots)-1]
		shown.Class, shown.More = "waiting", more
		if t.after == "True" {
			shown.Class = "ready"
		}
	}
}

func (t turn) String() string {
	text := t.condition + " " + t.before + " → " + t.after
	if t.before == "" {
		text = t.condition + " is " + t.after
	}
	return shorten(text)
}

// A bar shows how many requests of all kinds there were in a time. Its parts are on top of each other.
type bar struct {
	X, Width, Title string
	Parts           []part
}

// A part is the share of one class.
type part struct {
	Class     string
	Y, Height string
}

// Bars are this many, and this high in pixels.
const (
	maxBars   = 160
	barHeight = 40
)

// activity returns the bars. Their heights are the square roots of the numbers, so that one request is seen next to a hundred.
func (b *board) activity(requests []gateway.Record) (bars []bar) {
	found := make([]counts, maxBars)
	most := 0
	for _, r := range requests {
		n := b.bucket(r.Start, maxBars)
		found[n].add(b.classify(r))
		most = max(most, found[n].Total())
	}
	length := b.end.Sub(b.start) / maxBars
	for i, c := range found {
		if c.Total() == 0 {
			continue
		}
		from := b.start.Add(time.Duration(i) * length)
		shown := bar{X: percent(float64(i) / maxBars), Width: percent(0.85 / maxBars), Title: fmt.Sprintf("%s to %s: %s", b.at(from), b.at(from.Add(length)), c)}
		scaled := barHeight * math.Sqrt(float64(c.Total())/float64(most)) / float64(c.Total())
		y := float64(barHeight)
		for _, class := range []string{"upkeep", "read", "write", "same", "failed"} {
			if n := *c.of(class); n > 0 {
				y -= scaled * float64(n)
				shown.Parts = append(shown.Parts, part{class, fmt.Sprintf("%.1f", y), fmt.Sprintf("%.1f", scaled*float64(n))})
			}
		}
		bars = append(bars, shown)
	}
	return bars
}
