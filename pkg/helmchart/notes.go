package helmchart

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A note is the documentation of a key in the comments of values.yaml.
type note struct {
	text string
	// typ is the type in the notation of helm-docs, "# -- (string) text", or of Bitnami, "## @param key [string] text".
	typ string
}

// longestNote is the maximum length of a description in bytes.
const longestNote = 1000

var (
	// paramLine matches the documentation of a key in the notation of Bitnami.
	paramLine = lazyregexp.New(`(?m)^[ \t]*##?[ \t]*@(?:param|extra)[ \t]+([^ \t\r\n]+)[ \t]*(\[[^\]\r\n]*\])?[ \t]*([^\r\n]*)`)
	// docsLine matches the first line of documentation in the notation of helm-docs.
	docsLine = lazyregexp.New(`^(?:([\w.\[\]"/-]+)[ \t]+)?--(?:[ \t]+|$)(?:\(([^)\r\n]*)\)[ \t]*)?(.*)$`)
	// tagLine matches annotations of documentation tools: @default, @section, @schema.
	tagLine = lazyregexp.New(`^@\w+`)
	// exampleLine matches a value that is commented out.
	exampleLine = lazyregexp.New(`^(?:-[ \t]*)?["']?[a-zA-Z0-9_./-]+["']?:(?:[ \t]+["'\[{|>&*]?[^ \t]*["'\]}]?)?$|^-[ \t]+[^ \t]*$|^[{}\[\]]|^\{\{`)
	// rulerLine matches a line of punctuation.
	rulerLine = lazyregexp.New(`^[-=#*_~+. \t]*$`)
)

// starterLines begin the comment at the top of the values of Helm's starter chart.
var starterLines = []string{"Default values for ", "This is a YAML-formatted file", "Declare variables to be passed into your templates", "Declare name/value pairs to be passed into your templates"}

// readParams returns the documentation of keys in the notation of Bitnami, by the path of the key.
func readParams(data []byte) map[string]note {
	params := map[string]note{}
	for _, match := range paramLine.FindAllSubmatch(data, -1) {
		path, modifiers, text := string(match[1]), strings.Trim(string(match[2]), "[]"), string(match[3])
		n := note{text: cut(strings.TrimSpace(text), longestNote)}
		for modifier := range strings.SplitSeq(modifiers, ",") {
			switch modifier = strings.TrimSpace(modifier); {
			case modifier == "nullable", strings.HasPrefix(modifier, "default"):
			default:
				n.typ = modifier
			}
		}
		params[path] = n
	}
	return params
}

func (r valueReader) noteOf(key, child *yaml.Node, path string) note {
	if n, ok := r.params[path]; ok {
		return n
	}
	if key.Line < 1 || key.Line > len(r.lines) || !r.isFirst(key) {
		return note{}
	}
	if n := noteFrom(r.commentAbove(key.Line-1), path); n.text != "" || n.typ != "" {
		return n
	}
	line := child.LineComment
	if line == "" {
		line = key.LineComment
	}
	if line == "" {
		return note{}
	}
	return noteFrom([]string{line}, path)
}

// isFirst reports whether a key is the first one on its line.
func (r valueReader) isFirst(key *yaml.Node) bool {
	line := []rune(string(r.lines[key.Line-1]))
	if key.Column-1 > len(line) {
		return false
	}
	return strings.Trim(string(line[:key.Column-1]), " \t-?\ufeff") == ""
}

// commentAbove returns the lines of the comment that ends before a line, counted from 0.
func (r valueReader) commentAbove(line int) []string {
	first := line
	for first > 0 && bytes.HasPrefix(bytes.TrimSpace(r.lines[first-1]), []byte("#")) {
		first--
	}
	var lines []string
	for _, text := range r.lines[first:line] {
		lines = append(lines, string(bytes.TrimSpace(text)))
	}
	return lines
}

// docs returns the type and the text in the first line of documentation in the notation of helm-docs, which can have the path of the
// key in front.
func docs(content, path string) (n note, ok bool) {
	match := docsLine.FindStringSubmatch(content)
	if match == nil || match[1] != "" && match[1] != path {
		return note{}, false
	}
	return note{typ: match[2], text: match[3]}, true
}

// noteFrom returns the documentation of a key in the lines of a comment, without values that are commented out.
func noteFrom(lines []string, path string) note {
	var n note
	start := 0
	for i, line := range lines { // the notation of helm-docs excludes the lines before it
		if first, ok := docs(commentText(line), path); ok {
			n, start = note{typ: first.typ}, i
		}
	}
	var text []string
	inSchema := false
	for _, line := range lines[start:] {
		content := commentText(line)
		if first, ok := docs(content, path); ok {
			content = first.text
		}
		if content == "@schema" {
			inSchema = !inSchema
			continue
		}
		switch {
		case inSchema, tagLine.MatchString(content), isStarterLine(content):
			continue
		case rulerLine.MatchString(content):
			content = ""
		case isExample(line, content):
			return n.withText(text)
		}
		text = append(text, content)
	}
	return n.withText(text)
}

// commentText returns a line of a comment without its marks.
func commentText(line string) string {
	return strings.TrimSpace(strings.TrimLeft(line, "#"))
}

func isStarterLine(content string) bool {
	for _, line := range starterLines {
		if strings.HasPrefix(content, line) {
			return true
		}
	}
	return false
}

// isExample reports whether a line of a comment is a value that is commented out.
func isExample(line, content string) bool {
	if exampleLine.MatchString(content) && !strings.HasSuffix(content, "://") && !isLink(content) {
		return true
	}
	// "#key: value" without a blank is not prose.
	marks := strings.TrimLeft(line, "#")
	return marks != "" && marks[0] != ' ' && marks[0] != '\t' && len(line)-len(marks) == 1 && exampleKey.MatchString(marks)
}

// exampleKey matches the beginning of a value that is commented out.
var exampleKey = lazyregexp.New(`^(?:-[ \t]*)?[a-zA-Z0-9_./-]+:(?:[ \t]|$)`)

// isLink reports whether a line refers to documentation, such as "ref: https://example.com".
func isLink(content string) bool {
	key, value, _ := strings.Cut(content, ":")
	value = strings.TrimSpace(value)
	switch strings.ToLower(key) {
	case "ref", "see", "docs", "doc", "source", "link", "reference", "http", "https":
		return strings.Contains(content, "//")
	}
	return value == "" && strings.Contains(key, " ")
}

// withText returns the note with the text of its lines: paragraphs are separated by empty lines, and a last line that introduces an
// example is left out.
func (n note) withText(lines []string) note {
	for len(lines) > 0 {
		last := lines[len(lines)-1]
		if last != "" && !introducesExample(last) {
			break
		}
		lines = lines[:len(lines)-1]
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	for strings.Contains(text, "\n\n\n") {
		text = strings.ReplaceAll(text, "\n\n\n", "\n\n")
	}
	n.text = cut(strings.ToValidUTF8(text, ""), longestNote)
	return n
}

// introducesExample reports whether a line such as "Example:" has no meaning without the lines after it.
func introducesExample(line string) bool {
	lower := strings.ToLower(strings.TrimRight(line, " :.,"))
	switch lower {
	case "e.g", "eg", "i.e", "ex", "example", "examples", "for example", "sample", "default", "defaults":
		return true
	}
	return false
}

// cut shortens a text to a number of bytes, at a word.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const ellipsis = "..."
	text = text[:max(0, most-len(ellipsis))]
	if i := strings.LastIndexAny(text, " \n"); i > 0 {
		text = text[:i]
	}
	return strings.TrimRight(strings.ToValidUTF8(text, ""), " \n,;:") + ellipsis
}
