package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Deletion says what DeleteAPI undoes.
type Deletion struct {
	// Going is the data of the create commands that made what goes; of several that write the same file
	// one must have made it. Staying is that of all others, whose files and texts are needed on.
	Going, Staying []Data
	// Force deletes what a person has edited too.
	Force bool
}

// EditedError lists what a person has edited of the things that a command is to delete.
type EditedError struct {
	// Places are files, and texts within files, sorted.
	Places []string
}

func (e *EditedError) Error() string {
	what := "this was edited since it was"
	if len(e.Places) > 1 {
		what = fmt.Sprintf("these %d were edited since they were", len(e.Places))
	}
	return fmt.Sprintf("%s scaffolded, nothing was deleted:\n  %s\n"+
		"save what you need of it and give --force to delete it all the same", what, strings.Join(e.Places, "\n  "))
}

// rendering is what the create commands of some data write.
type rendering struct {
	files   map[string][][]byte                   // all that a file may hold
	inserts map[string]map[string]map[string]bool // file → marker → texts
}

func renderAll(tree *Tree, all []Data) (*rendering, error) {
	r := &rendering{files: map[string][][]byte{}, inserts: map[string]map[string]map[string]bool{}}
	for _, data := range all {
		files, inserts, err := renderAPI(tree, data)
		if err != nil {
			return nil, err
		}
		for name, content := range files {
			r.files[name] = append(r.files[name], content)
		}
		for name, blocks := range inserts {
			if r.inserts[name] == nil {
				r.inserts[name] = map[string]map[string]bool{}
			}
			for marker, text := range blocks {
				if r.inserts[name][marker] == nil {
					r.inserts[name][marker] = map[string]bool{}
				}
				r.inserts[name][marker][text] = true
			}
		}
	}
	return r, nil
}

// DeleteAPI takes away what CreateAPI wrote: whole files, and texts at markers. What a person has edited is
// an *EditedError and stays, unless Force is set.
func DeleteAPI(tree *Tree, d Deletion) error {
	going, err := renderAll(tree, d.Going)
	if err != nil {
		return err
	}
	staying, err := renderAll(tree, d.Staying)
	if err != nil {
		return err
	}
	var edited []string
	var gone []string
	for _, name := range sortedKeys(going.files) {
		if staying.files[name] != nil || !tree.Exists(name) || initialFile(name) {
			continue
		}
		content, err := tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, cause(err))
		}
		if path.Base(name) == "groupversion_info.go" && othersIn(tree, name, going.files) {
			continue // the person's own types need it
		}
		if !scaffolded(name, content, going) {
			edited = append(edited, name)
		}
		gone = append(gone, name)
	}
	inserts := map[string][]byte{}
	for _, name := range sortedKeys(going.inserts) {
		if slices.Contains(gone, name) || !tree.Exists(name) {
			continue
		}
		content, err := tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, cause(err))
		}
		rest, changed, err := uninsert(content, name, going.inserts[name], staying.inserts[name])
		if err != nil {
			return &ContentError{err}
		}
		edited = append(edited, changed...)
		inserts[name] = rest
	}
	if len(edited) > 0 && !d.Force {
		slices.Sort(edited)
		return &EditedError{Places: slices.Compact(edited)}
	}
	for _, name := range gone {
		tree.Remove(name)
	}
	for name, content := range inserts {
		tree.WriteFile(name, content, fileMode)
	}
	return nil
}

// initialFile tells that init writes a file, so that it stays with the last API gone.
func initialFile(name string) bool {
	return policyFor(name) == shared && path.Ext(name) != ".go"
}

// othersIn tells whether a folder holds Go files that nobody deletes.
func othersIn(tree *Tree, name string, going map[string][][]byte) bool {
	names, err := tree.Walk(path.Dir(name), func(string) bool { return true })
	if err != nil {
		return true
	}
	return slices.ContainsFunc(names, func(other string) bool {
		return path.Ext(other) == ".go" && going[other] == nil && !strings.HasPrefix(path.Base(other), "zz_generated.")
	})
}

// crdsRequired is the one line of a suite that depends on which controller came first.
var crdsRequired = regexp.MustCompile(`ErrorIfCRDPathMissing:\s*\w+,`)

// scaffolded tells whether a file is as a create command wrote it.
func scaffolded(name string, content []byte, r *rendering) bool {
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	if blocks := r.inserts[name]; blocks != nil {
		rest, edited, err := uninsert(content, name, blocks, nil)
		if err != nil || len(edited) > 0 {
			return false
		}
		content = rest
	}
	if strings.HasSuffix(name, "_types.go") {
		content = []byte(strings.Replace(string(content), "// "+storageMarker+"\n", "", 1))
	}
	suite := path.Base(name) == "suite_test.go"
	if suite {
		content = crdsRequired.ReplaceAll(content, nil)
	}
	for _, want := range r.files[name] {
		if suite {
			want = crdsRequired.ReplaceAll(want, nil)
		}
		if bytes.Equal(content, want) {
			return true
		}
	}
	return false
}

// uninsert takes the texts of going out of a file, but for those that staying needs too. Texts that are
// there in another form are named in edited, and taken out as far as their beginning tells where they are.
func uninsert(content []byte, name string, going, staying map[string]map[string]bool) (rest []byte, edited []string, err error) {
	crlf := bytes.Contains(content, []byte("\r\n"))
	lines := strings.Split(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
	for _, marker := range sortedKeys(going) {
		found := map[string]bool{} // by what identifies a text, of which there are several forms
		var missing []string
		for _, text := range sortedKeys(going[marker]) {
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
		return at, statementEnd(lines, at), true
	}
	indent := indentation(lines[at])
	end = at + 1
	for end < len(lines) && len(indentation(lines[end])) > len(indent) && strings.TrimSpace(lines[end]) != "" {
		end++
	}
	return at, end, true
}

// statementEnd is the line after the statement that starts in a line of Go.
func statementEnd(lines []string, at int) int {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", strings.Join(lines, "\n"), parser.SkipObjectResolution)
	end := at + 1
	if err != nil {
		return end
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if stmt, ok := n.(ast.Stmt); ok && fset.PositionFor(stmt.Pos(), false).Line == at+1 {
			end = max(end, fset.PositionFor(stmt.End(), false).Line)
			return false
		}
		return true
	})
	return end
}

// ForgetStorage takes the marker of the stored version away that CreateAPI gave to types when a second
// version came: others are the types files of the versions that remain. With several of them and none
// marked, the first one is.
func ForgetStorage(tree *Tree, kind string, others []string) error {
	marked := ""
	for _, name := range others {
		content, err := tree.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if strings.Contains(string(content), storageMarker) {
			marked = name
		}
	}
	if len(others) == 1 && marked != "" {
		content, err := tree.ReadFile(marked)
		if err != nil {
			return err
		}
		line := regexp.MustCompile(`(?m)^//\s?` + regexp.QuoteMeta(storageMarker) + `\r?\n`)
		without := line.ReplaceAll(content, nil)
		if again, ok := insertStorageMarker(string(without), kind); ok && again == string(content) {
			tree.WriteFile(marked, without, fileMode)
		}
		return nil
	}
	if len(others) < 2 || marked != "" {
		return nil
	}
	content, err := tree.ReadFile(others[0])
	if err != nil {
		return err
	}
	if text, ok := insertStorageMarker(string(content), kind); ok {
		tree.WriteFile(others[0], []byte(text), fileMode)
	}
	return nil
}

// InitialFile renders one of the files that init writes.
func InitialFile(name string, data Data) ([]byte, error) {
	rendered, err := Render("init", data)
	if err != nil {
		return nil, err
	}
	return rendered.Files[name], nil
}
