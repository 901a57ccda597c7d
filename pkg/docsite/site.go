// Package docsite turns the documentation, Markdown as GitHub shows it, into a site that a browser opens from disk.
//
// # The site
//
// Each page becomes an HTML file of the same name, README.md becomes index.html. The template of all pages, the style sheet and the script
// are in templates/site. Links to other pages, pictures and headings work as on GitHub: headings have the same anchors. A link to a file
// outside the documentation leads to the repository.
//
// # Navigation
//
// README.md is also the source of the sidebar: a table whose first header is "… start" becomes the section "Start", with the pages that
// the table links to. A page is in the first section that links to it, or to one of its headings if none links to the page. The sidebar of
// a page in the directory reference also lists all pages there.
//
// # Search
//
// Browsers don't let a page from disk fetch data, so the index is a script, which the search loads when it is used first. It has an
// entry for each heading.
package docsite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"

	"github.com/operon-sdk/operon/templates"
)

// Index is the file with the first page of the site.
const Index = "index.html"

// source is the page with the navigation.
const source = "README.md"

// Options are the texts of a site that don't come from its pages.
type Options struct {
	// Program is the name of the program that writes the site.
	Program string
	// Version is the version of the program, which the pages state.
	Version string
}

// Mark returns what only pages contain that the program wrote.
func (o Options) Mark() string {
	return `<meta name="generator" content="` + o.Program + ` docs site">`
}

// Generate returns the files of the site by slash-separated name. The files of docs that are not Markdown are part of it.
func Generate(docs fs.FS, o Options) (map[string][]byte, error) {
	files := map[string][]byte{}
	var pages []*page
	err := fs.WalkDir(docs, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(docs, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			p, err := parsePage(name, data)
			pages = append(pages, p)
			return err
		}
		files[name] = data
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := render(files, pages, o); err != nil {
		return nil, err
	}
	for _, name := range []string{"site.css", "site.js"} {
		if files[name], err = templates.FS.ReadFile("site/" + name + ".tmpl"); err != nil {
			return nil, err
		}
	}
	files["search.js"], err = searchIndex(pages)
	return files, err
}

// render adds the HTML of the pages to files.
func render(files map[string][]byte, pages []*page, o Options) error {
	text, err := templates.FS.ReadFile("site/page.html.tmpl")
	if err != nil {
		return err
	}
	t, err := template.New("page.html").Parse(string(text))
	if err != nil {
		return err
	}
	sections, err := navigation(pages)
	if err != nil {
		return err
	}
	var reference []*page
	for _, p := range pages {
		if p.inReference() {
			reference = append(reference, p)
		}
	}
	for _, p := range pages {
		data := struct {
			Options
			*page
			Sections  []section
			Reference []*page
		}{Options: o, page: p, Sections: sections}
		if p.inReference() {
			data.Reference = reference
		}
		var b bytes.Buffer
		if err := t.Execute(&b, data); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		files[p.File] = b.Bytes()
	}
	return nil
}

// searchIndex returns the script with the entries of the pages, one in a line.
func searchIndex(pages []*page) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("window.searchIndex = [\n")
	for _, p := range pages {
		for _, e := range p.entries {
			// Strings in an array take less space than an object.
			line, err := json.Marshal([]string{p.address(e.id), p.Title, e.heading, strings.Join(strings.Fields(e.text.String()), " ")})
			if err != nil {
				return nil, err
			}
			b.Write(append(line, ",\n"...))
		}
	}
	b.WriteString("];\n")
	return b.Bytes(), nil
}
