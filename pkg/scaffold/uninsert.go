package scaffold

import (
	"bytes"
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
)

// uninsert takes the texts of going out of a file, but for those that staying needs too. Texts that are
// there in another form are named in edited, and taken out as far as their beginning tells where they are.
func uninsert(content []byte, name string, going, staying map[string]map[string]bool) (rest []byte, edited []string, err error) {
	if path.Ext(name) == ".go" {
		file, err := gosource.Parse(name, content)
		if err != nil {
			file, err = gosource.ParseImports(name, content)
		}
		if err != nil {
			return nil, nil, syntaxError(err)
		}
		names := compareImportNames(file, slices.Concat(slices.Collect(maps.Keys(going[importsMarker])), slices.Collect(maps.Keys(staying[importsMarker])))...)
		going, staying = names.translateAll(going), names.translateAll(staying)
	}
	crlf := bytes.Contains(content, []byte("\r\n"))
	lines := strings.Split(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
	for _, marker := range slices.Sorted(maps.Keys(going)) {
		found := map[string]bool{} // by what identifies a text, of which there are several forms
		var missing []string
		for _, text := range slices.Sorted(maps.Keys(going[marker])) {
			if staying[marker][text] {
				continue
			}
			for _, item := range itemsOf(name, marker, text) {
				if neededIn(name, marker, item, staying[marker]) {
					continue
				}
				var ok bool
				if lines, ok = cutLines(lines, item); ok {
					found[identity(item)] = true
				} else {
					missing = append(missing, strings.Join(item, "\n"))
				}
			}
		}
		for _, text := range missing {
			item := strings.Split(text, "\n")
			if found[identity(item)] {
				continue
			}
			at, end, ok := locate(lines, name, identity(item))
			if !ok {
				continue // a person has taken it out already
			}
			found[identity(item)] = true
			edited = append(edited, fmt.Sprintf("%s:%d (%s)", name, at+1, strings.TrimSpace(lines[at])))
			lines = slices.Delete(lines, at, end)
		}
	}
	text := strings.Join(lines, "\n")
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text), edited, nil
}

// itemsOf divides a text for a marker into what is needed or not by itself: imports, list items, or all.
func itemsOf(name, marker, text string) [][]string {
	text = dedent(text)
	if path.Ext(name) != ".go" {
		return yamlItems(text)
	}
	if marker == importsMarker {
		var items [][]string
		for _, line := range strings.Split(text, "\n") {
			if strings.TrimSpace(line) != "" {
				items = append(items, []string{strings.TrimSpace(line)})
			}
		}
		return items
	}
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return [][]string{strings.Split(text, "\n")}
}

func neededIn(name, marker string, item []string, staying map[string]bool) bool {
	for text := range staying {
		for _, other := range itemsOf(name, marker, text) {
			if slices.Equal(compact(other), compact(item)) {
				return true
			}
		}
	}
	return false
}

// cutLines takes the lines of an item out, whatever their white space.
func cutLines(lines, item []string) ([]string, bool) {
	want := compact(item)
	for i := range lines {
		end, k := i, 0
		for end < len(lines) && k < len(want) {
			got := strings.Join(strings.Fields(lines[end]), "")
			if got == "" && k == 0 || got != "" && got != want[k] {
				break
			}
			if got != "" {
				k++
			}
			end++
		}
		if k == len(want) && k > 0 {
			return slices.Delete(slices.Clone(lines), i, end), true
		}
	}
	return lines, false
}

// identity is what tells a text from others when a person has changed parts of it: the reconciler that
// it sets up, the package that it imports, the name of a list item, else its first line.
func identity(item []string) string {
	text := strings.Join(item, "\n")
	if key := identifying.FindString(text); key != "" {
		return key
	}
	if i := strings.Index(text, `"`); i >= 0 && len(item) == 1 {
		return text[i:]
	}
	return strings.TrimSpace(item[0])
}

// locate finds the lines of a text that has been edited: a statement of Go, or an item of a list.
func locate(lines []string, name, key string) (at, end int, ok bool) {
	at = slices.IndexFunc(lines, func(line string) bool {
		return strings.Contains(line, key) && !strings.HasPrefix(strings.TrimSpace(line), "//") && !strings.HasPrefix(strings.TrimSpace(line), "#")
	})
	if at < 0 {
		return 0, 0, false
	}
	if path.Ext(name) == ".go" {
		at, end = statement(lines, at)
		return at, end, true
	}
	indent := indentation(lines[at])
	end = at + 1
	for end < len(lines) && len(indentation(lines[end])) > len(indent) && strings.TrimSpace(lines[end]) != "" {
		end++
	}
	return at, end, true
}

// statement finds the lines of the statement of Go that starts in a line, with the condition around it when
// there is nothing else under that.
func statement(lines []string, at int) (from, end int) {
	from, end = at, at+1
	file, err := gosource.Parse("", []byte(strings.Join(lines, "\n")))
	if err != nil {
		return from, end
	}
	found := false
	ast.Inspect(file.AST, func(n ast.Node) bool {
		condition, ok := n.(*ast.IfStmt)
		if stmt, isStmt := n.(ast.Stmt); isStmt && !found && (file.Line(stmt.Pos()) == at+1 ||
			ok && condition.Else == nil && len(condition.Body.List) == 1 && file.Line(condition.Body.List[0].Pos()) == at+1) {
			from, end, found = file.Line(stmt.Pos())-1, file.Line(stmt.End()), true
		}
		return !found
	})
	return from, end
}
