package main

import (
	_ "embed"
	"html"
	"os"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"
)

//go:embed recording.svg.tmpl
var recordingTemplate string

// The size of the recorded terminal, and how many lines of a command's output it shows.
const (
	columns     = 104
	rows        = 24
	outputLines = 9
)

// What a reader has time for: pauses after commands, however long they took, and the speed of typing.
const (
	pause   = 1500 * time.Millisecond
	typing  = 25 * time.Millisecond
	opening = 500 * time.Millisecond
)

// recording is what a terminal shows of the commands of a page. A nil recording records nothing.
type recording struct {
	at    time.Duration
	lines []recordedLine
}

// A recordedLine is one line of the terminal.
type recordedLine struct {
	// Text is escaped. Took is the time that a command took.
	Text, Took string
	IsCommand  bool
	// At is when the line appears, in seconds after the start.
	At float64
}

// add adds a command with its output.
func (r *recording) add(command, output string, took time.Duration) {
	if r == nil {
		return
	}
	if r.at == 0 {
		r.at = opening
	}
	for i, text := range fold(command) {
		l := recordedLine{Text: text, IsCommand: i == 0}
		if i == 0 && took > 0 {
			l.Took = took.Round(10 * time.Millisecond).String()
		}
		r.line(l)
	}
	r.at += time.Duration(utf8.RuneCountInString(command)) * typing
	if output == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	if len(lines) > outputLines {
		lines = append(append(lines[:outputLines-3:outputLines-3], "…"), lines[len(lines)-2:]...)
	}
	for _, text := range lines {
		r.line(recordedLine{Text: text})
	}
	r.at += pause
}

// fold breaks a command into lines as people do who type it. They leave room for the time.
func fold(command string) []string {
	lines := []string{""}
	for i, word := range strings.Split(command, " ") {
		last := &lines[len(lines)-1]
		switch {
		case i == 0:
			*last = word
		case len(*last)+len(word) < columns-14:
			*last += " " + word
		default:
			*last += " \\"
			lines = append(lines, "    "+word)
		}
	}
	return lines
}

func (r *recording) line(l recordedLine) {
	if text := []rune(l.Text); len(text) > columns {
		l.Text = string(text[:columns-1]) + "…"
	}
	l.Text, l.At = html.EscapeString(l.Text), r.at.Seconds()
	r.lines = append(r.lines, l)
}

// A scroll moves the lines up by a number of lines.
type scroll struct {
	// Percent of the duration has passed.
	Percent float64
	Lines   int
}

// scrolls returns when lines move up, so that the last one is visible.
func (r *recording) scrolls() (scrolls []scroll) {
	for i, l := range r.lines {
		next := r.at.Seconds()
		if i+1 < len(r.lines) {
			next = r.lines[i+1].At
		}
		if over := i + 1 - rows; over > 0 && next > l.At {
			scrolls = append(scrolls, scroll{100 * l.At / r.at.Seconds(), over})
		}
	}
	return scrolls
}

// write writes an animated SVG. Programs that don't animate, and readers who don't want it, see the end.
func (r *recording) write(file, title string) error {
	parsed, err := template.New("").Funcs(template.FuncMap{"y": func(line int) int { return 20 * line }}).Parse(recordingTemplate)
	if err != nil {
		return err
	}
	var out strings.Builder
	err = parsed.Execute(&out, map[string]any{
		"Title": html.EscapeString(title), "Lines": r.lines, "Scrolls": r.scrolls(), "Seconds": r.at.Seconds(),
		"Hidden": max(0, len(r.lines)-rows),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(out.String()), 0o644)
}
