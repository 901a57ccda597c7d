package gotool

import "bytes"

// lines is a writer that calls each with every line, which includes its end.
type lines struct {
	each func(line []byte) error
	rest []byte
}

func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		i := bytes.IndexByte(l.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		line := l.rest[:i+1]
		l.rest = l.rest[i+1:]
		if err := l.each(line); err != nil {
			return 0, err
		}
	}
}

// end calls each with a last line that has no end.
func (l *lines) end() error {
	if len(l.rest) == 0 {
		return nil
	}
	line := l.rest
	l.rest = nil
	return l.each(line)
}
