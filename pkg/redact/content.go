package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// AddContent adds all strings and numbers in a value, whatever their keys are, also as templates often write them: encoded with base64, for
// a URL, as strings of JSON, YAML or a shell. Words such as "true" or "default" are left out.
func (r *Redactor) AddContent(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, element := range v {
			r.AddContent(element)
		}
	case []any:
		for _, element := range v {
			r.AddContent(element)
		}
	case string:
		r.addText(v)
	case float64:
		r.addText(strconv.FormatFloat(v, 'f', -1, 64))
	case int, int64, json.Number:
		r.addText(fmt.Sprint(v))
	}
}

func (r *Redactor) addText(text string) {
	if plainWord.MatchString(text) {
		return
	}
	quoted := strconv.Quote(text)
	for _, form := range []string{
		text, strings.ReplaceAll(text, "'", "''"), strings.ReplaceAll(text, "'", `'"'"'`), // in YAML, and in a shell
		quoted[1 : len(quoted)-1], url.QueryEscape(text), url.PathEscape(text),
		strings.ReplaceAll(url.PathEscape(text), "%2F", "/"), // as by Jinja's urlencode
		base64.StdEncoding.EncodeToString([]byte(text)), base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(text))),
	} {
		inJSON := escape(form)
		for _, form := range []string{form, escapeASCII(inJSON), escape(inJSON), escapeASCII(escape(inJSON))} { // also by Python, and JSON in JSON
			r.Add(form)
		}
	}
}

// escapeASCII returns a text as JSON has it that is limited to ASCII.
func escapeASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
