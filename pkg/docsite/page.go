package docsite

import (
	"bytes"
	"fmt"
	"html/template"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// repository is where links to files outside the documentation lead.
const repository = "https://github.com/operon-sdk/operon/blob/main/"

// A page is a Markdown file and what it becomes.
type page struct {
	// Name is the Markdown file, File the HTML file.
	Name, File string
	// Title is the text of the first heading.
	Title string
	// Headings are the headings below it, of the levels 2 and 3.
	Headings []heading
	Body     template.HTML

	entries []*entry
	doc     ast.Node
	data    []byte
}

// A heading is a part of a page. ID is its anchor.
type heading struct {
	Level    int
	ID, Text string
}

// An entry of the search index is the text below a heading. The entry of a title has no anchor.
type entry struct {
	id, heading string
	text        strings.Builder
}

// inReference reports whether the page belongs to the command reference.
func (p *page) inReference() bool { return path.Dir(p.Name) == "reference" }

// Root returns the path from the page to the root of the site, empty or with a slash at its end.
func (p *page) Root() string { return strings.Repeat("../", strings.Count(p.File, "/")) }

// address returns the address of a heading, relative to the root of the site.
func (p *page) address(id string) string {
	if id == "" {
		return p.File
	}
	return p.File + "#" + id
}

// parsePage parses a Markdown file.
func parsePage(name string, data []byte) (*page, error) {
	p := &page{Name: name, File: htmlName(name), data: bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))}
	markdown := goldmark.New(
		goldmark.WithExtensions(extension.Table),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
	)
	p.doc = markdown.Parser().Parse(text.NewReader(p.data))
	if err := p.read(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.data, p.doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.Body = template.HTML(b.String()) // from the documentation, with its raw HTML left out
	return p, nil
}

// read collects the headings and the text of the page. It gives headings their anchors, and links their targets in the site.
func (p *page) read() error {
	taken := anchors{}
	var current *entry
	err := ast.Walk(p.doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock && current != nil {
				current.text.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			current = p.addHeading(n, taken)
			return ast.WalkContinue, nil
		case *ast.Link:
			n.Destination = []byte(p.target(string(n.Destination)))
		}
		if current == nil {
			return ast.WalkContinue, nil
		}
		if _, inHeading := n.Parent().(*ast.Heading); !inHeading {
			current.text.WriteString(ownText(n, p.data))
		}
		return ast.WalkContinue, nil
	})
	if err == nil && p.Title == "" {
		err = fmt.Errorf("the page has no title")
	}
	return err
}

// addHeading gives a heading its anchor, and returns the entry that begins with it.
func (p *page) addHeading(n *ast.Heading, taken anchors) *entry {
	title := plainText(n, p.data)
	id := taken.add(title)
	n.SetAttributeString("id", []byte(id))
	e := &entry{id: id, heading: title}
	if p.Title == "" {
		p.Title = title
		e = &entry{}
	} else if n.Level <= 3 {
		p.Headings = append(p.Headings, heading{n.Level, id, title})
	}
	p.entries = append(p.entries, e)
	return e
}

// target returns the target of a link in the site.
func (p *page) target(link string) string {
	name, anchor, hasAnchor := strings.Cut(link, "#")
	if name == "" || strings.Contains(name, ":") {
		return link
	}
	if file := path.Join("docs", path.Dir(p.Name), name); !strings.HasPrefix(file, "docs/") {
		name = repository + file
	} else {
		name = htmlName(name)
	}
	if hasAnchor {
		name += "#" + anchor
	}
	return name
}

// htmlName returns the HTML file of a Markdown file. Other files keep their names.
func htmlName(name string) string {
	if path.Base(name) == source {
		return path.Join(path.Dir(name), Index)
	}
	if base, ok := strings.CutSuffix(name, ".md"); ok {
		return base + ".html"
	}
	return name
}

// plainText returns the text of a node without markup.
func plainText(n ast.Node, data []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no errors
		if entering {
			b.WriteString(ownText(n, data))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// ownText returns the text of a node without the nodes below it.
func ownText(n ast.Node, data []byte) string {
	switch n := n.(type) {
	case *ast.Text:
		text := string(util.ResolveEntityNames(util.UnescapePunctuations(n.Value(data))))
		if n.IsRaw() {
			text = string(n.Value(data))
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			text += " "
		}
		return text
	case *ast.String:
		return string(n.Value)
	case *ast.AutoLink:
		return string(n.Label(data))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return string(n.Lines().Value(data))
	}
	return ""
}
