package helmoperator

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"

	sprig "github.com/Masterminds/sprig/v3"
	"helm.sh/helm/v4/pkg/strvals"
)

// ExpandOverrideValues returns override values as operator-sdk's helm-operator reads them from watches.yaml: variables in a value, $X
// or ${X}, are replaced with their values in the environment, unset ones with nothing. The result is executed as a template with the
// functions of sprig. The error names all values that fail.
func ExpandOverrideValues(values map[string]string, environ func(name string) string) (map[string]string, error) {
	functions := sprig.TxtFuncMap()
	functions["env"] = environ
	functions["expandenv"] = func(text string) string { return os.Expand(text, environ) }
	result := make(map[string]string, len(values))
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		parsed, err := template.New("value").Funcs(functions).Parse(os.Expand(values[key], environ))
		var b strings.Builder
		if err == nil {
			err = parsed.Execute(&b, nil)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("override value %s: %w", key, err))
			continue
		}
		result[key] = b.String()
	}
	return result, errors.Join(errs...)
}

// mergeValues sets the values of overrides in values. Objects are merged; all other values are replaced.
func mergeValues(values, overrides map[string]any) {
	for key, override := range overrides {
		into, isMap := values[key].(map[string]any)
		from, overrideIsMap := override.(map[string]any)
		if isMap && overrideIsMap {
			mergeValues(into, from)
			continue
		}
		values[key] = override
	}
}

// setOverrides sets values as "helm --set-string KEY=VALUE" does. A value with commas that is not a list of assignments, such as that
// of NO_PROXY, is set as a whole.
func setOverrides(values map[string]any, overrides map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		text := overrides[key]
		// A failed attempt may have changed some values.
		_, err := strvals.ParseString(key + "=" + text)
		if err != nil && strings.Contains(text, ",") {
			text = escapeCommas(text)
		}
		if err := strvals.ParseIntoString(key+"="+text, values); err != nil {
			return fmt.Errorf("override value %s: %w", key, err)
		}
	}
	return nil
}

// escapeCommas returns text with a backslash before each comma that has none.
func escapeCommas(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if text[i] == ',' && (i == 0 || text[i-1] != '\\') {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
