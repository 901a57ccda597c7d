package docsite

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// blocks renders headings with a link to themselves, and code so that what a reader types can be told from output.
type blocks struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindHTMLBlock, skip) // comments
	r.Register(ast.KindRawHTML, skip)
}

func skip(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

func renderHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	level := string(rune('0' + n.(*ast.Heading).Level))
	id, _ := n.AttributeString("id") // each heading has one
	anchor := html.EscapeString(string(id.([]byte)))
	if entering {
		_, err := w.WriteString("<h" + level + ` id="` + anchor + `">`)
		return ast.WalkContinue, err
	}
	_, err := w.WriteString(` <a class="anchor" href="#` + anchor + `" aria-label="Link to this section">#</a></h` + level + ">\n")
	return ast.WalkContinue, err
}

// renderCode renders a code block. The lines of a console block that are typed have elements of their own: the prompt, which isn't
// copied, and the command.
func renderCode(w util.BufWriter, data []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := html.EscapeString(string(n.(*ast.FencedCodeBlock).Language(data)))
	var b strings.Builder
	b.WriteString(`<div class="code"><pre><code class="language-` + language + `">`)
	continued := false
	for line := range strings.Lines(string(n.Lines().Value(data))) {
		line = html.EscapeString(line)
		typed, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case language != "console" && language != "diff":
			b.WriteString(line)
			continue
		case language == "diff":
			b.WriteString(diffLine(line))
			continue
		case isCommand:
			b.WriteString(`<span class="prompt">$ </span>`)
		case !continued:
			b.WriteString(line)
			continue
		default:
			typed = line
		}
		b.WriteString(`<span class="typed">` + typed + "</span>")
		continued = strings.HasSuffix(strings.TrimSuffix(typed, "\n"), `\`)
	}
	b.WriteString("</code></pre></div>\n")
	_, err := w.WriteString(b.String())
	return ast.WalkContinue, err
}

// diffLine returns a line of a diff, which is colored if it is added or removed.
func diffLine(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return `<span class="added">` + line + "</span>"
	case strings.HasPrefix(line, "-"):
		return `<span class="removed">` + line + "</span>"
	}
	return line
}
