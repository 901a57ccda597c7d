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
)

// remaining finds the old names that are still in the tree.
func (x *renamer) remaining() (*Remaining, error) {
	var remaining Remaining
	old, now := x.terms()
	if len(old) == 0 {
		return &remaining, nil
	}
	names, err := x.tree.Walk(".", x.skipped)
	if err != nil {
		return nil, err
	}
	search := regexp.MustCompile(`\b(?:` + strings.Join(old, "|") + `)\b`)
	for _, name := range names {
		if generated(name) {
			continue
		}
		data, err := x.tree.ReadFile(name)
		if err != nil || !utf8.Valid(data) {
			continue // a broken link, or no text
		}
		if listed := x.released[name]; listed != "" {
			if search.Match(data) {
				remaining.Released = append(remaining.Released, listed)
			}
			continue
		}
		said := lines(string(data))
		var texts map[int]string
		if path.Ext(name) == ".go" {
			texts = goTexts(data, x.resources())
		}
		for i, line := range said {
			if texts != nil {
				line = texts[i]
			}
			for _, word := range now {
				line = strings.ReplaceAll(line, word, "")
			}
			if search.MatchString(line) {
				remaining.Places = append(remaining.Places, fmt.Sprintf("%s:%d: %s", name, i+1, shortened(strings.TrimSpace(said[i]))))
			}
		}
	}
	remaining.Released = slices.Compact(remaining.Released)
	return &remaining, nil
}

// terms are the old names to look for, as patterns, and the new ones, which may hold them.
func (x *renamer) terms() (old, now []string) {
	add := func(was, is string) {
		if was != is && was != "" {
			old, now = append(old, regexp.QuoteMeta(was)), append(now, is)
		}
	}
	for _, api := range x.APIs {
		was, is := api[0], api[1]
		add(was.Kind, is.Kind)
		add(was.Group, is.Group)
		add(was.Group+"/"+was.Version, is.Group+"/"+is.Version)
	}
	add(x.Project[0], x.Project[1])
	module := x.m.Path
	if x.Module != "" {
		add(x.m.Path, x.Module)
		module = x.Module
	}
	slices.Sort(old)
	// Longer ones first, as they may hold others.
	now = append(now, module)
	slices.SortFunc(now, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(old), now
}

// generated names the files that are made of others, and those with names of their own.
func generated(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, "zz_generated.") || strings.Contains(name, "/applyconfiguration/") || strings.HasPrefix(name, "config/crd/bases/") || name == "config/rbac/role.yaml" ||
		name == "config/webhook/manifests.yaml" || name == "go.sum" || name == "PROJECT" || name == "bundle.Dockerfile"
}

// resources are the old plurals, each with an old name that is looked for.
func (x *renamer) resources() map[string]string {
	plurals := map[string]string{}
	for _, api := range x.APIs {
		if api[0].Plural != api[1].Plural {
			plurals[api[0].Plural] = api[0].Kind
		}
	}
	return plurals
}

// goTexts are the strings and comments of Go code by line, counted from 0. A plural counts, as what stands
// behind it, where it is all of a string: elsewhere it may be any word.
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

// shortened is a line as far as it is of use in a list.
func shortened(line string) string {
	const most = 100
	if len(line) <= most {
		return line
	}
	cut := most
	for !utf8.RuneStart(line[cut]) {
		cut--
	}
	return line[:cut] + "…"
}
