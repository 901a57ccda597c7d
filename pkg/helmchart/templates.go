package helmchart

import (
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

var (
	// action matches an action of a template.
	action = lazyregexp.New(`(?s)\{\{.*?\}\}`)
	// typeTest matches an expression that accepts values of several types, with the last key of the path of the value: kindOf
	// .Values.annotations, kindIs "string" .Values.annotations, and Bitnami's function for templates in values.
	typeTest = lazyregexp.New(`\b(?:(?:typeOf|kindOf)|(?:typeIs|typeIsLike|kindIs)\s+"\w*")\s+\(?[$.\w]*?\.([A-Za-z_]\w*)(?:[^\w.]|$)|` +
		`"value"\s+\(?[$.\w]*?\.([A-Za-z_]\w*)(?:[^\w.]|$)|` +
		`\.([A-Za-z_]\w*)\s*\|\s*(?:typeOf|kindOf)\b`)
)

// testedKeys returns the names of keys whose type is tested by a template, which therefore accepts values of other types than the type of
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
			for _, match := range typeTest.FindAllSubmatch(expression, -1) {
				for _, key := range match[1:] {
					if len(key) > 0 {
						keys[string(key)] = true
					}
				}
			}
		}
	}
	return keys
}
