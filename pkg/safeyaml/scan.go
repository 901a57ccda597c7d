package safeyaml

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// A scanner counts the nodes of a stream of YAML documents without building them. It finds the same tokens as go-yaml, and its
// counts are upper limits of what go-yaml would build. It can continue where go-yaml stops with an error.
type scanner struct {
	data []byte
	pos  int
	line int
	// column is the column of columnPos in characters; method currentColumn updates it.
	column, columnPos int

	// blocks are the open block collections, flows the open flow collections in the innermost block.
	blocks, flows []frame
	// keyAllowed is true if a key without ? can begin at pos.
	keyAllowed bool
	// key is the token of the block context that is a key if a colon follows on the same line.
	key struct {
		possible     bool
		line, column int
	}
	// last is the hash of the last scalar, if only properties followed.
	last uint64

	// before is the number of nodes in other texts of the set, nodes the number including these, and most the limit.
	before, nodes, most, directives, repeated int
	aliases                                   bool
}

// scan reads the stream to its end.
func (s *scanner) scan() error {
	s.line, s.keyAllowed, s.nodes = 1, true, s.before+2
	for s.skipToToken() {
		if err := s.token(); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) fail(format string, args ...any) error {
	return &Error{Line: s.line, Problem: fmt.Sprintf(format, args...)}
}

// at returns the byte at an offset from pos, or 0 at the end.
func (s *scanner) at(offset int) byte {
	if i := s.pos + offset; i < len(s.data) {
		return s.data[i]
	}
	return 0
}

// breakAt returns the length of the line break at pos, or 0.
func (s *scanner) breakAt(pos int) int {
	switch s.data[pos] {
	case '\n':
		return 1
	case '\r':
		if pos+1 < len(s.data) && s.data[pos+1] == '\n' {
			return 2
		}
		return 1
	case 0xC2:
		if pos+1 < len(s.data) && s.data[pos+1] == 0x85 {
			return 2
		}
	case 0xE2:
		if pos+2 < len(s.data) && s.data[pos+1] == 0x80 && (s.data[pos+2] == 0xA8 || s.data[pos+2] == 0xA9) {
			return 3
		}
	}
	return 0
}

// blankAt reports whether a blank, a line break or the end is at an offset from pos.
func (s *scanner) blankAt(offset int) bool {
	i := s.pos + offset
	return i >= len(s.data) || s.data[i] == ' ' || s.data[i] == '\t' || s.breakAt(i) > 0
}

// newLine skips a line break.
func (s *scanner) newLine(length int) {
	s.pos += length
	s.line++
	s.column, s.columnPos = 0, s.pos
}

// currentColumn returns the column of pos.
func (s *scanner) currentColumn() int {
	s.column += utf8.RuneCount(s.data[s.columnPos:s.pos])
	s.columnPos = s.pos
	return s.column
}

// skipLine skips the rest of the line.
func (s *scanner) skipLine() {
	for s.pos < len(s.data) && s.breakAt(s.pos) == 0 {
		s.pos++
	}
}

// skipToToken skips blanks, line breaks and comments. It reports whether a token follows.
func (s *scanner) skipToToken() bool {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == ' ' || c == '\t':
			s.pos++
		case c == '#':
			s.skipLine()
		default:
			length := s.breakAt(s.pos)
			if length == 0 {
				return true
			}
			s.newLine(length)
			if len(s.flows) == 0 {
				s.keyAllowed = true
			}
		}
	}
	return false
}

// isDocumentMark reports whether --- or ... is at pos and pos is the beginning of a line.
func (s *scanner) isDocumentMark() bool {
	if s.pos != s.columnPos || s.column != 0 {
		return false
	}
	rest := s.data[s.pos:]
	return (bytes.HasPrefix(rest, []byte("---")) || bytes.HasPrefix(rest, []byte("..."))) && s.blankAt(3)
}

// token reads one token.
func (s *scanner) token() error {
	if len(s.flows) == 0 {
		s.unroll(s.currentColumn())
	}
	c := s.data[s.pos]
	switch {
	case c == '%' && s.currentColumn() == 0:
		s.unroll(-1)
		s.key.possible, s.keyAllowed = false, false
		s.skipLine()
		if s.directives++; s.directives > maxDirectives {
			return s.fail("has more than %d directives", maxDirectives)
		}
		return nil
	case s.isDocumentMark():
		s.unroll(-1)
		s.key.possible, s.keyAllowed, s.last = false, false, emptyKey
		s.pos += 3
		return s.count(2)
	case c == '[' || c == '{':
		s.saveKey()
		s.pos++
		return s.pushFlow(c)
	case c == ']' || c == '}':
		s.pos++
		if len(s.flows) > 0 {
			s.endPair()
			s.flows = s.flows[:len(s.flows)-1]
		}
		s.keyAllowed, s.last = false, complexKey
		return s.count(1)
	case c == ',':
		s.pos++
		if len(s.flows) > 0 {
			s.endPair()
		}
		s.keyAllowed, s.last = true, emptyKey
		return s.count(2)
	case c == '-' && s.blankAt(1):
		return s.entry()
	case c == '?' && (len(s.flows) > 0 || s.blankAt(1)):
		return s.explicitKey()
	case c == ':' && (len(s.flows) > 0 || s.blankAt(1)):
		return s.value()
	case c == '*' || c == '&':
		s.saveKey()
		s.keyAllowed = false
		for s.pos++; s.pos < len(s.data) && isAnchor(s.data[s.pos]); s.pos++ {
		}
		if c == '*' {
			s.aliases, s.last = true, complexKey
		}
	case c == '!':
		s.saveKey()
		s.keyAllowed = false
		for !s.blankAt(0) {
			s.pos++
		}
	case (c == '|' || c == '>') && len(s.flows) == 0:
		s.key.possible, s.keyAllowed, s.last = false, true, complexKey
		s.blockScalar()
	case c == '\'' || c == '"':
		s.saveKey()
		s.keyAllowed = false
		s.quoted(c)
	default:
		s.saveKey()
		s.keyAllowed = false
		s.plain()
	}
	return s.count(1)
}

func isAnchor(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-'
}

// count adds nodes.
func (s *scanner) count(n int) error {
	s.nodes += n
	switch {
	case s.nodes <= s.most:
		return nil
	case s.nodes-s.before > MaxNodes:
		return s.fail("contains more than %d values", MaxNodes)
	}
	return s.fail("contains more than %d values together with the files before it", s.most)
}

// checkDepth counts a new collection.
func (s *scanner) checkDepth() error {
	if len(s.blocks)+len(s.flows) > MaxDepth {
		return s.fail("is nested more than %d levels deep", MaxDepth)
	}
	return s.count(1)
}

// saveKey records that the token at pos can be a key.
func (s *scanner) saveKey() {
	if s.keyAllowed && len(s.flows) == 0 {
		s.key.possible, s.key.line, s.key.column = true, s.line, s.currentColumn()
		s.last = emptyKey
	}
}

// dropKey records that the tokens before pos are not keys, except for a token before an open flow collection.
func (s *scanner) dropKey() {
	if len(s.flows) == 0 {
		s.key.possible = false
	}
}

// entry reads the dash of a sequence.
func (s *scanner) entry() error {
	if len(s.flows) == 0 {
		if err := s.roll(s.currentColumn()); err != nil {
			return err
		}
	}
	s.pos++
	s.dropKey()
	s.keyAllowed, s.last = true, emptyKey
	return s.count(2)
}

// explicitKey reads a question mark.
func (s *scanner) explicitKey() error {
	if len(s.flows) == 0 {
		if err := s.blockKey(s.currentColumn(), complexKey); err != nil {
			return err
		}
	}
	s.pos++
	s.dropKey()
	s.keyAllowed, s.last = len(s.flows) == 0, emptyKey
	return s.count(3)
}

// value reads a colon.
func (s *scanner) value() error {
	var err error
	switch {
	case len(s.flows) > 0:
		err = s.flowKey()
	case s.key.possible && s.key.line == s.line:
		err = s.blockKey(s.key.column, s.last)
		s.keyAllowed = false
	default:
		err = s.blockKey(s.currentColumn(), complexKey)
		s.keyAllowed = true
	}
	if err != nil {
		return err
	}
	s.pos++
	s.dropKey()
	s.last = emptyKey
	return s.count(2)
}
