package refactor

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// licenseText matches the text of a license.
var licenseText = lazyregexp.New(`(?i)copyright|licen[cs]e|SPDX`)

// Copyright returns the notice in a header, such as "Copyright 2026 Example Inc.", or "".
func Copyright(header string) string {
	for line := range strings.Lines(header) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "/* "))
		if strings.HasPrefix(line, "Copyright ") {
			return line
		}
	}
	return ""
}

// ReplaceHeader replaces the header in file and in the Go files that start with exactly the old one. If old is empty,
// it adds the header to all Go files without a license. YEAR in old matches any year. YEAR in header becomes the year
// of the file, or year, or is omitted.
func ReplaceHeader(tree *worktree.Tree, file, old, header, year string) error {
	text := header
	if text != "" {
		text += "\n"
	}
	if old == header {
		return nil
	}
	tree.WriteFile(file, []byte(text), 0o644)
	names, err := gosource.ListFiles(tree)
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
		if changed, ok := replaceHeader(string(data), old, header, year); ok {
			tree.WriteFile(name, []byte(changed), 0o644)
		}
	}
	return nil
}

func replaceHeader(src, old, header, year string) (string, bool) {
	lf, crlf := textdiff.AllToLF([]byte(src))
	plain := string(lf)
	at := packageClause(plain)
	if at < 0 {
		return src, false
	}
	above := plain[:at]
	if old == "" {
		if licenseText.MatchString(above) {
			return src, false
		}
		start := afterConstraints(above)
		plain = plain[:start] + withYear(header, year) + "\n\n" + plain[start:]
	} else {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(old), " YEAR", `(?: (\d{4}(?:-\d{4})?))?`)
		m := regexp.MustCompile(`(?m)^` + pattern + `\n`).FindStringSubmatchIndex(above)
		if m == nil {
			return src, false
		}
		if len(m) > 2 && m[2] >= 0 {
			year = above[m[2]:m[3]]
		}
		rest := above[m[1]-1:] + plain[at:]
		if header == "" {
			rest = strings.TrimLeft(rest, "\n")
		}
		plain = plain[:m[0]] + withYear(header, year) + rest
	}
	return string(textdiff.FromLF([]byte(plain), crlf)), true
}

// withYear replaces YEAR in a header as controller-gen does, or removes it without a year.
func withYear(header, year string) string {
	if year != "" {
		year = " " + year
	}
	return strings.ReplaceAll(header, " YEAR", year)
}

// packageLine matches the package clause.
var packageLine = lazyregexp.New(`(?m)^package \w`)

// packageClause returns the offset of the package clause, or -1.
func packageClause(src string) int {
	if at := packageLine.FindStringIndex(src); at != nil {
		return at[0]
	}
	return -1
}

// afterConstraints returns the offset for a header: after the build constraints.
func afterConstraints(above string) int {
	at := 0
	for line := range strings.Lines(above) {
		if !strings.HasPrefix(line, "//go:build") && !strings.HasPrefix(line, "// +build") && strings.TrimSpace(line) != "" {
			return at
		}
		at += len(line)
	}
	return at
}
