package local

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// reportError calls Failed if a line reports an error.
func (w *LogWriter) reportError(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if message, cause, ok := parseKlogError(string(line)); ok {
		w.Failed("", message, cause)
		return
	}
	e, ok := parseEntry(line)
	if !ok || e.level == "DEBUG" || e.level == "INFO" || e.level == "WARN" {
		return
	}
	cause := ""
	for _, f := range e.fields {
		if f.key == "error" || f.key == "panic" && cause == "" {
			cause = f.text()
		}
	}
	w.Failed(e.object(), e.message, cause)
}

// object returns the kind and the name of the object that a controller has reconciled, or "".
func (e *entry) object() string {
	values := map[string]string{}
	for _, f := range e.fields {
		values[f.key] = f.text()
	}
	if values["controllerKind"] == "" || values["name"] == "" {
		return ""
	}
	name := values["name"]
	if namespace := values["namespace"]; namespace != "" {
		name = namespace + "/" + name
	}
	return strings.ToLower(values["controllerKind"]) + " " + name
}

// klogError matches an error of klog, with which client-go logs: severity, month and day, time, thread, source line, message.
var klogError = lazyregexp.New(`^E\d{4} [\d:.]+ +\d+ \S+:\d+\] (.+)$`)

// parseKlogError reads the message and the error of a line of klog. A structured one has a quoted message and keys.
func parseKlogError(line string) (message, cause string, ok bool) {
	m := klogError.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	quoted, err := strconv.QuotedPrefix(m[1])
	if err != nil {
		return m[1], "", true
	}
	message, _ = strconv.Unquote(quoted) // QuotedPrefix has checked it
	if _, rest, found := strings.Cut(m[1][len(quoted):], ` err=`); found {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			cause, _ = strconv.Unquote(quoted)
		}
	}
	return message, cause, true
}
