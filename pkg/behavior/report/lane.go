package report

import (
	"fmt"
	"time"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/stage"
)

// A lane shows an object of a run.
type lane struct {
	// Number counts the lanes of the page from 1, and Depth is the number of owners above.
	Number, Depth         int
	Kind, Namespace, Name string
	// Made is set if the operator has created the object.
	Made bool
	// Counts are the operator's requests for the object.
	Counts   counts
	Children []*lane
	Flags    []flag
	// Periods, Dots and Marks are the drawing: what state the object was in, when its conditions changed, and the requests.
	Periods []period
	Dots    []dot
	Marks   []mark

	// object is the last version.
	object *kube.Object
	// involved is set if the object belongs on the page.
	involved bool
	requests []gateway.Record
	states   []state
	turns    []turn
}

// A state is what an object is in from a time on.
type state struct {
	from time.Time
	// class is ready, waiting, plain, ending or gone.
	class string
}

// word returns what a class is called.
func word(class string) string {
	switch class {
	case "waiting":
		return "not ready"
	case "plain":
		return "exists"
	case "ending":
		return "being deleted"
	}
	return class
}

// A turn is a change of a condition.
type turn struct {
	lane                                     *lane
	time                                     time.Time
	condition, before, after, reason, detail string
}

// add adds a version of the object, and returns how its conditions have changed.
func (l *lane) add(c stage.Change, s scale) (turns []turn) {
	l.object = c.After
	if c.Time.Before(s.began) { // it existed before
		l.states = append(l.states, state{s.start, classOf(c.After)})
		return nil
	}
	l.involved = l.involved || c.Before == nil || c.Deleted
	class := classOf(c.After)
	if c.Deleted {
		class = "gone"
	}
	if n := len(l.states); n == 0 || l.states[n-1].class != class {
		l.states = append(l.states, state{c.Time, class})
	}
	if c.Before == nil || c.Deleted {
		return nil
	}
	before := conditions(c.Before)
	for _, condition := range kube.Conditions(c.After) {
		if was := before[condition.Type]; was != condition.Status {
			turns = append(turns, turn{l, c.Time, condition.Type, was, condition.Status, condition.Reason, condition.Message})
		}
	}
	l.turns = append(l.turns, turns...)
	return turns
}

// conditions returns the status of each condition.
func conditions(o *kube.Object) map[string]string {
	statuses := map[string]string{}
	for _, condition := range kube.Conditions(o) {
		statuses[condition.Type] = condition.Status
	}
	return statuses
}

// classOf returns the class of an object that exists.
func classOf(o *kube.Object) string {
	if o.GetDeletionTimestamp() != nil {
		return "ending"
	}
	statuses := conditions(o)
	for _, name := range []string{"Ready", "Available", "Complete", "Established"} {
		switch statuses[name] {
		case "True":
			return "ready"
		case "":
			continue
		}
		return "waiting"
	}
	return "plain"
}

// Indent is the depth of the label, which is limited.
func (l *lane) Indent() int { return min(l.Depth, 5) }

// FullName is the namespace and the name.
func (l *lane) FullName() string {
	if l.Namespace == "" {
		return l.Name
	}
	return l.Namespace + "/" + l.Name
}

// Class is the last state, and State the word for it.
func (l *lane) Class() string { return l.states[len(l.states)-1].class }

// State is described with Class.
func (l *lane) State() string { return word(l.Class()) }

// last returns when the object changed last.
func (l *lane) last() time.Time { return l.states[len(l.states)-1].from }

func (l *lane) String() string { return fmt.Sprintf("%s %s", l.Kind, l.FullName()) }
