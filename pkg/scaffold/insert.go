package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kubebuilder/v3/pkg/machinery"
)

// Insert adds texts to a file above its scaffold markers. blocks maps the part of a marker after
// "+kubebuilder:scaffold:" to the text for it. A text takes the indentation of its marker, a text that
// is in the file already is not added again, and line ends stay as they are. Go files that were formatted
// come out formatted; in others only the text is, so that the user's layout survives.
//
// All markers that are needed and missing are reported at once, each as a *MissingMarkerError.
func Insert(content []byte, filename string, blocks map[string]string) ([]byte, error) {
	f, err := openMarked(content, filename)
	if err != nil {
		return nil, err
	}
	if g, ok := f.syntax.(*goSyntax); ok {
		names := namesIn(g.file, blocks[importsMarker])
		blocks = maps.Clone(blocks)
		for marker, text := range blocks {
			blocks[marker] = names.translate(marker, text)
		}
	}
	above := map[int][]string{} // lines to add, with their indentation, by the index of the line below
	var failures []error
	for _, marker := range slices.Sorted(maps.Keys(blocks)) {
		text, err := f.syntax.pending(marker, dedent(strings.ReplaceAll(blocks[marker], "\r\n", "\n")))
		if err != nil {
			failures = append(failures, err)
			continue
		}
		if len(text) == 0 {
			continue
		}
		at, ok := f.syntax.find(marker)
		if !ok {
			failures = append(failures, &MissingMarkerError{
				File: filename, Marker: marker, Text: strings.Join(text, "\n"), Hint: markerPlace(filename, marker),
			})
			continue
		}
		if at.head != "" {
			text = append([]string{at.head}, text...)
		}
		for _, line := range text {
			if line != "" {
				line = at.indent + line
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
	out, err := f.syntax.finish(f.weave(above))
	if err != nil {
		return nil, fmt.Errorf("%s: inserting at %s: %w", filename, strings.Join(slices.Sorted(maps.Keys(blocks)), ", "), err)
	}
	if f.crlf {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	return []byte(out), nil
}

// marked is a file with markers, taken apart into lines that keep their ends.
type marked struct {
	lines  []string
	crlf   bool // all line ends were CRLF; they are plain in lines
	syntax syntax
}

// place is where a text goes: above the line of that index, after the line head if there is one.
type place struct {
	line         int
	indent, head string
}

// syntax is what differs between Go and YAML.
type syntax interface {
	// find looks for the place that a marker marks.
	find(marker string) (place, bool)
	// pending returns the lines of text that the file does not have yet.
	pending(marker, text string) ([]string, error)
	// finish checks and formats the file with all insertions.
	finish(text string) (string, error)
}

func openMarked(content []byte, filename string) (*marked, error) {
	f := &marked{}
	if n := bytes.Count(content, []byte("\n")); n > 0 && bytes.Count(content, []byte("\r\n")) == n {
		f.crlf = true
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	}
	f.lines = slices.Collect(strings.Lines(string(content)))
	var err error
	switch path.Ext(filename) {
	case ".go":
		f.syntax, err = parseGo(content, filename)
	case ".yaml", ".yml":
		f.syntax = scanYAML(f.lines, filename)
	default:
		err = fmt.Errorf("%s: scaffold markers are known in .go, .yaml and .yml files only", filename)
	}
	return f, err
}

// weave puts texts above lines, with the line ends of their neighbours.
func (f *marked) weave(above map[int][]string) string {
	var b strings.Builder
	for i := range len(f.lines) + 1 {
		neighbour := f.lines[min(i, len(f.lines)-1)]
		end := lineEnd(neighbour)
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

// lineEnd returns what a line ends with: LF, CRLF or, for a last line, nothing. A carriage return alone ends no line.
func lineEnd(line string) string {
	for _, end := range []string{"\r\n", "\n"} {
		if strings.HasSuffix(line, end) {
			return end
		}
	}
	return ""
}

// indentation is the white space that a line begins with.
func indentation(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// isMarker tells whether a comment line is the marker, with or without a space after the comment sign.
// The extension of filename must be a known one: machinery panics on others.
func isMarker(filename, marker, line string) bool {
	return machinery.NewMarkerFor(filename, marker).EqualsLine(line)
}

// dedent takes the common indentation away and the empty lines around a text.
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

// contiguous tells whether part occurs in whole without gaps.
func contiguous(whole, part []string) bool {
	for i := 0; i+len(part) <= len(whole); i++ {
		if slices.Equal(whole[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
