package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Position is a place in a file, for people. Line and Column start at 1; 0 means that it is not known.
type Position struct {
	File         string
	Line, Column int
}

func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is something wrong at a place, with what to do about it.
type Problem struct {
	Position
	Text string
	// Foreign tells that a document is YAML, but of something else than Kubernetes.
	Foreign bool
}

func (p Problem) String() string { return p.Position.String() + ": " + p.Text }

// Problems are all that is wrong with some input, so that a person corrects it in one go.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the problems as an error, nil where there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Object is one Kubernetes object as read.
type Object struct {
	// Position is where the object begins.
	Position
	// Fields is the whole object, numbers being int64 or float64.
	Fields map[string]any
	// data is the YAML text of the object alone.
	data []byte
	// item tells that the object was an item of a list, so that lines within it are not known.
	item bool
}

// APIVersion, Kind, Name and Namespace identify the object; each is empty where the object has none.
func (o Object) APIVersion() string { return text(o.Fields, "apiVersion") }

// Kind is the object's kind.
func (o Object) Kind() string { return text(o.Fields, "kind") }

// Name is the object's metadata.name.
func (o Object) Name() string { return text(o.Fields, "metadata", "name") }

// Namespace is the object's metadata.namespace.
func (o Object) Namespace() string { return text(o.Fields, "metadata", "namespace") }

// Group is the API group, empty for the core group.
func (o Object) Group() string {
	group, _, ok := strings.Cut(o.APIVersion(), "/")
	if !ok {
		return ""
	}
	return group
}

// Version is the version within the API group.
func (o Object) Version() string {
	version := o.APIVersion()
	return version[strings.LastIndex(version, "/")+1:]
}

// String names the object for a person, as in "Service mail/smtp".
func (o Object) String() string {
	name := o.Name()
	if ns := o.Namespace(); ns != "" {
		name = ns + "/" + name
	}
	return o.Kind() + " " + name
}

// Into decodes the object into a Go type of Kubernetes, as kubectl does: unknown fields are passed
// over, numbers become texts where the type says so.
func (o Object) Into(target any) error {
	if err := yaml.Unmarshal(o.data, target); err != nil {
		return o.explain(err)
	}
	return nil
}

func text(fields map[string]any, path ...string) string {
	for i, key := range path {
		if i == len(path)-1 {
			s, _ := fields[key].(string)
			return s
		}
		fields, _ = fields[key].(map[string]any)
	}
	return ""
}

// Decode reads the Kubernetes objects of a YAML stream or a JSON file. Lists (kind List, or items of
// any …List) are taken apart. Documents without content are passed over; what is no object is a problem.
func Decode(file string, data []byte) ([]Object, Problems) {
	var (
		objects  []Object
		problems Problems
	)
	if problem, ok := unreadable(file, data); ok {
		return nil, Problems{problem}
	}
	for _, doc := range Split(file, data) {
		found, problem := doc.objects()
		objects = append(objects, found...)
		problems = append(problems, problem...)
	}
	return objects, problems
}

// unreadable tells what keeps a file from being YAML at all.
func unreadable(file string, data []byte) (Problem, bool) {
	at := func(offset int, text string) (Problem, bool) {
		return Problem{Position: Position{File: file, Line: 1 + bytes.Count(data[:offset], []byte("\n"))}, Text: text}, true
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return at(0, "is UTF-16; save it as UTF-8")
	case !utf8.Valid(data):
		return at(invalidAt(data), "is not UTF-8 text; give YAML or JSON files only")
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return at(i, "holds binary data; give YAML or JSON files only")
	}
	return Problem{}, false
}

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

// Document is one document of a YAML stream.
type Document struct {
	Position
	Data []byte
}

// Split cuts a YAML stream at its --- and ... lines. Documents without content are left out.
func Split(file string, data []byte) []Document {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var (
		docs  []Document
		start int // of the current document
		first = 1 // line of start
	)
	add := func(end int) {
		if doc := data[start:end]; !blank(doc) {
			docs = append(docs, Document{Position{File: file, Line: first + leadingBlank(doc)}, bytes.Clone(skipBlank(doc))})
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

// separator tells whether a line ends a document, and where on the line the next one begins, 0 where
// it begins on the next line.
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

// blank tells whether a document holds comments and white space only.
func blank(doc []byte) bool { return len(skipBlank(doc)) == 0 }

// leadingBlank counts the lines of comments and white space before the content.
func leadingBlank(doc []byte) int {
	return bytes.Count(doc[:len(doc)-len(skipBlank(doc))], []byte("\n"))
}

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

// Object reads the one object of a document as it stands: a list is not taken apart, and of what makes
// an object only the kind is asked for.
func (d Document) Object() (Object, Problems) {
	asJSON, err := yaml.YAMLToJSON(d.Data)
	if err != nil {
		return Object{}, Problems{d.syntax(err)}
	}
	var content any
	if err := utiljson.Unmarshal(asJSON, &content); err != nil {
		return Object{}, Problems{{Position: d.Position, Text: err.Error()}}
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return Object{}, Problems{{Position: d.Position, Text: "is no Kubernetes object: " + describe(content), Foreign: true}}
	}
	object := Object{Position: d.Position, Fields: fields, data: d.Data}
	if object.Kind() == "" {
		return Object{}, Problems{{Position: d.Position, Text: "is no Kubernetes object, being without kind", Foreign: true}}
	}
	if _, ok := fields["metadata"].(map[string]any); !ok && fields["metadata"] != nil {
		return Object{}, Problems{{Position: object.Locate("metadata"), Text: fmt.Sprintf("metadata of the %s must be a mapping", object.Kind())}}
	}
	return object, nil
}

// Unreadable tells what keeps a file from being YAML at all, nil where nothing does.
func Unreadable(file string, data []byte) Problems {
	if problem, ok := unreadable(file, data); ok {
		return Problems{problem}
	}
	return nil
}

// Data is the YAML text of the object.
func (o Object) Data() []byte { return o.data }

// Into decodes a document that is no Kubernetes object, such as a package manifest, into a Go type and
// into its fields.
func (d Document) Into(target any) (map[string]any, Problems) {
	asJSON, err := yaml.YAMLToJSON(d.Data)
	if err != nil {
		return nil, Problems{d.syntax(err)}
	}
	var content any
	if err := utiljson.Unmarshal(asJSON, &content); err != nil {
		return nil, Problems{{Position: d.Position, Text: err.Error()}}
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return nil, Problems{{Position: d.Position, Text: "must be a mapping"}}
	}
	if err := utiljson.Unmarshal(asJSON, target); err != nil {
		if typed, ok := errors.AsType[*jsonTypeError](err); ok {
			return nil, Problems{{Position: d.Locate(strings.Split(typed.Field, ".")...),
				Text: fmt.Sprintf("%s must be %s, not %s", typed.Field, article(typed.Type.String()), article(typed.Value))}}
		}
		return nil, Problems{{Position: d.Position, Text: strings.TrimPrefix(err.Error(), "json: ")}}
	}
	return fields, nil
}

// Documents cuts a file into its documents, or tells what keeps it from being YAML at all.
func Documents(file string, data []byte) ([]Document, Problems) {
	if problem, ok := unreadable(file, data); ok {
		return nil, Problems{problem}
	}
	return Split(file, data), nil
}

// objects reads the objects of a document.
func (d Document) objects() ([]Object, Problems) {
	asJSON, err := yaml.YAMLToJSON(d.Data)
	if err != nil {
		return nil, Problems{d.syntax(err)}
	}
	var content any
	if err := utiljson.Unmarshal(asJSON, &content); err != nil {
		return nil, Problems{{Position: d.Position, Text: err.Error()}}
	}
	fields, ok := content.(map[string]any)
	if !ok {
		if content == nil {
			return nil, nil
		}
		return nil, Problems{{Position: d.Position, Text: "is no Kubernetes object: " + describe(content), Foreign: true}}
	}
	if len(fields) == 0 {
		return nil, nil
	}
	object := Object{Position: d.Position, Fields: fields, data: d.Data}
	return object.unpack()
}

func describe(content any) string {
	switch content.(type) {
	case []any:
		return "it is a list; write the objects as documents separated by ---, or as the items of a kind: List"
	case string:
		return "it is plain text"
	}
	return "it is a single value"
}

// unpack gives the object itself, or the items of a list.
func (o Object) unpack() ([]Object, Problems) {
	if problem, ok := o.incomplete(); ok {
		return nil, Problems{problem}
	}
	items, ok := o.Fields["items"]
	if !ok || !strings.HasSuffix(o.Kind(), "List") || o.Name() != "" {
		return []Object{o}, nil
	}
	list, ok := items.([]any)
	if !ok {
		if items == nil {
			return nil, nil
		}
		return nil, Problems{{Position: o.Position, Text: fmt.Sprintf("items of the %s must be a list", o.Kind())}}
	}
	var (
		objects  []Object
		problems Problems
	)
	for i, item := range list {
		position := o.Locate("items", strconv.Itoa(i))
		fields, ok := item.(map[string]any)
		if !ok {
			problems = append(problems, Problem{Position: position, Text: fmt.Sprintf("items[%d] is no Kubernetes object", i)})
			continue
		}
		// The items of a PodList and the like may leave out what the list says of all of them.
		if kind := strings.TrimSuffix(o.Kind(), "List"); kind != "" && text(fields, "kind") == "" {
			fields["kind"], fields["apiVersion"] = kind, o.APIVersion()
		}
		data, err := Encode(fields)
		if err != nil {
			problems = append(problems, Problem{Position: position, Text: err.Error()})
			continue
		}
		found, more := Object{Position: position, Fields: fields, data: data, item: true}.unpack()
		objects, problems = append(objects, found...), append(problems, more...)
	}
	return objects, problems
}

// incomplete tells what an object lacks to be one.
func (o Object) incomplete() (Problem, bool) {
	var missing []string
	for _, key := range []string{"apiVersion", "kind"} {
		if text(o.Fields, key) == "" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		return Problem{
			Position: o.Position,
			Text:     fmt.Sprintf("is no Kubernetes object, being without %s", strings.Join(missing, " and ")),
			Foreign:  len(missing) == 2,
		}, true
	}
	if _, ok := o.Fields["metadata"].(map[string]any); !ok && o.Fields["metadata"] != nil {
		return Problem{Position: o.Locate("metadata"), Text: fmt.Sprintf("metadata of the %s must be a mapping", o.Kind())}, true
	}
	return Problem{}, false
}

// syntax makes a problem of a YAML error, whose line counts from the document's first.
func (d Document) syntax(err error) Problem {
	message := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	message = strings.TrimPrefix(message, "yaml: ")
	position := d.Position
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, rest, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			// The parser may be a line past the end already.
			position.Line += min(n-1, bytes.Count(bytes.TrimRight(d.Data, "\n"), []byte("\n")))
			message = rest
		}
	}
	if strings.Contains(message, "tab character") || strings.Contains(message, "cannot start any token") && bytes.ContainsRune(d.Data, '\t') {
		message += " (YAML is indented by spaces, never by tabs)"
	}
	return Problem{Position: position, Text: "is not valid YAML: " + message}
}

// explain names the field, and the line, of what does not fit a Go type.
func (o Object) explain(err error) error {
	if typed, ok := errors.AsType[*jsonTypeError](err); ok {
		path := strings.Split(typed.Field, ".")
		kind, _, _ := strings.Cut(typed.Value, " ")
		if exact, ok := misfit(o.Fields, path, kind); ok {
			path = exact
		}
		return Problems{{Position: o.Locate(path...), Text: fmt.Sprintf("%s: %s must be %s, not %s", o, typed.Field, article(typed.Type.String()), article(typed.Value))}}
	}
	message := err.Error()
	for _, prefix := range []string{"error unmarshaling JSON: ", "while decoding JSON: ", "json: "} {
		message = strings.TrimPrefix(message, prefix)
	}
	return Problems{{Position: o.Position, Text: fmt.Sprintf("%s: %s", o, message)}}
}

// misfit finds the value of a wrong kind at a path that, as JSON errors do, leaves out the indices of
// lists; they are in the answer.
func misfit(value any, path []string, kind string) ([]string, bool) {
	switch v := value.(type) {
	case []any:
		if len(path) == 0 && kind == "array" {
			return nil, true
		}
		for i, item := range v {
			if rest, ok := misfit(item, path, kind); ok {
				return append([]string{strconv.Itoa(i)}, rest...), true
			}
		}
		return nil, false
	case map[string]any:
		if len(path) == 0 {
			break
		}
		rest, ok := misfit(v[path[0]], path[1:], kind)
		return append([]string{path[0]}, rest...), ok
	}
	return nil, len(path) == 0 && kindOf(value) == kind
}

// kindOf is the kind of a value as JSON errors name it.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case nil:
		return "null"
	}
	return "number"
}
