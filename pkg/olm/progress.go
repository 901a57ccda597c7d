package olm

import "fmt"

// Event is a step of an operation.
type Event struct {
	// Message is a line without a newline.
	Message string
	// Waiting reports whether the line is replaced by the next one where possible.
	Waiting bool
}

// Reporter reports the steps of an operation. The zero value discards them.
type Reporter struct {
	// Progress is called with each step; it may be nil.
	Progress func(Event)

	waiting string
}

// Reportf reports a step.
func (r *Reporter) Reportf(format string, args ...any) {
	if r.Progress != nil {
		r.Progress(Event{Message: fmt.Sprintf(format, args...)})
	}
}

// Waitf reports what the operation waits for, unless it was reported last.
func (r *Reporter) Waitf(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if message != r.waiting && r.Progress != nil {
		r.waiting = message
		r.Progress(Event{Message: message, Waiting: true})
	}
}
