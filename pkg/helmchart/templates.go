package helmchart

import (
	"path"
	"regexp"
	"strings"
)

var (
	// typeTest matches expressions of templates that accept values of several types.
	typeTest = regexp.MustCompile(`\b(typeOf|typeIs|typeIsLike|kindOf|kindIs)\b|tplvalues\.render`)
	// action matches an action of a template.
	action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	// lastKey matches the last key of a path: annotations of .Values.server.annotations.
	lastKey = regexp.MustCompile(`\.([A-Za-z_]\w*)(?:[^\w.]|$)`)
)

// testedKeys returns the names of keys whose type is tested by a template, which therefore accepts values of other types than that of
// the default.
func testedKeys(files Files) map[string]bool {
	keys := map[string]bool{}
	for name, data := range files {
		if !strings.HasPrefix(name, "templates/") && !strings.Contains(name, "/templates/") {
			continue
		}
		switch path.Ext(name) {
		case ".yaml", ".yml", ".tpl", ".txt", ".json":
		default:
			continue
		}
		for _, expression := range action.FindAll(data, -1) {
			if !typeTest.Match(expression) {
				continue
			}
			for _, match := range lastKey.FindAllSubmatch(expression, -1) {
				keys[string(match[1])] = true
			}
		}
	}
	return keys
}
