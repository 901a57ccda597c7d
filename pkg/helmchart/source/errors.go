package source

import (
	"errors"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// maxMessage is the length of an error of Helm's library in bytes. Some contain whole manifests.
const maxMessage = 500

// notMapping matches the errors of files whose content is a list or a scalar, which name a type of Go.
var notMapping = lazyregexp.New(`(?:cannot unmarshal yaml document: )?(?:error unmarshaling JSON: )?(?:while decoding JSON: )?` +
	`json: cannot unmarshal \w+ into Go value of type map\[string\]interface ?\{\}`)

// shorten returns an error as one line of limited length, without types of Go.
func shorten(err error) error {
	return errors.New(oneLine(notMapping.ReplaceAllString(err.Error(), "must be a mapping of keys to values")))
}

// oneLine replaces white space by single spaces and limits the length.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

var (
	// atTemplate matches the errors of templates that cannot be parsed, and of the functions fail and required.
	atTemplate = lazyregexp.New(`^(?:parse|execution) error (?:at|in) \(([^()]*)\): (?s:(.*))$`)
	// location is the first line of a step in the trace of a template that failed: its path, line and column.
	location = lazyregexp.New(`^([^\s:]+:\d+)(?::\d+)?$`)
	// column is the column after a path and a line.
	column = lazyregexp.New(`^(.*:\d+):\d+$`)
	// executing is the second line of a step.
	executing = lazyregexp.New(`^executing ".*" at <(.*)>:$`)
	// badDocument matches the errors of rendered text that is not YAML.
	badDocument = lazyregexp.New(`^YAML parse error on ([^:]+): (?:error (?:converting|unmarshaling) \w+(?: to \w+)?: )?(?s:(.*))$`)
	// untraced is the error of a template in the form of package text/template.
	untraced = lazyregexp.New(`^template: ([^\s:]+:\d+)(?::\d+)?: (?s:(.*))$`)
)

// templateError returns the error of a rendering as TEMPLATE:LINE: PROBLEM, without the chain of templates that Helm lists,
// except for its ends.
func templateError(err error) string {
	text := strings.TrimSpace(err.Error())
	for _, form := range []*lazyregexp.Regexp{atTemplate, badDocument, untraced} {
		if m := form.FindStringSubmatch(text); m != nil {
			problem := m[2]
			if strings.HasSuffix(problem, " into Go value of type util.SimpleHead") {
				problem = errNotAnObject.Error()
			}
			return oneLine(column.ReplaceAllString(m[1], "$1") + ": " + problem)
		}
	}
	var first, last, at string
	var message []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if m := location.FindStringSubmatch(line); m != nil {
			if first == "" {
				first = m[1]
			}
			last, at, message = m[1], "", nil
		} else if m := executing.FindStringSubmatch(line); m != nil {
			at = m[1]
		} else {
			message = append(message, line)
		}
	}
	if last == "" {
		return oneLine(text)
	}
	problem := strings.Join(message, " ")
	if at != "" {
		problem = "<" + at + ">: " + problem
	}
	if first != last {
		problem += " (included by " + first + ")"
	}
	return oneLine(last + ": " + problem)
}
