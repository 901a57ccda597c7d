package project

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// maxBytes is more than a thousand resources need. Larger files can take minutes to parse.
const maxBytes = 512 << 10

const restoreFix = "restore the file from version control, or create a project with 'operon init'"

// finding returns a problem of a line of PROJECT. Line and column 0 mean the file or the line.
func finding(line, column int, problem, fix string) diag.Finding {
	return diag.Finding{Position: diag.Position{File: FileName, Line: line, Column: column}, Problem: problem, Fix: fix}
}

// findingAt returns a problem of a node of PROJECT.
func findingAt(node *yaml.Node, fix, format string, args ...any) error {
	return finding(node.Line, node.Column, fmt.Sprintf(format, args...), fix)
}

// limitFinding returns the problem of a file that safeyaml rejects.
func limitFinding(limit *safeyaml.Error, column int) diag.Finding {
	f := finding(limit.Line, column, "the file "+limit.Problem, restoreFix)
	f.Err = limit
	return f
}

// readDocument parses the one YAML document of a PROJECT file and returns its mapping.
func readDocument(text []byte) (*yaml.Node, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, finding(0, 0, "the file is empty", restoreFix)
	}
	if len(text) > maxBytes {
		return nil, limitFinding(safeyaml.TooLarge(int64(len(text)), maxBytes), 0)
	}
	if err := checkEncoding(text); err != nil {
		return nil, err
	}
	documents, err := safeyaml.Documents[yaml.Node](text)
	switch {
	case len(documents) > 1:
		return nil, findingAt(documents[1], "keep only the first one", "a second YAML document starts here")
	case err != nil:
		return nil, syntaxError(text, err)
	case documents == nil:
		return nil, finding(0, 0, "the file contains only comments", restoreFix)
	}
	root := documents[0].Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, findingAt(root, restoreFix, "expected keys with values, found %s", describe(root))
	}
	if len(root.Content) == 0 {
		return nil, findingAt(root, restoreFix, "the file contains no keys")
	}
	if err := checkMappings(root); err != nil {
		return nil, err
	}
	return root, nil
}

// checkEncoding rejects text that is not UTF-8, which the YAML parser would misinterpret.
func checkEncoding(text []byte) error {
	if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
		return finding(1, 1, "the file is in UTF-16", "save it as UTF-8")
	}
	line, column := 1, 1
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			return finding(line, column, "the file is not valid UTF-8", "save it as UTF-8")
		case r == '\n':
			line, column = line+1, 0
		case r < ' ' && r != '\t' && r != '\r' || r == 0x7F:
			return finding(line, column, fmt.Sprintf("a control character (%U)", r), "remove it")
		}
		column++
		rest = rest[size:]
	}
	return nil
}

// checkMappings rejects repeated keys, which decoding into nodes accepts, keys that are not text, and control characters, which
// can be escaped. The peers reject them, too.
func checkMappings(node *yaml.Node) error {
	if node.Kind == yaml.MappingNode {
		keys := map[string]*yaml.Node{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i]
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
				return findingAt(key, "remove it, or give the value a name", "a key must be a name, found %s", describe(key))
			}
			if first, ok := keys[key.Value]; ok {
				return findingAt(key, "remove one of the two", "key %q is given twice, first in line %d", key.Value, first.Line)
			}
			keys[key.Value] = key
		}
	}
	if i := strings.IndexFunc(node.Value, isControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(node.Value[i:])
		return findingAt(node, "remove it", "the value %.60q contains a control character (%U)", node.Value, r)
	}
	for _, child := range node.Content {
		if err := checkMappings(child); err != nil {
			return err
		}
	}
	return nil
}

// isControl reports whether a character is a control or format character, which can change what a terminal displays.
func isControl(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// syntaxError adds the column to an error of the YAML parser, which has at most the line.
func syntaxError(text []byte, err error) error {
	if limit, ok := errors.AsType[*safeyaml.Error](err); ok && limit.Conflict {
		return diag.Finding{Position: diag.Position{File: FileName, Line: limit.Line}, Problem: limit.Problem, Err: limit}
	} else if ok {
		return limitFinding(limit, 1)
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
	return finding(line, column, "not valid YAML: "+problem, "correct it, or restore the file from version control")
}

// locateError returns the position after the longest valid prefix of a text. For an unclosed quote or bracket that is where it
// opens.
func locateError(text []byte, reported int) (line, column int) {
	// The search parses once per line of the file and per character of one line. Parsing so many bytes takes less than 0.1 s,
	// and is enough for a hundred resources.
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

// isYAML reports whether a text is a valid YAML stream.
func isYAML(text string) bool {
	_, err := safeyaml.Documents[yaml.Node]([]byte(text))
	return err == nil
}

// describe returns the kind or value of a node for messages.
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
