package reshape

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/operon-sdk/operon/pkg/scaffold"
)

const headerFile = "hack/boilerplate.go.txt"

// foreign tells that a comment is somebody's licence.
var foreign = regexp.MustCompile(`(?i)copyright|licen[cs]e|SPDX`)

// Copyright is the notice in a header, such as "Copyright 2026 Example Inc.", or empty.
func Copyright(header string) string {
	for line := range strings.Lines(header) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "/* "))
		if strings.HasPrefix(line, "Copyright ") {
			return line
		}
	}
	return ""
}

// Reheader gives another header to hack/boilerplate.go.txt and to the Go files that carry the present
// one, to the letter, above their package clause. Where there is none yet, all Go files without a licence
// of their own get it.
func Reheader(tree *scaffold.Tree, old, header string) error {
	text := header
	if text != "" {
		text += "\n"
	}
	if old == header {
		return nil
	}
	tree.WriteFile(headerFile, []byte(text), 0o644)
	names, err := goFiles(tree)
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := tree.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		if path.Base(name) == "zz_generated.deepcopy.go" {
			continue // generated with the new header
		}
		if changed, ok := reheader(string(data), old, header); ok {
			tree.WriteFile(name, []byte(changed), 0o644)
		}
	}
	return nil
}

func reheader(src, old, header string) (string, bool) {
	crlf := strings.Contains(src, "\r\n")
	plain := strings.ReplaceAll(src, "\r\n", "\n")
	at := packageClause(plain)
	if at < 0 {
		return src, false
	}
	above := plain[:at]
	switch i := strings.Index(above, old); {
	case old == "" && foreign.MatchString(above):
		return src, false
	case old == "":
		start := afterBuild(above)
		plain = plain[:start] + header + "\n\n" + plain[start:]
	case i < 0 || i > 0 && above[i-1] != '\n' || !strings.HasPrefix(plain[i+len(old):], "\n"):
		return src, false
	case header == "":
		plain = plain[:i] + strings.TrimLeft(plain[i+len(old):], "\n")
	default:
		plain = plain[:i] + header + plain[i+len(old):]
	}
	if crlf {
		plain = strings.ReplaceAll(plain, "\n", "\r\n")
	}
	return plain, true
}

// packageLine matches the package clause.
var packageLine = regexp.MustCompile(`(?m)^package \w`)

// packageClause is where the package clause starts, or -1.
func packageClause(src string) int {
	if at := packageLine.FindStringIndex(src); at != nil {
		return at[0]
	}
	return -1
}

// afterBuild is where a header goes: below the lines that say what builds the file is part of.
func afterBuild(above string) int {
	at := 0
	for line := range strings.Lines(above) {
		if !strings.HasPrefix(line, "//go:build") && !strings.HasPrefix(line, "// +build") && strings.TrimSpace(line) != "" {
			return at
		}
		at += len(line)
	}
	return at
}
