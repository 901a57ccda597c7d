package codegen

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Errors whose causes are outside of the project.
var (
	// ErrGoMissing means that the PATH of Options.Env contains no go command.
	ErrGoMissing = errors.New("go command not found; install Go from https://go.dev/dl, or add its bin directory to PATH")
	// ErrGoTooOld means that the project's go.mod requires a later version of Go.
	ErrGoTooOld = errors.New("the go command is too old for the project; install a newer Go from https://go.dev/dl")
	// ErrModulesMissing means that the module cache lacks a dependency that must not or cannot be downloaded.
	ErrModulesMissing = errors.New("the module cache lacks dependencies of the project; " +
		"run go mod download while online, then generate again")
)

// positions converts messages with absolute paths to findings without.
type positions struct{ root string }

// modulePath matches the module, version and file in a path of the module cache.
var modulePath = lazyregexp.New(`[/\\]pkg[/\\]mod[/\\](.+@v.+)$`)

var (
	// commandPrefix is what the packages library and the loader add to the output of the go command.
	commandPrefix = lazyregexp.New(`(?s)^(load packages in root "[^"]*": )?(err: exit status \d+: stderr: )?(go: )?`)
	// inModFile matches a position in go.mod, go.work or go.sum.
	inModFile = lazyregexp.New(`(?:^|\s|/)(go\.mod|go\.work|go\.sum):(\d+)(?::(\d+))?: (.*)`)
)

// commandFinding returns the finding for an error of the go command that is not about a package.
func (p positions) commandFinding(err error) diag.Finding {
	f := p.finding("", explain(commandPrefix.ReplaceAllString(err.Error(), "")))
	if m := inModFile.FindStringSubmatch(f.Problem); m != nil {
		f.File, f.Problem = m[1], m[4]
		f.Line, _ = strconv.Atoi(m[2])
		f.Column, _ = strconv.Atoi(m[3])
	} else {
		f.Problem = "go list: " + f.Problem
	}
	return f
}

// lineBreak matches a line break in a message of the go command.
var lineBreak = lazyregexp.New(`\s*\n\s*`)

// file returns the name to print for an absolute path.
func (p positions) file(abs string) string {
	if rel, err := filepath.Rel(p.root, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	if m := modulePath.FindStringSubmatch(abs); m != nil {
		return filepath.ToSlash(m[1])
	}
	if i := strings.LastIndex(filepath.ToSlash(abs), "/src/"); i >= 0 {
		return filepath.ToSlash(abs)[i+len("/src/"):]
	}
	return filepath.Base(abs)
}

// relativePaths makes paths in a message relative to the root.
func (p positions) relativePaths(message string) string {
	message = strings.ReplaceAll(message, p.root+string(filepath.Separator), "")
	return strings.ReplaceAll(message, p.root, ".")
}

// finding returns the finding for a message at a position: file:line:column, file:line, or importpath:-.
func (p positions) finding(pos, message string) diag.Finding {
	f := diag.Finding{Problem: p.relativePaths(lineBreak.ReplaceAllString(strings.TrimSpace(message), " "))}
	numbers := make([]int, 0, 2)
	for len(numbers) < 2 {
		i := strings.LastIndexByte(pos, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(pos[i+1:])
		if err != nil {
			if pos[i+1:] == "-" {
				pos = pos[:i]
			}
			break
		}
		numbers, pos = append(numbers, n), pos[:i]
	}
	switch len(numbers) {
	case 1:
		f.Line = numbers[0]
	case 2:
		f.Line, f.Column = numbers[1], numbers[0]
	}
	switch {
	case pos == "-":
	case filepath.IsAbs(pos):
		f.File = p.file(pos)
	default:
		f.File = filepath.ToSlash(pos)
	}
	return f
}

// missingModules reports whether a message of the go command means that the module cache lacks a module.
func missingModules(message string) bool {
	return slices.ContainsFunc([]string{
		"module lookup disabled by GOPROXY=off", "dial tcp", "no such host", "network is unreachable", "i/o timeout",
	}, func(s string) bool { return strings.Contains(message, s) })
}

// explain adds the fix to a message of the go command, if it is known.
func explain(message string) string {
	if before, _, ok := strings.Cut(message, "; to add:"); ok && strings.Contains(before, "missing go.sum entry") {
		message = before // the suggested go get would name a package of the project itself
	}
	has := func(part string) bool { return strings.Contains(message, part) }
	if has("go mod tidy") || has("go get ") {
		return message
	}
	if has("no required module provides package") || has("missing go.sum entry") || has("updates to go.mod needed") {
		return message + "; run go mod tidy"
	}
	return message
}
