package codegen

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/operon-sdk/operon/pkg/listing"
)

// Errors that a caller may want to tell apart, because the remedy lies outside of the project.
var (
	// ErrGoMissing means that there is no go command on the PATH of Options.Env.
	ErrGoMissing = errors.New("no go command on the PATH: install Go from https://go.dev/dl, or add its bin folder to PATH")
	// ErrGoTooOld means that the go command is older than the project's go.mod demands.
	ErrGoTooOld = errors.New("the go command is too old for the project: install a newer Go from https://go.dev/dl")
	// ErrModulesMissing means that the module cache lacks a dependency and the network was not to be used.
	ErrModulesMissing = errors.New("the module cache lacks dependencies of the project: run go mod download while online, then generate again")
)

// Finding is something wrong at a place in a source file.
type Finding struct {
	// File is slash-separated and relative to the module's root. For a file of a dependency it starts with the module's path.
	File string
	// Line and Column count from 1; 0 means unknown.
	Line, Column int
	// Message says what is wrong, in lower case and without the place.
	Message string
}

// Error formats a finding as file:line:column: message.
func (f Finding) Error() string {
	place := f.File
	if f.Line > 0 {
		place += ":" + strconv.Itoa(f.Line)
		if f.Column > 0 {
			place += ":" + strconv.Itoa(f.Column)
		}
	}
	if place == "" {
		return f.Message
	}
	return place + ": " + f.Message
}

// Findings is an error made of all that is wrong, sorted by place and without duplicates.
type Findings []Finding

func (f Findings) Error() string { return listing.Lines(f, "finding") }

// Unwrap returns the findings.
func (f Findings) Unwrap() []error { return listing.Errors(f) }

// tidy sorts findings by place and drops duplicates.
func (f Findings) tidy() Findings {
	slices.SortFunc(f, func(a, b Finding) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		if a.Column != b.Column {
			return a.Column - b.Column
		}
		return strings.Compare(a.Message, b.Message)
	})
	return slices.Compact(f)
}

// err is nil where nothing was found.
func (f Findings) err() error {
	if len(f) == 0 {
		return nil
	}
	return f.tidy()
}

// places turns positions that name files of this machine into findings that don't.
type places struct{ root string }

// modulePath finds the module, version and file in a path of the module cache.
var modulePath = regexp.MustCompile(`[/\\]pkg[/\\]mod[/\\](.+@v.+)$`)

var (
	// commandPrefix is what the packages library and the loader write before what the go command said.
	commandPrefix = regexp.MustCompile(`(?s)^(load packages in root "[^"]*": )?(err: exit status \d+: stderr: )?(go: )?`)
	// inModFile finds a place in go.mod and its like.
	inModFile = regexp.MustCompile(`(?:^|\s|/)(go\.mod|go\.work|go\.sum):(\d+)(?::(\d+))?: (.*)`)
)

// ofCommand is the finding for an error of the go command as a whole.
func (p places) ofCommand(err error) Finding {
	f := p.finding("", explain(commandPrefix.ReplaceAllString(err.Error(), "")))
	if m := inModFile.FindStringSubmatch(f.Message); m != nil {
		f.File, f.Message = m[1], m[4]
		f.Line, _ = strconv.Atoi(m[2])
		f.Column, _ = strconv.Atoi(m[3])
	} else {
		f.Message = "go list: " + f.Message
	}
	return f
}

// lineBreak is where a message of the go command goes on below.
var lineBreak = regexp.MustCompile(`\s*\n\s*`)

// file is the name to show for an absolute path.
func (p places) file(abs string) string {
	if rel, err := filepath.Rel(p.root, abs); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
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

// withoutRoot makes paths in a message relative to the root.
func (p places) withoutRoot(message string) string {
	message = strings.ReplaceAll(message, p.root+string(filepath.Separator), "")
	return strings.ReplaceAll(message, p.root, ".")
}

// finding places a message at a position written file:line:column, file:line, or importpath:-.
func (p places) finding(pos, message string) Finding {
	f := Finding{Message: p.withoutRoot(lineBreak.ReplaceAllString(strings.TrimSpace(message), " "))}
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

// ofPackage is the finding for an error that the loader attached to a package.
func (p places) ofPackage(err packages.Error) Finding { return p.finding(err.Pos, err.Msg) }

// missingModules reports whether a message of the go command says that a module is not on this machine.
func missingModules(message string) bool {
	for _, s := range []string{
		"module lookup disabled by GOPROXY=off",
		"dial tcp", "no such host", "network is unreachable", "i/o timeout",
	} {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}

// explain adds the remedy to a message of the go command where it is known.
func explain(message string) string {
	if before, _, ok := strings.Cut(message, "; to add:"); ok && strings.Contains(before, "missing go.sum entry") {
		message = before // the go get that follows would name a package of the project itself
	}
	switch {
	case strings.Contains(message, "go mod tidy"), strings.Contains(message, "go get "):
		return message
	case strings.Contains(message, "no required module provides package"), strings.Contains(message, "missing go.sum entry"), strings.Contains(message, "updates to go.mod needed"):
		return fmt.Sprintf("%s; run go mod tidy", message)
	}
	return message
}
