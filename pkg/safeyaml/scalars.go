package safeyaml

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
	for s.pos < len(s.data) && !s.isDocumentMark() && s.data[s.pos] != '#' {
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
		if s.pos == blanks || len(s.flows) == 0 && s.line != broken && s.currentColumn() < indent {
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

// plainWord reads the part of a plain scalar up to a blank or the end of the scalar.
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
