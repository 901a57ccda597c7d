package local

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// The escape sequences of colors.
const (
	dim    = "2"
	red    = "31"
	yellow = "33"
)

// paint colors a text if on is true.
func paint(on bool, color, text string) string {
	if !on || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// An entry is a line that a logger of controller-runtime wrote, as text or as JSON.
type entry struct {
	time                   time.Time
	level, logger, message string
	fields                 []field
	// hasTrace reports whether the line holds a stack trace, mayHaveTrace whether one may follow it.
	hasTrace, mayHaveTrace bool
}

// A field is a key of an entry with its value in JSON.
type field struct {
	key   string
	value json.RawMessage
}

// parseEntry reads a line. It reports false for one that no logger of controller-runtime wrote.
func parseEntry(line []byte) (entry, bool) {
	if bytes.HasPrefix(line, []byte("{")) {
		return parseJSONEntry(line)
	}
	return parseTextEntry(string(line))
}

var (
	escapeSequence = lazyregexp.New("\x1b\\[[0-9;]*m")
	sourceLine     = lazyregexp.New(`^\S+\.go:\d+$`)
)

// parseTextEntry reads time, level, logger, source line, message and fields, which tabs separate. The logger, the source
// line and the fields can be missing.
func parseTextEntry(line string) (e entry, ok bool) {
	parts := strings.Split(line, "\t")
	if len(parts) < 3 {
		return e, false
	}
	if e.time, ok = parseTime(parts[0]); !ok {
		return e, false
	}
	if e.level, ok = parseLevel(escapeSequence.ReplaceAllString(parts[1], "")); !ok {
		return e, false
	}
	e.mayHaveTrace = e.level != "DEBUG" && e.level != "INFO"
	parts = parts[2:]
	if last := len(parts) - 1; last > 0 {
		if fields, ok := parseFields([]byte(parts[last])); ok {
			e.fields, parts = fields, parts[:last]
		}
	}
	if len(parts) > 1 && !strings.Contains(parts[0], " ") && !sourceLine.MatchString(parts[0]) {
		e.logger, parts = parts[0], parts[1:]
	}
	if len(parts) > 1 && sourceLine.MatchString(parts[0]) {
		source, _ := json.Marshal(parts[0]) // a string has no error
		e.fields, parts = append(e.fields, field{"caller", source}), parts[1:]
	}
	e.message = strings.Join(parts, "\t")
	return e, true
}

func parseJSONEntry(line []byte) (e entry, ok bool) {
	fields, ok := parseFields(line)
	if !ok {
		return e, false
	}
	var hasTime, hasMessage bool
	for _, f := range fields {
		text := f.text()
		switch f.key {
		case "ts":
			e.time, hasTime = parseTime(text)
		case "level":
			e.level, _ = parseLevel(text)
		case "logger":
			e.logger = text
		case "msg":
			e.message, hasMessage = text, true
		case "stacktrace":
			e.hasTrace = true
		default:
			e.fields = append(e.fields, f)
		}
	}
	return e, hasTime && hasMessage && e.level != ""
}

// parseFields reads the fields of a JSON object in their order.
func parseFields(text []byte) (fields []field, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, false
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		f := field{key: key.(string)} // the decoder accepts no other key
		if err := decoder.Decode(&f.value); err != nil {
			return nil, false
		}
		fields = append(fields, f)
	}
	_, err := decoder.Token()
	return fields, err == nil && len(bytes.TrimSpace(text[decoder.InputOffset():])) == 0
}

// parseTime reads a time in any encoding of zap: RFC 3339, ISO 8601, or seconds, milliseconds or nanoseconds since 1970.
func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || number < 1e8 || math.IsInf(number, 0) {
		return time.Time{}, false
	}
	for number > 1e11 {
		number /= 1e3
	}
	return time.UnixMilli(int64(number * 1e3)).UTC(), true
}

// parseLevel returns the name of a level in upper case. The loggers of logr number the levels below debug.
func parseLevel(text string) (string, bool) {
	level := strings.ToUpper(text)
	switch level {
	case "DEBUG", "INFO", "WARN", "ERROR", "DPANIC", "PANIC", "FATAL":
		return level, true
	}
	return "DEBUG", strings.HasPrefix(level, "LEVEL(-") && strings.HasSuffix(level, ")")
}

// print prints the entry in one line: time, level, logger or controller, message and fields. It leaves out the fields that
// repeat others, and the ID of a reconciliation.
func (e *entry) print(out *bytes.Buffer, color bool, location *time.Location) {
	if location == nil {
		location = time.UTC
	}
	levelColor := map[string]string{"DEBUG": dim, "INFO": "", "WARN": yellow}
	accent, known := levelColor[e.level]
	if !known {
		accent = red
	}
	out.WriteString(paint(color, dim, e.time.In(location).Format(time.TimeOnly)) + " ")
	out.WriteString(paint(color && accent != "", accent, fmt.Sprintf("%-5s", e.level)) + " ")
	source, fields := e.logger, e.distinctFields()
	if source == "" && len(fields) > 0 && fields[0].key == "controller" {
		source, fields = fields[0].text(), fields[1:]
	}
	if source != "" {
		out.WriteString(printable(source) + "  ")
	}
	out.WriteString(printable(e.message))
	for _, f := range fields {
		out.WriteString(" " + paint(color, dim, printable(f.key)+"="))
		out.WriteString(paint(color && f.key == "error", red, f.format()))
	}
	out.WriteByte('\n')
}

// distinctFields returns the fields without those that repeat others or serve machines only.
func (e *entry) distinctFields() (fields []field) {
	values := map[string]string{}
	for _, f := range e.fields {
		values[f.key] = f.text()
	}
	_, hasObject := values[values["controllerKind"]]
	isRun := values["job"] != "" && values["kind"] != "" && values["name"] != "" // of Ansible
	for _, f := range e.fields {
		switch f.key {
		case "kind":
			if isRun {
				f = field{f.text(), objectReference(values["namespace"], values["name"])}
			}
		case "job":
			if isRun {
				continue
			}
		case "role":
			if isRun && strings.HasPrefix(values["task"], values["role"]+" : ") {
				continue
			}
		case "controllerGroup", "controllerKind", "reconcileID":
			if values["controller"] != "" {
				continue
			}
		case "namespace", "name":
			if hasObject || isRun {
				continue
			}
		case "errorVerbose":
			if values["error"] != "" {
				continue
			}
		}
		fields = append(fields, f)
	}
	return fields
}

// objectReference returns the reference to an object in JSON. The namespace of a cluster-scoped object is empty.
func objectReference(namespace, name string) []byte {
	reference := map[string]string{"name": name}
	if namespace != "" {
		reference["namespace"] = namespace
	}
	text, _ := json.Marshal(reference) // strings have no error
	return text
}

// text returns the value of the field: a string without quotes, anything else as JSON.
func (f field) text() string {
	var text string
	if f.value[0] != '"' || json.Unmarshal(f.value, &text) != nil {
		return string(f.value)
	}
	return text
}

// format returns the value of the field as a word: a string is quoted if need be, and an object's reference is
// namespace/name.
func (f field) format() string {
	var reference map[string]string
	if json.Unmarshal(f.value, &reference) == nil && reference["name"] != "" {
		switch namespace := reference["namespace"]; {
		case len(reference) == 1:
			return printable(reference["name"])
		case len(reference) == 2 && namespace != "":
			return printable(namespace + "/" + reference["name"])
		}
	}
	text := f.text()
	if f.value[0] != '"' {
		return printable(text)
	}
	if text == "" || strings.ContainsAny(text, " =\"\\") || printable(text) != text {
		return strconv.Quote(text)
	}
	return text
}

// printable returns a text with escapes in place of control characters.
func printable(text string) string {
	quoted := strconv.Quote(text)
	if strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return quoted[1 : len(quoted)-1]
	}
	return text
}
