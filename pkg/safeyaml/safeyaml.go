// Package safeyaml parses untrusted YAML and JSON within limits of size, nesting, values, keys and aliases. Check checks a text,
// Unmarshal and Decoder check and parse it, ReadFile reads a file. go-yaml alone expands all aliases, compares each key of a
// mapping with all others, and needs a hundred times the memory of the text.
package safeyaml

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// The limits of one text. They are far above the needs of objects that fit into etcd (1.5 MiB of JSON).
const (
	// MaxSize is the size of a file in bytes.
	MaxSize = 16 << 20
	// MaxDepth is the number of nested indentations and brackets. Objects can be twice as deep, as lists need no indentation.
	MaxDepth = 150
	// MaxNodes is the number of values, keys and collections after expanding aliases.
	MaxNodes = 500_000
	// MaxKeys is the number of keys of one mapping.
	MaxKeys = 5000
	// maxRepeated is the number of repeated keys, maxDirectives the number of lines with %.
	maxRepeated, maxDirectives = 100, 100
)

// An Error reports a text that exceeds a limit or contains a merge conflict.
type Error struct {
	Line    int // 0 if the problem is the size
	Problem string
	// Conflict is true if the problem is a merge conflict.
	Conflict bool
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

// Check returns an *Error if a text exceeds a limit or contains a merge conflict. It does not report other errors: text that
// is not YAML passes.
func Check(data []byte) error { return new(Set).Check(data) }

// A Set limits the sum of texts that are read together, such as the files of a bundle, in addition to each text.
type Set struct {
	// MaxSize and MaxNodes are the limits of the sums; the default is the limit of a single text.
	MaxSize, MaxNodes int

	size, nodes int
}

// Check checks the next text of the set like the function Check.
func (t *Set) Check(data []byte) error {
	if len(data) > MaxSize {
		return TooLarge(int64(len(data)), MaxSize)
	}
	maxSize := cmp.Or(t.MaxSize, MaxSize)
	if t.size += len(data); t.size > maxSize {
		return &Error{Problem: fmt.Sprintf("has %d bytes together with the files before it, more than the limit of %d", t.size, maxSize)}
	}
	data, err := plainText(data)
	if err != nil {
		return err
	}
	if conflicts := textdiff.ConflictFindings("", data); conflicts != nil {
		return &Error{Line: conflicts[0].Line, Problem: conflicts[0].Problem, Conflict: true}
	}
	s := scanner{data: data, before: t.nodes, most: min(t.nodes+MaxNodes, cmp.Or(t.MaxNodes, MaxNodes))}
	if err := s.scan(); err != nil {
		return err
	}
	t.nodes = s.nodes
	if s.aliases || s.repeated > maxRepeated {
		return checkNodes(data)
	}
	return nil
}

// plainText returns the part of a text that go-yaml reads, as UTF-8: without byte order mark and up to the first zero byte.
func plainText(data []byte) ([]byte, error) {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
	}
	if order != nil {
		var units []uint16
		for rest := data[2:]; len(rest) >= 2; rest = rest[2:] {
			units = append(units, order.Uint16(rest))
		}
		data = []byte(string(utf16.Decode(units)))
	}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		return nil, &Error{Line: 1, Problem: "begins with two byte order marks; save the file as UTF-8 without any"}
	}
	if end := bytes.IndexByte(data, 0); end >= 0 {
		data = data[:end]
	}
	return data, nil
}
