package gocode

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// oldCSVMarker matches a marker for ClusterServiceVersions of operator-sdk before 1.0, with its path and value.
var oldCSVMarker = lazyregexp.New(`^(//\s*)\+operator-sdk:gen-csv:customresourcedefinitions\.([\w.-]+)=(.*)$`)

// csvMarker is the name of the current markers.
const csvMarker = "+operator-sdk:csv:customresourcedefinitions:"

// An oldDescription contains the values of the old markers in a comment for a kind, or for a field as part of a spec or status.
type oldDescription struct {
	lines       []*ast.Comment
	enabled     bool // markers of fields without specDescriptors=true or statusDescriptors=true have no effect
	displayName string
	items       []string // resources or descriptors, in current syntax
}

// csvMarkers replaces the markers of operator-sdk 0.x, of which each has one value, by current ones. Those without effect, and with values
// that cannot be read, stay.
func csvMarkers(f *source) {
	for _, group := range f.AST.Comments {
		found := map[string]*oldDescription{"": {enabled: true}, "specDescriptors": {}, "statusDescriptors": {}}
		for _, comment := range group.List {
			match := oldCSVMarker.FindStringSubmatch(strings.TrimRight(comment.Text, " \t\r"))
			if match == nil {
				continue
			}
			subject, key, _ := strings.Cut(match[2], ".")
			if found[subject] == nil {
				subject, key = "", match[2]
			}
			if d := found[subject]; d.add(subject, key, match[3]) {
				d.lines = append(d.lines, comment)
			}
		}
		for _, subject := range []string{"", "specDescriptors", "statusDescriptors"} {
			if d := found[subject]; d.enabled && len(d.lines) > 0 {
				prefix := oldCSVMarker.FindStringSubmatch(d.lines[0].Text)[1]
				f.replace(d.lines[0], prefix+d.marker(strings.TrimSuffix(subject, "Descriptors")))
				for _, line := range d.lines[1:] {
					f.cutLines(line.Pos(), line.Pos())
				}
			}
		}
	}
}

// add adds the value of a marker, and reports whether it can be read.
func (d *oldDescription) add(subject, key, value string) bool {
	if subject != "" && key == "" {
		d.enabled = value == "true"
		return d.enabled
	}
	text, err := strconv.Unquote(value)
	if err != nil {
		text = value
	}
	if text == "" || err != nil && strings.ContainsAny(value, "\"`") {
		return false
	}
	switch {
	case key == "displayName":
		d.displayName = strconv.Quote(text)
	case key == "x-descriptors" && subject != "":
		for descriptor := range strings.SplitSeq(text, ",") {
			d.items = append(d.items, strconv.Quote(strings.TrimSpace(descriptor)))
		}
	case key == "resources" && subject == "":
		parts := strings.SplitN(text, ",", 3) // kind, version and perhaps a name in quotes
		if len(parts) < 2 {
			return false
		}
		for i, part := range parts {
			parts[i] = strconv.Quote(strings.Trim(strings.TrimSpace(part), `"`))
		}
		d.items = append(d.items, "{"+strings.Join(parts, ",")+"}")
	default:
		return false
	}
	return true
}

// marker returns the current marker, whose type is empty for a kind.
func (d *oldDescription) marker(of string) string {
	var arguments []string
	list := "resources"
	if of != "" {
		arguments, list = append(arguments, "type="+of), "xDescriptors"
	}
	if d.displayName != "" {
		arguments = append(arguments, "displayName="+d.displayName)
	}
	if len(d.items) > 0 {
		arguments = append(arguments, list+"={"+strings.Join(slices.Compact(d.items), ",")+"}")
	}
	return csvMarker + strings.Join(arguments, ",")
}
