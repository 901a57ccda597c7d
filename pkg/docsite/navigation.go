package docsite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// A section of the sidebar.
type section struct {
	Title string
	Pages []*page
}

// navigation returns the sections of the sidebar, from the tables of README.md.
func navigation(pages []*page) ([]section, error) {
	byFile := map[string]*page{}
	for _, p := range pages {
		byFile[p.File] = p
	}
	index := byFile[Index]
	if index == nil {
		return nil, fmt.Errorf("%s is missing", source)
	}
	delete(byFile, Index)
	mentions := mentionsOf(index)
	// A link to a page says more about where it belongs than one to a heading.
	slices.SortStableFunc(mentions, func(a, b mention) int { return cmp.Compare(min(len(a.anchor), 1), min(len(b.anchor), 1)) })
	home := map[*page]string{}
	for _, m := range mentions {
		if p := byFile[m.file]; p != nil && home[p] == "" {
			home[p] = m.section
		}
	}
	var sections []section
	for _, m := range mentionsOf(index) {
		p := byFile[m.file]
		if p == nil || home[p] != m.section {
			continue
		}
		delete(byFile, m.file)
		if len(sections) == 0 || sections[len(sections)-1].Title != m.section {
			sections = append(sections, section{Title: m.section})
		}
		last := &sections[len(sections)-1]
		last.Pages = append(last.Pages, p)
	}
	return sections, nil
}

// A mention is a link in a table of README.md that begins a section.
type mention struct{ section, file, anchor string }

func mentionsOf(index *page) (mentions []mention) {
	current := ""
	_ = ast.Walk(index.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no errors
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *extension.TableHeader:
			title, ok := strings.CutPrefix(plainText(n, index.data), "… ")
			if current = ""; ok {
				current = capitalize(title)
			}
		case *ast.Link:
			if current != "" {
				file, anchor, _ := strings.Cut(string(n.Destination), "#")
				mentions = append(mentions, mention{current, file, anchor})
			}
		}
		return ast.WalkContinue, nil
	})
	return mentions
}

func capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}
