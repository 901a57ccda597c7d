package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// A diagnostic is an error or a warning, with its position if it is about a file.
type diagnostic struct {
	// File is slash-separated and relative to the project's directory, or to the working directory if it was given so.
	File string `json:"file,omitempty"`
	// Line and Column count from 1; 0 means unknown.
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	// Rule is the name of the check, if it has one.
	Rule string `json:"rule,omitempty"`
	// path is the absolute path of File.
	path string
}

// diagnose splits a position off a text, if the text begins with it and the file exists.
func (a *app) diagnose(text string, at diag.Position, rule string) diagnostic {
	d := diagnostic{Message: text, Rule: rule}
	message, ok := strings.CutPrefix(text, at.String()+": ")
	if !ok || at.File == "" {
		return d
	}
	dirs := []string{a.Dir}
	if root, err := project.FindRoot(a.FS, a.Dir); err == nil {
		dirs = []string{root, a.Dir}
	}
	for _, dir := range dirs {
		path := absolute(dir, filepath.FromSlash(at.File))
		if info, err := a.FS.Stat(path); err == nil && info.Mode().IsRegular() {
			return diagnostic{File: at.File, Line: at.Line, Column: at.Column, Message: message, Rule: rule, path: path}
		}
	}
	return d
}

// repositoryPath returns a path relative to the repository that a CI job has checked out, or shown if that is
// unknown.
func (a *app) repositoryPath(path, shown string) string {
	rel, err := filepath.Rel(a.Getenv("GITHUB_WORKSPACE"), path)
	if err != nil || action.IsOutside(filepath.ToSlash(rel)) {
		return shown
	}
	return filepath.ToSlash(rel)
}

// annotate prints a text as an annotation of a job of GitHub Actions, which shows its message in the log, too. It reports
// whether the command runs in such a job.
func (a *app) annotate(level, text string, at diag.Position) bool {
	if a.Getenv("GITHUB_ACTIONS") != "true" {
		return false
	}
	d := a.diagnose(text, at, "")
	var properties []string
	if d.File != "" {
		properties = append(properties, property("file", a.repositoryPath(d.path, d.File)))
	}
	if d.Line > 0 {
		properties = append(properties, property("line", strconv.Itoa(d.Line)))
	}
	if d.Column > 0 {
		properties = append(properties, property("col", strconv.Itoa(d.Column)))
	}
	a.workflowCommand(level, properties, d.Message)
	return true
}

// A reported is a part of an error.
type reported struct {
	role role
	text string
	// at is the position that the text begins with, if it is known, and rule the name of the check.
	at   diag.Position
	rule string
}

// full returns the text with the name of the check.
func (r reported) full() string { return withRule(r.text, r.rule) }

// withRule adds the name of a check to a text, if it has one.
func withRule(text, rule string) string {
	if rule == "" {
		return text
	}
	return text + " [" + rule + "]"
}

type role int

const (
	single  role = iota // a finding on its own, or the heading of findings
	listed              // a finding below a heading
	advice              // what to do about the findings above
	count               // how many findings are omitted
	omitted             // a finding that the text of the error omits
)

// split splits an error into findings. Errors that list others are those of errors.Join, and all whose text begins with the
// texts of the errors that they wrap, one below the other.
func split(err error) []reported {
	text := strings.TrimRight(err.Error(), "\n")
	for list := err; list != nil; list = errors.Unwrap(list) {
		parts, shown, below := wrapped(list)
		heading, after, ok := strings.Cut(text, strings.TrimRight(list.Error(), "\n"))
		if shown == 0 || !ok || heading != "" && !strings.HasSuffix(heading, "\n") && len(parts) == 1 {
			continue
		}
		var all []reported
		if heading != "" {
			all = append(all, reported{role: single, text: strings.TrimRight(heading, "\n ")})
		}
		for i, part := range parts {
			switch {
			case i >= shown:
				all = append(all, reportedAs(omitted, part.Error(), part))
			case heading != "":
				all = append(all, reportedAs(listed, part.Error(), part))
			default:
				all = append(all, split(part)...)
			}
		}
		for line := range strings.Lines(below + strings.TrimPrefix(after, "\n")) {
			kind := advice
			if shown < len(parts) && strings.HasPrefix(below, line) {
				kind = count
			}
			all = append(all, reported{role: kind, text: strings.TrimRight(line, "\n")})
		}
		return distinct(all)
	}
	return []reported{reportedAs(single, text, err)}
}

// reportedAs returns a part with the position and the rule of the first finding that err wraps.
func reportedAs(as role, text string, err error) reported {
	finding, _ := errors.AsType[diag.Finding](err)
	return reported{as, text, finding.Position, finding.Rule}
}

// distinct leaves out repetitions: several checks may have the same finding.
func distinct(all []reported) []reported {
	var out []reported
	for _, part := range all {
		if !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out
}

// wrapped returns the errors that err lists, how many of them its text shows, and the text below those.
func wrapped(err error) (parts []error, shown int, below string) {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, 0, ""
	}
	parts, below = many.Unwrap(), err.Error()
	for _, part := range parts {
		rest, ok := strings.CutPrefix(below, part.Error())
		if !ok || rest != "" && rest[0] != '\n' {
			break
		}
		shown, below = shown+1, strings.TrimPrefix(rest, "\n")
	}
	if below != "" {
		below += "\n"
	}
	return parts, shown, below
}

// printError prints all parts of an error on stderr.
func (a *app) printError(err error) {
	for _, part := range split(err) {
		switch part.role {
		case single:
			if !a.annotate("error", part.full(), part.at) {
				fmt.Fprint(a.Err, a.red("error:"))
				fmt.Fprintf(a.text(), " %s\n", diag.Continue(part.full()))
			}
		case listed:
			if !a.annotate("error", part.full(), part.at) {
				fmt.Fprintf(a.text(), "  %s\n", strings.ReplaceAll(strings.ReplaceAll(part.full(), "\r\n", "\n"), "\n", "\n  "))
			}
		case advice, count:
			fmt.Fprintln(a.text(), part.text)
		}
	}
}
