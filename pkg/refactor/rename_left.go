package refactor

import (
	"fmt"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/operon-sdk/operon/pkg/project"
)

// findRemaining finds the old names that remain in the tree.
func (x *renamer) findRemaining() (*Remaining, error) {
	var remaining Remaining
	old, now := x.terms()
	if len(old) == 0 {
		return &remaining, nil
	}
	names, err := x.tree.Walk(".", x.skipDir)
	if err != nil {
		return nil, err
	}
	search := regexp.MustCompile(`\b(?:` + strings.Join(old, "|") + `)\b`)
	for _, name := range names {
		if isGeneratedFile(name) {
			continue
		}
		data, err := x.tree.ReadFile(name)
		if err != nil || !utf8.Valid(data) {
			continue // a broken link or a binary file
		}
		if listed := x.released[name]; listed != "" {
			if search.Match(data) {
				remaining.Released = append(remaining.Released, listed)
			}
			continue
		}
		content := lines(string(data))
		var texts map[int]string
		if path.Ext(name) == ".go" {
			texts = goTexts(data, x.resources())
		}
		for i, line := range content {
			if texts != nil {
				line = texts[i]
			}
			for _, word := range now {
				line = strings.ReplaceAll(line, word, "")
			}
			if search.MatchString(line) {
				remaining.Places = append(remaining.Places, fmt.Sprintf("%s:%d: %s", name, i+1, shorten(strings.TrimSpace(content[i]))))
			}
		}
	}
	remaining.Released = slices.Compact(remaining.Released)
	return &remaining, nil
}

// terms returns patterns of the old names, and the new names, which may contain old ones.
func (x *renamer) terms() (old, now []string) {
	add := func(oldName, newName string) {
		if oldName != newName && oldName != "" {
			old, now = append(old, regexp.QuoteMeta(oldName)), append(now, newName)
		}
	}
	for _, api := range x.APIs {
		oldName, newName := api[0], api[1]
		add(oldName.Kind, newName.Kind)
		add(oldName.QualifiedGroup(), newName.QualifiedGroup())
		add(oldName.QualifiedGroup()+"/"+oldName.Version, newName.QualifiedGroup()+"/"+newName.Version)
	}
	add(x.Project[0], x.Project[1])
	module := x.m.Path
	if x.Module != "" {
		add(x.m.Path, x.Module)
		module = x.Module
	}
	slices.Sort(old)
	// Longer names first, because they may contain others.
	if module != "" {
		now = append(now, module)
	}
	slices.SortFunc(now, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(old), now
}

// isGeneratedFile reports whether a file is generated, or contains names that do not belong to the project.
func isGeneratedFile(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "zz_generated.") || strings.Contains(name, "/applyconfiguration/") ||
		strings.HasPrefix(name, project.CRDBasesDir+"/") || name == project.RoleFile ||
		name == project.WebhookManifests || name == "go.sum" || name == "PROJECT" || name == "bundle.Dockerfile"
}

// resources maps the old plurals to an old name.
func (x *renamer) resources() map[string]string {
	plurals := map[string]string{}
	for _, api := range x.APIs {
		if api[0].Plural != api[1].Plural {
			plurals[api[0].Plural] = api[0].Kind
		}
	}
	return plurals
}

// goTexts returns the strings and comments of Go code by line, counted from 0. A plural counts only if it is an entire
// string: otherwise it may be any word.
func goTexts(src []byte, plurals map[string]string) map[int]string {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
	texts := map[int]string{}
	for {
		pos, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return texts
		case token.STRING, token.COMMENT:
			lit += " " + plurals[strings.Trim(lit, "\"`")]
			for i, line := range strings.Split(lit, "\n") {
				texts[file.PositionFor(pos, false).Line-1+i] += line + " "
			}
		}
	}
}

// shorten limits the length of a line for a list.
func shorten(line string) string {
	const maxLength = 100
	if len(line) <= maxLength {
		return line
	}
	return strings.ToValidUTF8(line[:maxLength], "") + "…"
}
