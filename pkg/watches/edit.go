package watches

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Marker is the comment before which Add inserts entries, as in files of operator-sdk.
const Marker = "# +kubebuilder:scaffold:watch"

var markerLine = lazyregexp.New(`^\s*#\s*\+kubebuilder:scaffold:watch\s*$`)

// errNotEdited means that an edit of the text would have changed other entries.
var errNotEdited = errors.New("cannot be edited; write the entries as a list, each in lines of its own that begin with \"- \"")

// Add returns data with an entry in front of the marker, or without one after the last entry. Everything else is unchanged. It is an
// error if there is an entry for the kind.
func Add(data []byte, w Watch) ([]byte, error) { return add(helmFormat(), data, w) }

// Remove returns data without the entry of a kind and the comments directly above it. Everything else is unchanged. Without such an
// entry it returns data.
func Remove(data []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	return remove(helmFormat(), data, gvk)
}

func add[W any](f format[W], data []byte, w W) ([]byte, error) {
	before, root, err := f.parseForEdit(data)
	if err != nil {
		return nil, err
	}
	gvk, _ := f.identity(&w)
	if i := f.indexOf(before, gvk); i >= 0 {
		_, position := f.identity(&before[i])
		return nil, diag.Finding{Position: *position, Problem: fmt.Sprintf("an entry for %s already exists", gvk)}
	}
	lines, end := splitLines(data)
	text, err := f.text(&w)
	if err != nil {
		return nil, err
	}
	if _, _, err := f.parseForEdit(text); err != nil {
		return nil, fmt.Errorf("entry for %s: %w", gvk, err)
	}
	added := entryLines(text, indentation(root), end)
	after := append(slices.Clone(before), w)
	// The marker can be inside an entry, where no other can be inserted.
	for _, at := range []int{markerIndex(lines), endOfList(lines, root)} {
		if at < 0 {
			continue
		}
		if edited := joinLines(slices.Insert(slices.Clone(lines), at, added...)); f.contains(edited, after) {
			return edited, nil
		}
	}
	if root != nil && len(before) == 0 {
		// An empty list, "[]", is replaced.
		if edited := joinLines(slices.Replace(slices.Clone(lines), root.Line-1, root.Line, added...)); f.contains(edited, after) {
			return edited, nil
		}
	}
	return nil, notEdited()
}

func remove[W any](f format[W], data []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	before, root, err := f.parseForEdit(data)
	if err != nil {
		return nil, err
	}
	i := f.indexOf(before, gvk)
	if i < 0 {
		return data, nil
	}
	lines, _ := splitLines(data)
	start, limit := root.Content[i].Line-1, len(lines)
	if i+1 < len(root.Content) {
		limit = root.Content[i+1].Line - 1
	}
	end := contentEnd(lines[:limit], start, root.Column)
	if i > 0 { // the comments above the first entry are about the file
		start = commentStart(lines, start, root.Column)
	}
	edited := joinLines(slices.Delete(slices.Clone(lines), start, end))
	if !f.contains(edited, slices.Delete(slices.Clone(before), i, i+1)) {
		return nil, notEdited()
	}
	return edited, nil
}

func notEdited() error {
	return diag.Finding{Position: diag.Position{File: FileName}, Problem: errNotEdited.Error(), Err: errNotEdited}
}

// splitLines returns the lines of a text, which may end with a carriage return, and "\r" if most of them do.
func splitLines(data []byte) (lines []string, end string) {
	if len(data) == 0 {
		return nil, ""
	}
	if 2*bytes.Count(data, []byte("\r\n")) > bytes.Count(data, []byte("\n")) {
		end = "\r"
	}
	lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if last := len(lines) - 1; !bytes.HasSuffix(data, []byte("\n")) && end != "" {
		lines[last] += end
	}
	return lines, end
}

func joinLines(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func markerIndex(lines []string) int { return slices.IndexFunc(lines, markerLine.MatchString) }

// commentStart returns the index of the first of the comment lines directly above an entry whose dash is in a column. Comments
// that are indented more belong to the entry before.
func commentStart(lines []string, line, column int) int {
	for line > 0 && isComment(lines[line-1], column) && !markerLine.MatchString(lines[line-1]) {
		line--
	}
	return line
}

// isComment reports whether a line is a comment that starts at a column or before.
func isComment(line string, column int) bool {
	text := strings.TrimLeft(line, " \t")
	return strings.HasPrefix(text, "#") && len(line)-len(text) < column
}

// endOfList returns the index of the line after the last one of the list.
func endOfList(lines []string, root *yaml.Node) int {
	if root == nil {
		return len(lines)
	}
	return contentEnd(lines, root.Line-1, root.Column)
}

// contentEnd returns the index after the last line that belongs to a list or an entry whose dash is in a column. Comments
// belong to it if they follow it directly and are indented more.
func contentEnd(lines []string, start, column int) int {
	last := start
	for i := start; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		comment := strings.HasPrefix(text, "#")
		if comment && !isComment(lines[i], column) && i == last+1 || !comment && text != "" && text != "..." && text != "---" {
			last = i
		}
	}
	return min(last+1, len(lines))
}

// indentation returns the blanks in front of the entries of a list.
func indentation(root *yaml.Node) string {
	if root == nil || root.Style&yaml.FlowStyle != 0 {
		return ""
	}
	return strings.Repeat(" ", root.Column-1)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
