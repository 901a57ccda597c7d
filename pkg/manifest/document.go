package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A Document is one document of a YAML stream.
type Document struct {
	diag.Position
	Data []byte
}

// Documents splits a file into its documents. There are problems only if the file isn't YAML.
func Documents(file string, data []byte) ([]Document, diag.Findings) {
	if problems := Unreadable(file, data); problems != nil {
		return nil, problems
	}
	if err := safeyaml.Check(data); err != nil {
		return nil, diag.Findings{Unbounded(file, err)}
	}
	return Split(file, data), nil
}

// Unreadable returns why a file is not a string file, or nil.
func Unreadable(file string, data []byte) diag.Findings {
	at := func(offset int, text string) diag.Findings {
		return diag.Findings{{Position: diag.Position{File: file, Line: 1 + bytes.Count(data[:offset], []byte("\n"))}, Problem: text}}
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return at(0, "is UTF-16; save it as UTF-8")
	case !utf8.Valid(data):
		return at(invalidAt(data), "is not UTF-8 text; pass YAML or JSON files only")
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return at(i, "contains binary data; pass YAML or JSON files only")
	}
	return nil
}

// invalidAt returns the index of the first byte that is not UTF-8.
func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
}

// Split splits a YAML stream at --- and ... lines. Documents without content are omitted.
func Split(file string, data []byte) []Document {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var (
		docs  []Document
		start int // of the current document
		first = 1 // line of start
	)
	add := func(end int) {
		if doc := data[start:end]; !blank(doc) {
			docs = append(docs, Document{diag.Position{File: file, Line: first + leadingBlank(doc)}, bytes.Clone(skipBlank(doc))})
		}
	}
	for at, line := 0, 1; at < len(data); line++ {
		end := at + bytes.IndexByte(data[at:], '\n') + 1
		if end == at {
			end = len(data)
		}
		if rest, ok := separator(data[at:end]); ok {
			add(at)
			start, first = end, line+1
			if rest > 0 { // text after --- belongs to the document
				start, first = at+rest, line
			}
		}
		at = end
	}
	add(len(data))
	return docs
}

// separator reports whether a line ends a document, and returns the index in the line where the next one begins, or 0 if that is
// the next line.
func separator(line []byte) (rest int, ok bool) {
	if len(line) < 3 || (string(line[:3]) != "---" && string(line[:3]) != "...") {
		return 0, false
	}
	after := bytes.TrimSpace(line[3:])
	if len(after) == 0 || after[0] == '#' {
		return 0, true
	}
	if line[0] == '-' && (line[3] == ' ' || line[3] == '\t') {
		return 4, true
	}
	return 0, false
}

// blank reports whether a document contains only comments and white space.
func blank(doc []byte) bool { return len(skipBlank(doc)) == 0 }

// leadingBlank returns the number of lines of comments and white space before the content.
func leadingBlank(doc []byte) int {
	return bytes.Count(doc[:len(doc)-len(skipBlank(doc))], []byte("\n"))
}

// skipBlank returns a document without leading comments and white space.
func skipBlank(doc []byte) []byte {
	for len(doc) > 0 {
		line, rest, _ := bytes.Cut(doc, []byte("\n"))
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 && trimmed[0] != '#' && trimmed[0] != '%' {
			return doc
		}
		doc = rest
	}
	return nil
}

// Object reads the object of a document, which must have a kind. A list is returned as an object.
func (d Document) Object() (Object, diag.Findings) {
	content, _, problems := d.content()
	if problems != nil {
		return Object{}, problems
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return Object{}, d.foreign("is not a Kubernetes object: " + describe(content))
	}
	object := Object{Position: d.Position, Fields: fields, data: d.Data}
	if object.Kind() == "" {
		return Object{}, d.foreign("is not a Kubernetes object: kind is missing")
	}
	if problems := object.metadata(); problems != nil {
		return Object{}, problems
	}
	return object, nil
}

// Into decodes a document that is not a Kubernetes object, such as a package manifest, into a Go type, and returns its fields.
func (d Document) Into(target any) (map[string]any, diag.Findings) {
	content, asJSON, problems := d.content()
	if problems != nil {
		return nil, problems
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return nil, diag.Findings{{Position: d.Position, Problem: "must be a mapping"}}
	}
	if err := utiljson.Unmarshal(asJSON, target); err != nil {
		if typed, ok := errors.AsType[*jsonTypeError](err); ok {
			return nil, diag.Findings{{Position: d.Locate(strings.Split(typed.Field, ".")...),
				Problem: fmt.Sprintf("%s must be %s, not %s", typed.Field, article(typed.Type.String()), article(typed.Value))}}
		}
		return nil, diag.Findings{{Position: d.Position, Problem: strings.TrimPrefix(err.Error(), "json: ")}}
	}
	return fields, nil
}

// content returns the value of a document, with numbers as int64 or float64, and its JSON.
func (d Document) content() (any, []byte, diag.Findings) {
	asJSON, err := safeyaml.ToJSON(d.Data)
	if err != nil {
		return nil, nil, diag.Findings{d.syntax(err)}
	}
	var content any
	if err := utiljson.Unmarshal(asJSON, &content); err != nil {
		return nil, nil, diag.Findings{{Position: d.Position, Problem: err.Error()}}
	}
	return content, asJSON, nil
}

// foreign returns the problem of a document that is YAML, but not of Kubernetes.
func (d Document) foreign(text string) diag.Findings {
	return diag.Findings{{Position: d.Position, Problem: text, Err: ErrNotKubernetes}}
}

// Unbounded returns the problem of a file that exceeds a limit of safeyaml.
func Unbounded(file string, err error) diag.Finding {
	problem := diag.Finding{Position: diag.Position{File: file}, Problem: err.Error()}
	if limit, ok := errors.AsType[*safeyaml.Error](err); ok {
		problem.Line, problem.Problem, problem.Err = limit.Line, limit.Problem, limit
	}
	return problem
}

// syntax returns the problem of a YAML error, whose line counts from the beginning of the document.
func (d Document) syntax(err error) diag.Finding {
	if _, ok := errors.AsType[*safeyaml.Error](err); ok {
		problem := Unbounded(d.File, err)
		problem.Line = d.Line + max(problem.Line-1, 0)
		return problem
	}
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	message = strings.TrimPrefix(message, "yaml: ")
	position := d.Position
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, rest, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			// The parser may be one line after the end.
			position.Line += min(n-1, bytes.Count(bytes.TrimRight(d.Data, "\n"), []byte("\n")))
			message = rest
		}
	}
	if strings.Contains(message, "tab character") || strings.Contains(message, "cannot start any token") && bytes.ContainsRune(d.Data, '\t') {
		message += " (YAML must be indented with spaces, not tabs)"
	}
	return diag.Finding{Position: position, Problem: "is not valid YAML: " + message}
}
