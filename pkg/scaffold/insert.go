package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kubebuilder/v3/pkg/machinery"

	"github.com/operon-sdk/operon/pkg/textdiff"
)

// Insert adds texts to a file above its scaffold markers. blocks maps the part of a marker after
// "+kubebuilder:scaffold:" to its text. A text gets the indentation of its marker. A text that the file contains already
// is not added again, and line ends are kept. The result is formatted if the Go file was; otherwise only the text is.
//
// The error joins a diag.Finding for each marker that is needed and missing.
func Insert(content []byte, filename string, blocks map[string]string) ([]byte, error) {
	f, err := openMarked(content, filename)
	if err != nil {
		return nil, err
	}
	if g, ok := f.syntax.(*goSyntax); ok {
		names := compareImportNames(g.File, blocks[importsMarker])
		blocks = maps.Clone(blocks)
		for marker, text := range blocks {
			blocks[marker] = names.translate(marker, text)
		}
	}
	above := map[int][]string{} // lines to add, with their indentation, by the index of the line below
	var failures []error
	for _, marker := range slices.Sorted(maps.Keys(blocks)) {
		text, err := f.syntax.missing(marker, dedent(strings.ReplaceAll(blocks[marker], "\r\n", "\n")))
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if len(text) == 0 {
			continue
		}
		at, ok := f.syntax.find(marker)
		if !ok {
			failures = append(failures, missingMarker(filename, marker, text))
			continue
		}
		if at.key != "" {
			text = append([]string{at.key}, text...)
		}
		indent := cmp.Or(at.list, at.indent)
		if strings.HasPrefix(text[0], "#") {
			indent = at.indent // as in the scaffold, also if the list above has become active
		}
		for _, line := range text {
			if line != "" {
				line = indent + line
			}
			above[at.line] = append(above[at.line], line)
		}
	}
	if len(failures) > 0 {
		return nil, errors.Join(failures...)
	}
	if len(above) == 0 {
		return content, nil
	}
	out, err := f.syntax.finish(f.insertAbove(above))
	if err != nil {
		return nil, fmt.Errorf("%s: inserting at %s: %w", filename, strings.Join(slices.Sorted(maps.Keys(blocks)), ", "), err)
	}
	return textdiff.FromLF([]byte(out), f.crlf), nil
}

// A markedFile is a file with markers.
type markedFile struct {
	lines  []string // with their ends
	crlf   bool     // all lines of the file end in CRLF; lines end in LF
	syntax syntax
}

// An insertionPoint is the place of an inserted text.
type insertionPoint struct {
	// line is the index of the line after the text.
	line   int
	indent string
	// list is the indentation of items of the list that ends above the line, if it differs.
	list string
	// key is a line to insert before the text, or "".
	key string
}

// syntax finds places for texts in Go or YAML.
type syntax interface {
	// find returns the insertion point of a marker.
	find(marker string) (insertionPoint, bool)
	// missing returns the lines of a text that the file does not contain yet.
	missing(marker, text string) ([]string, error)
	// finish checks and formats the file with all insertions.
	finish(text string) (string, error)
}

func openMarked(content []byte, filename string) (*markedFile, error) {
	f := &markedFile{}
	content, f.crlf = textdiff.ToLF(content)
	f.lines = slices.Collect(strings.Lines(string(content)))
	var err error
	switch path.Ext(filename) {
	case ".go":
		f.syntax, err = parseGo(content, filename)
	case ".yaml", ".yml":
		f.syntax = scanYAML(f.lines, filename)
	default:
		err = fmt.Errorf("%s: scaffold markers are supported in .go, .yaml and .yml files only", filename)
	}
	return f, err
}

// insertAbove inserts texts above lines, with the line ends of the adjacent lines.
func (f *markedFile) insertAbove(above map[int][]string) string {
	var b strings.Builder
	for i := range len(f.lines) + 1 {
		adjacent := f.lines[min(i, len(f.lines)-1)]
		end := lineEnd(adjacent)
		if end == "" {
			end = "\n"
			if i == len(f.lines) && len(above[i]) > 0 {
				b.WriteString(end)
			}
		}
		for _, add := range above[i] {
			b.WriteString(add + end)
		}
		if i < len(f.lines) {
			b.WriteString(f.lines[i])
		}
	}
	return b.String()
}

// lineEnd returns the line break of a line: LF, CRLF or, for a last line, nothing.
func lineEnd(line string) string {
	for _, end := range []string{"\r\n", "\n"} {
		if strings.HasSuffix(line, end) {
			return end
		}
	}
	return ""
}

// indentation returns the white space at the start of a line.
func indentation(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// isMarker reports whether a comment line is the marker, with or without a space after the comment sign. The extension of
// filename must be one that machinery supports: it panics on others.
func isMarker(filename, marker, line string) bool {
	return machinery.NewMarkerFor(filename, marker).EqualsLine(line)
}

// dedent removes the common indentation of a text and the empty lines around it.
func dedent(text string) string {
	text = strings.TrimRight(strings.TrimLeft(text, "\n"), " \t\n")
	if strings.Contains(text, "`") {
		return text // white space in a raw string is content
	}
	lines := strings.Split(text, "\n")
	common, first := "", true
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		if rest == "" {
			lines[i] = ""
			continue
		}
		indent := line[:len(line)-len(rest)]
		if first {
			common, first = indent, false
		}
		for !strings.HasPrefix(indent, common) {
			common = common[:len(common)-1]
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, common)
	}
	return strings.Join(lines, "\n")
}
