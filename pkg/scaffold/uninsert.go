package scaffold

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// uninsert removes texts at markers from a file, except those that kept texts also contain. Texts that the user edited are
// reported in edited, and removed as far as their start identifies them. Texts of other tools, whose lines written reports, are not
// edited; nil means that there are none.
func uninsert(
	content []byte, name string, removed, kept map[string]map[string]bool, written func(file, line string) bool,
) (rest []byte, edited diag.Findings, err error) {
	if path.Ext(name) == ".go" {
		file, err := gosource.Parse(name, content)
		if err != nil {
			file, err = gosource.ParseImports(name, content)
		}
		if err != nil {
			return nil, nil, syntaxError(err)
		}
		names := compareImportNames(file, slices.Concat(slices.Collect(maps.Keys(removed[importsMarker])), slices.Collect(maps.Keys(kept[importsMarker])))...)
		removed, kept = names.translateAll(removed), names.translateAll(kept)
	}
	content, crlf := textdiff.AllToLF(content)
	lines := strings.Split(string(content), "\n")
	for _, marker := range slices.Sorted(maps.Keys(removed)) {
		found := map[string]bool{} // by identity, because a text may have several forms
		var missing []string
		for _, text := range slices.Sorted(maps.Keys(removed[marker])) {
			if kept[marker][text] {
				continue
			}
			for _, item := range itemsOf(name, marker, text) {
				if neededIn(name, marker, item, kept[marker]) {
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
				continue // the user has removed it
			}
			found[identity(item)] = true
			if !allWritten(name, lines[at:end], written) {
				edited = append(edited, Edited(diag.Position{File: name, Line: at + 1}, strings.TrimSpace(lines[at])))
			}
			lines = slices.Delete(lines, at, end)
		}
	}
	return textdiff.FromLF([]byte(strings.Join(lines, "\n")), crlf), edited, nil
}

// itemsOf splits a text at a marker into parts that can be removed separately: imports, list items, or the entire text.
func itemsOf(name, marker, text string) [][]string {
	text = dedent(text)
	if path.Ext(name) != ".go" {
		return yamlItems(text)
	}
	if marker == importsMarker {
		var items [][]string
		for line := range strings.SplitSeq(text, "\n") {
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

func neededIn(name, marker string, item []string, kept map[string]bool) bool {
	for text := range kept {
		for _, other := range itemsOf(name, marker, text) {
			if slices.Equal(compact(other), compact(item)) {
				return true
			}
		}
	}
	return false
}

// cutLines removes the lines of an item, regardless of white space.
func cutLines(lines, item []string) ([]string, bool) {
	want := compact(item)
	for i := range lines {
		end, k := i, 0
		for end < len(lines) && k < len(want) {
			got := withoutSpace(lines[end])
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

// identity returns the part of a text that identifies it after edits: the reconciler that it sets up, the package that it
// imports, the name of a list item, or its first line.
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

// locate finds the lines of an edited text: a Go statement, or an item of a list.
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
	return at, blockEnd(lines, at, ""), true
}

// statement finds the lines of the Go statement that starts on a line, or of the condition that contains only that statement.
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
