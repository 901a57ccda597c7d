package safeyaml

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// scanner reads a stream of YAML documents as far as its structure goes. It finds tokens where go-yaml finds them, but
// builds nothing: what it counts is an upper bound of what go-yaml would make of the text. Where go-yaml would stop
// with an error, it may read on.
type scanner struct {
	data []byte
	pos  int
	line int
	// column is that of pos, in characters, of the block context. It is brought up to date where it matters.
	column, columnPos int

	// blocks and flows are the open block collections and, within the innermost one, flow collections.
	blocks, flows []frame
	// keyAllowed reports whether a key without ? may begin at pos.
	keyAllowed bool
	// key is the token of the block context that is a key if a colon follows on its line.
	key struct {
		possible     bool
		line, column int
	}
	// last is the hash of the scalar that was read last, if nothing but properties followed.
	last uint64

	// before is the number of nodes in other texts, nodes the number with these, and most the limit of that.
	before, nodes, most, directives, repeated int
	aliases                                   bool
}

// frame is an open collection.
type frame struct {
	column  int  // of a block collection
	mapping bool // of a flow collection
	// valued reports whether the key of the current pair of a flow mapping was counted.
	valued bool
	keys   []uint64
	set    map[uint64]struct{}
}

// The hashes of keys that are not compared, but count as repeated: hash returns none of them.
const (
	emptyKey = iota
	complexKey
	escapedKey
	otherKeys
)

// scan reads the whole stream.
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

// at returns the byte at an offset from pos; 0 stands for the end.
func (s *scanner) at(offset int) byte {
	if i := s.pos + offset; i < len(s.data) {
		return s.data[i]
	}
	return 0
}

// breakAt returns the length of the line break at pos, 0 where there is none.
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

func (s *scanner) newLine(length int) {
	s.pos += length
	s.line++
	s.column, s.columnPos = 0, s.pos
}

// here returns the column of pos.
func (s *scanner) here() int {
	s.column += utf8.RuneCount(s.data[s.columnPos:s.pos])
	s.columnPos = s.pos
	return s.column
}

func (s *scanner) skipLine() {
	for s.pos < len(s.data) && s.breakAt(s.pos) == 0 {
		s.pos++
	}
}

// skipToToken skips blanks, line breaks and comments. It reports whether anything follows.
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

// documentMark reports whether pos is at --- or ... at the beginning of a line.
func (s *scanner) documentMark() bool {
	if s.pos != s.columnPos || s.column != 0 {
		return false
	}
	rest := s.data[s.pos:]
	return (bytes.HasPrefix(rest, []byte("---")) || bytes.HasPrefix(rest, []byte("..."))) && s.blankAt(3)
}

// token reads one token.
func (s *scanner) token() error {
	if len(s.flows) == 0 {
		s.unroll(s.here())
	}
	c := s.data[s.pos]
	switch {
	case c == '%' && s.here() == 0:
		s.unroll(-1)
		s.key.possible, s.keyAllowed = false, false
		s.skipLine()
		if s.directives++; s.directives > maxDirectives {
			return s.fail("has more than %d directives", maxDirectives)
		}
		return nil
	case s.documentMark():
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
		return s.fail("holds more than %d values", MaxNodes)
	}
	return s.fail("holds more than %d values together with the files before it", s.most)
}

// checkDepth counts a collection that was opened.
func (s *scanner) checkDepth() error {
	if len(s.blocks)+len(s.flows) > MaxDepth {
		return s.fail("is nested more than %d levels deep", MaxDepth)
	}
	return s.count(1)
}

// push opens a collection, with the memory of a former one.
func push(frames []frame, f frame) []frame {
	if len(frames) < cap(frames) {
		f.keys = frames[:len(frames)+1][len(frames)].keys[:0]
	}
	return append(frames, f)
}

func (s *scanner) pushFlow(c byte) error {
	s.flows = push(s.flows, frame{mapping: c == '{'})
	s.keyAllowed, s.last = true, emptyKey
	return s.checkDepth()
}

// roll opens a block collection at a column, unless one is open there.
func (s *scanner) roll(column int) error {
	if len(s.blocks) > 0 && s.blocks[len(s.blocks)-1].column >= column {
		return nil
	}
	s.blocks = push(s.blocks, frame{column: column})
	return s.checkDepth()
}

// unroll closes the block collections that are indented further than a column.
func (s *scanner) unroll(column int) {
	if len(s.flows) > 0 {
		return
	}
	for len(s.blocks) > 0 && s.blocks[len(s.blocks)-1].column > column {
		s.blocks = s.blocks[:len(s.blocks)-1]
	}
}

// saveKey notes that a token that begins at pos may be a key.
func (s *scanner) saveKey() {
	if s.keyAllowed && len(s.flows) == 0 {
		s.key.possible, s.key.line, s.key.column = true, s.line, s.here()
		s.last = emptyKey
	}
}

// forgetKey notes that the tokens before pos are no key. One before a flow collection that is open may still be.
func (s *scanner) forgetKey() {
	if len(s.flows) == 0 {
		s.key.possible = false
	}
}

// entry reads the dash of a sequence.
func (s *scanner) entry() error {
	if len(s.flows) == 0 {
		if err := s.roll(s.here()); err != nil {
			return err
		}
	}
	s.pos++
	s.forgetKey()
	s.keyAllowed, s.last = true, emptyKey
	return s.count(2)
}

// explicitKey reads a question mark.
func (s *scanner) explicitKey() error {
	if len(s.flows) == 0 {
		if err := s.blockKey(s.here(), complexKey); err != nil {
			return err
		}
	}
	s.pos++
	s.forgetKey()
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
		err = s.blockKey(s.here(), complexKey)
		s.keyAllowed = true
	}
	if err != nil {
		return err
	}
	s.pos++
	s.forgetKey()
	s.last = emptyKey
	return s.count(2)
}

// blockKey counts a key of the block mapping at a column.
func (s *scanner) blockKey(column int, key uint64) error {
	if err := s.roll(column); err != nil {
		return err
	}
	return s.addKey(&s.blocks[len(s.blocks)-1], key)
}

// flowKey counts the last scalar as the key of a flow mapping.
func (s *scanner) flowKey() error {
	top := &s.flows[len(s.flows)-1]
	if !top.mapping || top.valued {
		return nil
	}
	top.valued = true
	return s.addKey(top, s.last)
}

// endPair ends a pair of a flow mapping, which may be a key alone.
func (s *scanner) endPair() {
	if top := &s.flows[len(s.flows)-1]; top.mapping {
		_ = s.flowKey() // the next key fails in its place
		top.valued = false
	}
}

// addKey counts a key of a mapping, and whether it was there.
func (s *scanner) addKey(f *frame, key uint64) error {
	const few = 16 // that are found sooner in a list
	if len(f.keys) >= MaxKeys {
		return s.fail("is a mapping of more than %d keys", MaxKeys)
	}
	var found bool
	if f.set != nil {
		_, found = f.set[key]
		f.set[key] = struct{}{}
	} else {
		found = slices.Contains(f.keys, key)
	}
	if found || key < otherKeys {
		s.repeated++
	}
	f.keys = append(f.keys, key)
	if f.set == nil && len(f.keys) > few {
		f.set = make(map[uint64]struct{}, 4*few)
		for _, k := range f.keys {
			f.set[k] = struct{}{}
		}
	}
	return nil
}

// hash returns the FNV-1a hash of a key.
func hash(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return max(h, otherKeys)
}

// blockScalar reads a literal or folded scalar with its indicators.
func (s *scanner) blockScalar() {
	s.pos++
	increment := 0
	for range 2 {
		switch c := s.at(0); {
		case c >= '1' && c <= '9':
			increment = int(c - '0')
			s.pos++
		case c == '+' || c == '-':
			s.pos++
		}
	}
	for s.at(0) == ' ' || s.at(0) == '\t' {
		s.pos++
	}
	if s.at(0) == '#' {
		s.skipLine()
	}
	if s.pos >= len(s.data) {
		return
	}
	length := s.breakAt(s.pos)
	if length == 0 {
		return // go-yaml stops here
	}
	s.newLine(length)
	parent := -1
	if len(s.blocks) > 0 {
		parent = s.blocks[len(s.blocks)-1].column
	}
	indent := 0
	if increment > 0 {
		indent = max(parent, 0) + increment
	}
	for deepest := 0; ; {
		start := s.pos
		for s.at(0) == ' ' && (indent == 0 || s.pos-start < indent) {
			s.pos++
		}
		width := s.pos - start
		deepest = max(deepest, width)
		if s.pos < len(s.data) {
			if length := s.breakAt(s.pos); length > 0 {
				s.newLine(length)
				continue
			}
		}
		if indent == 0 {
			indent = max(deepest, parent+1, 1)
		}
		if s.pos >= len(s.data) || width != indent {
			return
		}
		s.skipLine()
		if s.pos < len(s.data) {
			s.newLine(s.breakAt(s.pos))
		}
	}
}

// quoted reads a scalar in quotes.
func (s *scanner) quoted(quote byte) {
	s.pos++
	start, escaped := s.pos, false
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == quote && quote == '\'' && s.at(1) == '\'':
			escaped = true
			s.pos += 2
		case c == quote:
			s.last = escapedKey
			if !escaped {
				s.last = hash(s.data[start:s.pos])
			}
			s.pos++
			return
		case c == '\\' && quote == '"':
			escaped = true
			s.pos++
			if s.pos < len(s.data) && s.breakAt(s.pos) == 0 {
				s.pos++
			}
		default:
			if length := s.breakAt(s.pos); length > 0 {
				escaped = true
				s.newLine(length)
			} else {
				s.pos++
			}
		}
	}
}

// plain reads a scalar without quotes.
func (s *scanner) plain() {
	indent := 0
	if len(s.blocks) > 0 {
		indent = s.blocks[len(s.blocks)-1].column + 1
	}
	start, end, line := s.pos, s.pos, s.line
	for s.pos < len(s.data) && !s.documentMark() && s.data[s.pos] != '#' {
		word, broken := s.pos, s.line
		if s.plainWord(); s.pos > word {
			end = s.pos
		}
		blanks := s.pos
		for s.pos < len(s.data) {
			if c := s.data[s.pos]; c == ' ' || c == '\t' {
				s.pos++
			} else if length := s.breakAt(s.pos); length > 0 {
				s.newLine(length)
			} else {
				break
			}
		}
		if s.pos == blanks || len(s.flows) == 0 && s.line != broken && s.here() < indent {
			break
		}
	}
	if s.pos == start {
		s.pos++ // go-yaml stops here
	}
	s.last = escapedKey
	if s.line == line {
		s.last = hash(s.data[start:end])
	} else {
		s.keyAllowed = true
	}
}

// plainWord reads the part of a plain scalar up to a blank, or to what ends it.
func (s *scanner) plainWord() {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t':
			return
		case ':':
			if s.blankAt(1) {
				return
			}
		case ',', '?', '[', ']', '{', '}':
			if len(s.flows) > 0 {
				return
			}
		case '\n', '\r', 0xC2, 0xE2:
			if s.breakAt(s.pos) > 0 {
				return
			}
		}
	}
}
