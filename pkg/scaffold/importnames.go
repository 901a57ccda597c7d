package scaffold

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// importNames translates texts for a Go file that imports packages by other names than the scaffold does.
type importNames struct {
	// specs are the imports of the file, by those of the scaffold; names are their names.
	specs, names map[string]string
}

// namesIn compares the imports of a Go file with those in texts for the marker of imports.
func namesIn(file *ast.File, imports ...string) importNames {
	n := importNames{specs: map[string]string{}, names: map[string]string{}}
	for _, text := range imports {
		specs, err := parser.ParseFile(token.NewFileSet(), "", "package p\nimport (\n"+text+"\n)\n", parser.ImportsOnly)
		if err != nil {
			continue
		}
		for _, spec := range specs.Imports {
			n.compare(spec, file)
		}
	}
	return n
}

// compare adds an import that the file has by another name only.
func (n importNames) compare(spec *ast.ImportSpec, file *ast.File) {
	var other *ast.ImportSpec
	for _, have := range file.Imports {
		if pathOf(have) != pathOf(spec) {
			continue
		}
		switch name := importName(have); {
		case name == importName(spec):
			return
		case name != "_" && name != ".":
			other = have
		}
	}
	if other != nil {
		n.specs[specLine(spec)] = specLine(other)
		n.names[importName(spec)] = importName(other)
	}
}

// specLine returns an import as it is written.
func specLine(spec *ast.ImportSpec) string {
	if spec.Name == nil {
		return spec.Path.Value
	}
	return spec.Name.Name + " " + spec.Path.Value
}

var qualifier = regexp.MustCompile(`(^|[^\w.])(\w+)\.`)

// translate returns a text for a marker with the names of the file.
func (n importNames) translate(marker, text string) string {
	if len(n.names) == 0 {
		return text
	}
	if marker == importsMarker {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if have, ok := n.specs[strings.TrimSpace(line)]; ok {
				lines[i] = have
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

// translateAll does so for sets of texts by their markers.
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
