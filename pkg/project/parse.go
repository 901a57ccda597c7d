package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// ParseError says where and why a PROJECT file cannot be read.
type ParseError struct {
	// Line and Column count from 1; 0 is the whole file or the whole line.
	Line, Column int
	// Problem is the cause, Hint what to do about it.
	Problem, Hint string
	// bound is set if the text is out of the bounds of safeyaml.
	bound *safeyaml.Error
}

// Unwrap returns the bound that the file exceeds, if that is the problem.
func (e *ParseError) Unwrap() error {
	if e.bound == nil {
		return nil
	}
	return e.bound
}

// Error gives the error in the form file:line:column: problem; hint.
func (e *ParseError) Error() string {
	where := FileName
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
	}
	if e.Column > 0 {
		where += ":" + strconv.Itoa(e.Column)
	}
	return where + ": " + e.Problem + "; " + e.Hint
}

// mostBytes is more than a thousand resources need; YAML of other files may take minutes to parse.
const mostBytes = 512 << 10

const restoreHint = "restore the file from version control, or create a project with init"

func at(node *yaml.Node, hint, format string, args ...any) error {
	return &ParseError{Line: node.Line, Column: node.Column, Problem: fmt.Sprintf(format, args...), Hint: hint}
}

// readDocument parses the one YAML document of a PROJECT file and returns its mapping.
func readDocument(text []byte) (*yaml.Node, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, &ParseError{Problem: "the file is empty", Hint: restoreHint}
	}
	if len(text) > mostBytes {
		bound := safeyaml.TooLarge(int64(len(text)), mostBytes)
		return nil, &ParseError{Problem: "the file " + bound.Problem, Hint: restoreHint, bound: bound}
	}
	if err := checkEncoding(text); err != nil {
		return nil, err
	}
	decoder := safeyaml.NewDecoder(text)
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, &ParseError{Problem: "the file holds only comments", Hint: restoreHint}
	} else if err != nil {
		return nil, syntaxError(text, err)
	}
	var next yaml.Node
	if err := decoder.Decode(&next); err == nil {
		return nil, at(&next, "keep the first one only", "a second YAML document starts here")
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxError(text, err)
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, at(root, restoreHint, "expected keys with values, found %s", describe(root))
	}
	if len(root.Content) == 0 {
		return nil, at(root, restoreHint, "the file holds no keys")
	}
	if err := checkMappings(root); err != nil {
		return nil, err
	}
	return root, nil
}

// checkEncoding refuses what is not UTF-8, before the YAML parser gives it another meaning.
func checkEncoding(text []byte) error {
	if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
		return &ParseError{Line: 1, Column: 1, Problem: "the file is in UTF-16", Hint: "save it as UTF-8"}
	}
	line, column := 1, 1
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			return &ParseError{Line: line, Column: column, Problem: "the file is not valid UTF-8", Hint: "save it as UTF-8"}
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r' || r == 0x7F:
			return &ParseError{Line: line, Column: column, Problem: fmt.Sprintf("a control character (%U)", r), Hint: "remove it"}
		}
		column++
		rest = rest[size:]
	}
	return nil
}

// checkMappings looks, at any depth, for control characters, which an escape in quotes may stand for, for keys given twice,
// which YAML forbids and node decoding lets pass, and for keys that are no text: the readers of the peers refuse those, too.
func checkMappings(node *yaml.Node) error {
	if node.Kind == yaml.MappingNode {
		seen := map[string]*yaml.Node{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
				return at(key, "remove it, or give the value a name", "a key must be a name, found %s", describe(key))
			}
			if first, ok := seen[key.Value]; ok {
				return at(key, "remove one of the two", "key %q is given twice, first in line %d", key.Value, first.Line)
			}
			seen[key.Value] = key
		}
	}
	if i := strings.IndexFunc(node.Value, unprintable); i >= 0 {
		r, _ := utf8.DecodeRuneInString(node.Value[i:])
		return at(node, "remove it", "the value %.60q holds a control character (%U)", node.Value, r)
	}
	for _, child := range node.Content {
		if err := checkMappings(child); err != nil {
			return err
		}
	}
	return nil
}

// unprintable reports whether a character of a value may change what a terminal shows of it.
func unprintable(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// syntaxError adds the column to an error of the YAML parser, which tells at most the line.
func syntaxError(text []byte, err error) error {
	if bound, ok := errors.AsType[*safeyaml.Error](err); ok && len(textdiff.Conflicts(text)) > 0 {
		problem, hint, _ := strings.Cut(bound.Problem, "; ")
		return &ParseError{Line: bound.Line, Problem: problem, Hint: hint, bound: bound}
	} else if ok {
		return &ParseError{Line: bound.Line, Column: 1, Problem: "the file " + bound.Problem, Hint: restoreHint, bound: bound}
	}
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	reported := 1
	if rest, ok := strings.CutPrefix(problem, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				reported, problem = n, message
			}
		}
	}
	line, column := locateError(text, reported)
	return &ParseError{Line: line, Column: column, Problem: "not valid YAML: " + problem, Hint: "correct it there, or restore the file from version control"}
}

// locateError finds where text stops being the beginning of valid YAML: one past the longest beginning
// that parses. For an unclosed quote or bracket that is where it opens, which is what a person looks for.
func locateError(text []byte, reported int) (line, column int) {
	// The search parses once a line of the file and once a character of the line; this many bytes of YAML
	// take some hundredths of a second, and a PROJECT file of a hundred resources needs less.
	budget := 1 << 20
	parses := func(text string) bool {
		budget -= len(text)
		return budget > 0 && isYAML(text)
	}
	lines := splitLines(text)
	good := len(lines) - 1
	if near := min(good, reported+1); near > 0 && !parses(strings.Join(lines[:near], "")) {
		good = near
	}
	for ; good > 0; good-- {
		if parses(strings.Join(lines[:good], "")) {
			break
		}
	}
	before, broken := strings.Join(lines[:good], ""), []rune(lines[good])
	k := len(broken)
	for ; k > 0; k-- {
		if parses(before + string(broken[:k])) {
			break
		}
	}
	if budget <= 0 {
		return reported, 1
	}
	return good + 1, k + 1
}

func isYAML(text string) bool {
	decoder := safeyaml.NewDecoder([]byte(text))
	for {
		var node yaml.Node
		switch err := decoder.Decode(&node); {
		case errors.Is(err, io.EOF):
			return true
		case err != nil:
			return false
		}
	}
}

// describe names a node's kind for people.
func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (*" + node.Value + ")"
	}
	if node.Tag == "!!null" {
		return "nothing"
	}
	return fmt.Sprintf("%q", node.Value)
}
