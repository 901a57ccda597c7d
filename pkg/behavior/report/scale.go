package report

import (
	"fmt"
	"time"

	"github.com/operon-sdk/operon/pkg/behavior"
)

// A scale maps the times of a run to the width of the page.
type scale struct {
	start, end time.Time
	// began is when the first step did: objects of earlier changes existed before.
	began time.Time
}

// newScale returns the scale from the first step or request, whichever is earlier, until the last event. The history of objects begins
// earlier, with those that exist.
func newScale(o *behavior.Observation) (s scale) {
	for _, step := range o.Steps {
		s.add(step.Start)
		s.add(step.End)
	}
	for _, r := range o.Requests {
		s.add(r.Start)
	}
	s.began = s.start
	if len(o.Steps) > 0 {
		s.began = o.Steps[0].Start
	}
	for _, c := range o.Changes {
		if c.Time.After(s.end) {
			s.add(c.Time)
		}
	}
	return s
}

func (s *scale) add(t time.Time) {
	if s.start.IsZero() || t.Before(s.start) {
		s.start = t
	}
	if t.After(s.end) {
		s.end = t
	}
}

// share returns where a time is, from 0 to 1.
func (s scale) share(t time.Time) float64 {
	if !s.end.After(s.start) {
		return 0
	}
	return min(max(float64(t.Sub(s.start))/float64(s.end.Sub(s.start)), 0), 1)
}

// x returns where a time is, and width how long a period is, both in percent of the width.
func (s scale) x(t time.Time) string { return percent(s.share(t)) }

func (s scale) width(from, to time.Time) string { return percent(s.share(to) - s.share(from)) }

func percent(share float64) string { return fmt.Sprintf("%.2f%%", share*100) }

// at returns a time as the time since the start.
func (s scale) at(t time.Time) string { return "+" + seconds(t.Sub(s.start)) }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// A tick is a label of the axis.
type tick struct {
	X, Label string
	// Anchor is the text-anchor that keeps the label within the page.
	Anchor string
}

// maxTicks is how many labels fit on a narrow page.
const maxTicks = 6

// ticks returns round times at equal distances.
func (s scale) ticks() (ticks []tick) {
	distance := time.Second
	for i := 0; s.end.Sub(s.start)/distance >= maxTicks; i++ {
		distance = distance * []time.Duration{2, 5, 2}[i%3] / []time.Duration{1, 2, 1}[i%3] // 1, 2, 5, 10, …
	}
	for t := s.start; !t.After(s.end); t = t.Add(distance) {
		anchor := "middle"
		switch share := s.share(t); {
		case share == 0:
			anchor = "start"
		case share > 0.95:
			anchor = "end"
		}
		ticks = append(ticks, tick{s.x(t), fmt.Sprintf("%d s", int(t.Sub(s.start).Seconds())), anchor})
	}
	return ticks
}
