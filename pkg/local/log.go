package local

import (
	"bytes"
	"io"
	"time"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// maxLogLine is the longest line that a LogWriter holds back. It prints the parts of a longer one as they come.
const maxLogLine = 64 << 10

// A LogWriter prints what a manager writes, line by line. Calls must not overlap.
type LogWriter struct {
	// Out receives the lines.
	Out io.Writer
	// Prefix precedes the lines that are printed as the manager wrote them.
	Prefix string
	// Compact shortens the lines of the loggers of controller-runtime, and leaves out stack traces and routine messages; see entry.
	Compact bool
	// Color colors the shortened lines.
	Color bool
	// Failed receives the message and the error of each line of these loggers, or of klog, that reports one, and the object that was
	// reconciled, or "". It may be nil.
	Failed func(object, message, cause string)
	// Location is the time zone of the shortened lines; nil is UTC.
	Location *time.Location

	// line is the start of a line whose end has not been written yet. It follows what has been printed of the line, if
	// begun is true.
	line  []byte
	begun bool
	// inTrace reports whether only lines of a stack trace have been written since the last shortened line, and function is
	// such a line that names a function and waits for the file that follows.
	inTrace  bool
	function []byte
	// notedTrace reports whether the user has read that stack traces are left out, notedRoutine the same about routine messages.
	notedTrace, notedRoutine bool
}

// Write prints the lines that p completes.
func (w *LogWriter) Write(p []byte) (int, error) {
	var out bytes.Buffer
	for part := range bytes.Lines(p) {
		w.line = append(w.line, part...)
		ended := part[len(part)-1] == '\n'
		switch {
		case ended && w.begun:
			out.Write(w.line)
		case ended:
			w.print(&out, w.line[:len(w.line)-1])
		case len(w.line) <= maxLogLine && !w.begun:
			continue
		default:
			if !w.begun {
				w.endTrace(&out)
				out.WriteString(w.Prefix)
			}
			out.Write(w.line)
		}
		w.begun = !ended
		w.line = w.line[:0]
	}
	if out.Len() == 0 {
		return len(p), nil
	}
	_, err := w.Out.Write(out.Bytes())
	return len(p), err
}

// Flush prints a line that has no end. It is called when the manager has ended.
func (w *LogWriter) Flush() {
	var out bytes.Buffer
	switch {
	case w.begun:
		out.Write(w.line)
		out.WriteByte('\n')
	case len(w.line) > 0:
		w.print(&out, w.line)
	}
	w.endTrace(&out)
	w.line, w.begun = nil, false
	if out.Len() > 0 {
		_, _ = w.Out.Write(out.Bytes()) // as with Write, the manager does not depend on its log
	}
}

// print prints a line, which has no line end.
func (w *LogWriter) print(out *bytes.Buffer, line []byte) {
	if w.Failed != nil {
		w.reportError(line)
	}
	if w.Compact {
		if w.skipTrace(out, line) {
			return
		}
		if e, ok := parseEntry(bytes.TrimSuffix(line, []byte("\r"))); ok {
			if e.isRoutine() {
				w.note(out, &w.notedRoutine, "messages about each part that starts or stops are left out")
				return
			}
			e.print(out, w.Color, w.Location)
			w.inTrace = e.mayHaveTrace
			if e.hasTrace {
				w.noteTrace(out)
			}
			return
		}
	}
	out.WriteString(w.Prefix)
	out.Write(line)
	out.WriteByte('\n')
}

var (
	traceFunction = lazyregexp.New(`^[\w./~@%-]+\.[\w.()*\[\]-]+$`)
	traceFile     = lazyregexp.New(`^\t\S.*:\d+$`)
)

// skipTrace reports whether a line belongs to the stack trace that follows an entry: pairs of a function and a file. A
// function is not printed before the next line shows that it is none.
func (w *LogWriter) skipTrace(out *bytes.Buffer, line []byte) bool {
	if !w.inTrace {
		return false
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	switch {
	case w.function == nil && traceFunction.Match(line):
		w.function = bytes.Clone(line)
		return true
	case w.function != nil && traceFile.Match(line):
		w.function = nil
		w.noteTrace(out)
		return true
	}
	w.endTrace(out)
	return false
}

// endTrace ends a stack trace, and prints the line that turns out not to belong to it.
func (w *LogWriter) endTrace(out *bytes.Buffer) {
	if w.function != nil {
		out.WriteString(w.Prefix)
		out.Write(w.function)
		out.WriteByte('\n')
	}
	w.inTrace, w.function = false, nil
}

func (w *LogWriter) noteTrace(out *bytes.Buffer) {
	w.note(out, &w.notedTrace, "stack traces are left out")
}

// note prints once what is left out.
func (w *LogWriter) note(out *bytes.Buffer, noted *bool, text string) {
	if !*noted {
		out.WriteString(paint(w.Color, dim, "         "+text+"; --logs full prints them") + "\n")
	}
	*noted = true
}
