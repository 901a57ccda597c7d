package scaffold

import (
	"go/ast"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// importNames translates texts for a Go file that imports packages by other names than the scaffold does.
type importNames struct {
	// specs maps imports of the scaffold to imports of the file; names holds their names.
	specs, names map[string]string
}

// compareImportNames compares the imports of a Go file with those in texts for the imports marker.
func compareImportNames(file *gosource.File, imports ...string) importNames {
	n := importNames{specs: map[string]string{}, names: map[string]string{}}
	for _, text := range imports {
		specs, err := parseImportSpecs(text)
		if err != nil {
			continue
		}
		for _, spec := range specs.AST.Imports {
			n.compare(spec, specs.ImportName(spec), file)
		}
	}
	return n
}

// compare adds an import that the file has by another name only.
func (n importNames) compare(spec *ast.ImportSpec, name string, file *gosource.File) {
	var other *ast.ImportSpec
	for _, candidate := range file.AST.Imports {
		if gosource.ImportPath(candidate) != gosource.ImportPath(spec) {
			continue
		}
		switch file.ImportName(candidate) {
		case name:
			return
		case "_", ".":
		default:
			other = candidate
		}
	}
	if other != nil {
		n.specs[gosource.ImportSource(spec)] = gosource.ImportSource(other)
		n.names[name] = file.ImportName(other)
	}
}

var qualifier = lazyregexp.New(`(^|[^\w.])(\w+)\.`)

// translate returns the text for a marker with the names that the file uses.
func (n importNames) translate(marker, text string) string {
	if len(n.names) == 0 {
		return text
	}
	if marker == importsMarker {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if spec, ok := n.specs[strings.TrimSpace(line)]; ok {
				lines[i] = spec
			}
		}
		return strings.Join(lines, "\n")
	}
	return qualifier.ReplaceAllStringFunc(text, func(match string) string {
		parts := qualifier.FindStringSubmatch(match)
		if name, ok := n.names[parts[2]]; ok {
			return parts[1] + name + "."
		}
		return match
	})
}

// translateAll translates sets of texts by their markers.
func (n importNames) translateAll(texts map[string]map[string]bool) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for marker, set := range texts {
		all[marker] = map[string]bool{}
		for text := range set {
			all[marker][n.translate(marker, text)] = true
		}
	}
	return all
}
