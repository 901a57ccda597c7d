// Package safeyaml reads YAML and JSON that others wrote within bounds: go-yaml follows every alias, compares each key of
// a mapping with each other one and reports every pair of equal ones, and what it builds takes a hundred times the memory
// of the text.
package safeyaml

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// The bounds of one text. No object that fits into etcd (1.5 MiB of JSON) comes near them.
const (
	// MaxSize is the size of a file in bytes.
	MaxSize = 16 << 20
	// MaxDepth is the number of indentations and brackets within each other. The objects may be twice as deep, since a list
	// need not be indented.
	MaxDepth = 150
	// MaxNodes is the number of values, keys and collections, with aliases replaced by what they stand for.
	MaxNodes = 500_000
	// MaxKeys is the number of keys of one mapping.
	MaxKeys = 5000
	// maxRepeated is the number of keys that their mapping has already, maxDirectives that of lines with %.
	maxRepeated, maxDirectives = 100, 100
)

// Error is what is out of bounds in a text, or a merge conflict in it.
type Error struct {
	Line    int // 0 if it is the whole text
	Problem string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Problem
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

// Check returns an *Error if a text is out of bounds or holds a merge conflict. It says nothing of other faults: text that is not
// YAML passes.
func Check(data []byte) error { return new(Set).Check(data) }

// A Set is texts that are read together, such as the files of a bundle. Besides each text, their sums are bounded.
type Set struct {
	// MaxSize and MaxNodes are the bounds of the sums. Zero is the bound of a single text.
	MaxSize, MaxNodes int

	size, nodes int
}

// Check is Check for the next text of the set.
func (t *Set) Check(data []byte) error {
	if len(data) > MaxSize {
		return TooLarge(int64(len(data)), MaxSize)
	}
	maxSize := cmp.Or(t.MaxSize, MaxSize)
	if t.size += len(data); t.size > maxSize {
		return &Error{Problem: fmt.Sprintf("has %d bytes together with the files before it, more than the %d that are read", t.size, maxSize)}
	}
	data, err := plainText(data)
	if err != nil {
		return err
	}
	if conflicts := textdiff.Conflicts(data); len(conflicts) > 0 {
		return &Error{Line: conflicts[0].First, Problem: textdiff.ConflictProblem(conflicts)}
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

// plainText returns what go-yaml reads of a text as UTF-8, without the byte order mark and up to the first zero byte.
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

// TooLarge returns the error for a text of a size, of which no more than limit bytes are read.
func TooLarge(size int64, limit int) *Error {
	return &Error{Problem: fmt.Sprintf("has %d bytes, more than the %d that are read of it", size, limit)}
}

// ReadFile returns the content of a file of at most limit bytes. A larger one is not read, and gives an *Error. The file
// system may be an fs.FS or an afero.Fs.
func ReadFile[F fs.File](fsys interface{ Open(name string) (F, error) }, name string, limit int) ([]byte, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > int64(limit) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: TooLarge(info.Size(), limit)}
	}
	return readAll(file, limit, int(info.Size()))
}

// ReadAll reads at most limit bytes. More give an *Error.
func ReadAll(r io.Reader, limit int) ([]byte, error) { return readAll(r, limit, 0) }

// readAll reads at most limit bytes, of which there may be size.
func readAll(r io.Reader, limit, size int) ([]byte, error) {
	buffer := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buffer.ReadFrom(io.LimitReader(r, int64(limit)+1))
	if err == nil && buffer.Len() > limit {
		return nil, &Error{Problem: fmt.Sprintf("has more than the %d bytes that are read of it", limit)}
	}
	return buffer.Bytes(), err
}

// checkNodes checks what only the parsed text shows. The text itself is within the bounds.
func checkNodes(data []byte) error {
	c := &counter{sizes: map[*yaml.Node]int{}}
	for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
		var document yaml.Node
		if decoder.Decode(&document) != nil {
			return nil // at the end, or at a fault that readers report
		}
		size, err := c.count(&document)
		if err != nil {
			return err
		}
		if c.total += size; c.total > MaxNodes {
			return &Error{Line: document.Line, Problem: fmt.Sprintf("holds more than %d values where its aliases are replaced by what they stand for", MaxNodes)}
		}
	}
}

// counter counts nodes where aliases are replaced by what they stand for.
type counter struct {
	total, repeated int
	// sizes are those of anchored nodes; 0 marks one that is being counted.
	sizes map[*yaml.Node]int
}

func (c *counter) count(node *yaml.Node) (int, error) {
	if node.Kind == yaml.AliasNode {
		size, ok := c.sizes[node.Alias]
		if !ok || size == 0 {
			return 0, &Error{Line: node.Line, Problem: fmt.Sprintf("the alias *%s stands within what it stands for", node.Value)}
		}
		return size, nil
	}
	if node.Anchor != "" {
		c.sizes[node] = 0
	}
	size, keys := 1, map[string]bool{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[child.Value] {
				if c.repeated++; c.repeated > maxRepeated {
					return 0, &Error{Line: child.Line, Problem: fmt.Sprintf("is the key %.40q again, and more than %d keys stand twice", child.Value, maxRepeated)}
				}
			}
			keys[child.Value] = true
		}
		more, err := c.count(child)
		if err != nil {
			return 0, err
		}
		size = min(size+more, MaxNodes+1)
	}
	if node.Anchor != "" {
		c.sizes[node] = size
	}
	return size, nil
}

// Unmarshal is yaml.Unmarshal of go-yaml, within the bounds.
func Unmarshal(data []byte, into any) error {
	if err := Check(data); err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
}

// ToJSON is YAMLToJSON of sigs.k8s.io/yaml, within the bounds.
func ToJSON(data []byte) ([]byte, error) {
	if err := Check(data); err != nil {
		return nil, err
	}
	return sigsyaml.YAMLToJSON(data)
}

// UnmarshalJSON is Unmarshal of sigs.k8s.io/yaml, within the bounds: the tags json of a type count.
func UnmarshalJSON(data []byte, into any) error {
	if err := Check(data); err != nil {
		return err
	}
	return sigsyaml.Unmarshal(data, into)
}

// UnmarshalStrict is UnmarshalJSON that refuses unknown and repeated keys.
func UnmarshalStrict(data []byte, into any) error {
	if err := Check(data); err != nil {
		return err
	}
	return sigsyaml.UnmarshalStrict(data, into)
}

// A Decoder reads the documents of a YAML stream, within the bounds.
type Decoder struct {
	*yaml.Decoder
	err error
}

// NewDecoder returns a decoder of a whole stream. If that is out of bounds, Decode returns why.
func NewDecoder(data []byte) *Decoder {
	return &Decoder{Decoder: yaml.NewDecoder(bytes.NewReader(data)), err: Check(data)}
}

// Decode reads the next document; io.EOF is the end.
func (d *Decoder) Decode(into any) error {
	if d.err != nil {
		return d.err
	}
	return d.Decoder.Decode(into)
}
