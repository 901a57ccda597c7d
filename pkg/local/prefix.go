package local

import (
	"bytes"
	"io"
)

// PrefixWriter writes a prefix before every line. It passes on whole lines only.
type PrefixWriter struct {
	// Out gets the lines, Prefix comes before each.
	Out    io.Writer
	Prefix string

	partial []byte
}

func (w *PrefixWriter) Write(p []byte) (int, error) {
	w.partial = append(w.partial, p...)
	end := bytes.LastIndexByte(w.partial, '\n')
	if end < 0 {
		return len(p), nil
	}
	var out bytes.Buffer
	for line := range bytes.Lines(w.partial[:end+1]) {
		out.WriteString(w.Prefix)
		out.Write(line)
	}
	w.partial = append(w.partial[:0], w.partial[end+1:]...)
	_, err := w.Out.Write(out.Bytes())
	return len(p), err
}
