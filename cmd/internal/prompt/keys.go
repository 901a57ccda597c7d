package prompt

import (
	"bufio"
	"bytes"
	"io"
	"os"
)

// The escape sequences that enclose pasted text, and the ones that ask the terminal for them.
const (
	pasteBegins, pasteEnds = "\x1b[200~", "\x1b[201~"
	markPastes, noMarks    = "\x1b[?2004h", "\x1b[?2004l"
)

// lineBreak stands for a line break of pasted text in the line that the user edits.
const lineBreak = "⏎"

// keys reads what is typed at a terminal, one line at a time. Several lines that are typed ahead or pasted answer one question each. If the
// terminal marks pasted text, its line breaks become lineBreak.
type keys struct {
	file *os.File
	in   *bufio.Reader
	// last are the last bytes that were read, as many as the marks of pasted text have; pasting means that such text is read.
	last    []byte
	pasting bool
}

func newKeys(file *os.File) *keys { return &keys{file: file, in: bufio.NewReader(file)} }

// Read returns at most the rest of a line, with its end.
func (k *keys) Read(p []byte) (int, error) {
	if len(p) < len(lineBreak) {
		return 0, io.ErrShortBuffer
	}
	n := 0
	for n == 0 || n+len(lineBreak) <= len(p) && k.in.Buffered() > 0 {
		b, err := k.in.ReadByte()
		if err != nil {
			return n, err
		}
		before := k.follow(b)
		switch ends := b == '\r' || b == '\n'; {
		case ends && b == '\n' && before == '\r': // the line has ended
		case ends && k.pasting:
			n += copy(p[n:], lineBreak)
		case k.pasting && b == '\t':
			p[n] = ' '
			n++
		default:
			p[n] = b
			n++
			if ends {
				return n, nil
			}
		}
	}
	return n, nil
}

// follow keeps track of marks of pasted text, and returns the byte before b.
func (k *keys) follow(b byte) (before byte) {
	if len(k.last) > 0 {
		before = k.last[len(k.last)-1]
	}
	k.last = append(k.last, b)
	k.last = k.last[max(0, len(k.last)-len(pasteBegins)):]
	k.pasting = bytes.Equal(k.last, []byte(pasteBegins)) || k.pasting && !bytes.Equal(k.last, []byte(pasteEnds))
	return before
}
