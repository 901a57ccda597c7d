package helmchart

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A RequiredValue is a value that a template fails without: {{ required "set the host" .Values.host }}.
type RequiredValue struct {
	// Path is the path in the values of the chart that is installed.
	Path []string
	// Message is the error.
	Message string
}

// exampleText is the example of a text that must not be empty.
const exampleText = "example"

// requiredCall matches the calls of required whose message and value are written out.
var requiredCall = lazyregexp.New("\\brequired\\s+(\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`)\\s+\\(?\\s*\\$?\\.Values\\.([A-Za-z_][\\w.]*)" +
	"|\\$?\\.Values\\.([A-Za-z_][\\w.]*)\\s*\\|\\s*required\\s+(\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`)")

// RequiredValues returns the values that templates require and that have no default, sorted. Whether a template is reached is not known.
func RequiredValues(files Files) ([]RequiredValue, error) {
	tree, err := readTree(files)
	if err != nil {
		return nil, err
	}
	found := map[string]RequiredValue{}
	for _, name := range templates(files) {
		prefix := chartPath(name)
		for _, expression := range action.FindAll(files[name], -1) {
			for _, m := range requiredCall.FindAllSubmatch(expression, -1) {
				quoted, keys := string(m[1])+string(m[4]), string(m[2])+string(m[3])
				at := append(slices.Clone(prefix), strings.Split(strings.TrimRight(keys, "."), ".")...)
				if tree.values.isSet(at) {
					continue
				}
				found[strings.Join(at, ".")+"\x00"+quoted] = RequiredValue{at, unquoted(quoted)}
			}
		}
	}
	var all []RequiredValue
	for _, key := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[key])
	}
	return all, nil
}

// chartPath returns the path of the values of the chart of a template: charts/redis/templates/a.yaml has redis.
func chartPath(template string) []string {
	var at []string
	for {
		rest, ok := strings.CutPrefix(template, "charts/")
		if !ok {
			return at
		}
		name, inner, _ := strings.Cut(rest, "/")
		at, template = append(at, name), inner
	}
}

// unquoted returns the content of a string in a template.
func unquoted(quoted string) string {
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// isSet reports whether a value has a default that required accepts: neither null nor an empty text.
func (v *value) isSet(at []string) bool {
	for _, key := range at {
		if v == nil || v.kind != mapValue {
			return false
		}
		v = v.fields[key]
	}
	return v != nil && v.kind != nullValue && !(v.kind == stringValue && v.text == "")
}

// MissingValue returns the first value that the error of a rendering is about, and for which values have nothing.
func MissingValue(all []RequiredValue, problem string, values map[string]any) (RequiredValue, bool) {
	at := slices.IndexFunc(all, func(r RequiredValue) bool {
		return strings.Contains(problem, r.Message) && isMissing(values, r.Path)
	})
	if at < 0 {
		return RequiredValue{}, false
	}
	return all[at], true
}

func isMissing(values map[string]any, at []string) bool {
	for _, key := range at[:len(at)-1] {
		inner, ok := values[key].(map[string]any)
		if !ok {
			return values[key] == nil
		}
		values = inner
	}
	last := values[at[len(at)-1]]
	return last == nil || last == ""
}

// SetExample sets an example at the path of a required value.
func (r RequiredValue) SetExample(values map[string]any) {
	for _, key := range r.Path[:len(r.Path)-1] {
		inner, ok := values[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			values[key] = inner
		}
		values = inner
	}
	if last := r.Path[len(r.Path)-1]; values[last] == nil || values[last] == "" {
		values[last] = exampleText
	}
}

// Examples returns the examples of required values that the spec of a sample contains.
func Examples(all []RequiredValue, spec map[string]any) map[string]any {
	examples := map[string]any{}
	for _, r := range all {
		if at, ok := ValueAt(spec, r.Path); ok && at == exampleText {
			r.SetExample(examples)
		}
	}
	return examples
}

// ValueAt returns the value at a path, which has at least one key, and whether there is one.
func ValueAt(values map[string]any, at []string) (any, bool) {
	for _, key := range at[:len(at)-1] {
		values, _ = values[key].(map[string]any)
	}
	value, ok := values[at[len(at)-1]]
	return value, ok
}
