package docsite

import (
	"bytes"
	"encoding/json"
	"html"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operon-sdk/operon/docs"
)

var (
	reference = regexp.MustCompile(`<(\w+)[^>]* (?:href|src)="([^"]*)"`)
	htmlID    = regexp.MustCompile(` id="([^"]+)"`)
)

// generate returns the site of Operon's documentation.
func generate(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := Generate(docs.FS, Options{Program: "operon", Version: "v1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// ids returns the anchors in HTML, each of which must be unique.
func ids(t *testing.T, name string, page []byte) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, match := range htmlID.FindAllSubmatch(page, -1) {
		id := html.UnescapeString(string(match[1]))
		if found[id] {
			t.Errorf("%s: two elements have the ID %s", name, id)
		}
		found[id] = true
	}
	return found
}

// TestLinks checks that all links between pages, and to their style sheet, script and pictures, lead to a file and to an anchor in it,
// and that pages load nothing from the network.
func TestLinks(t *testing.T) {
	t.Parallel()
	files := generate(t)
	anchors := map[string]map[string]bool{}
	for name, data := range files {
		anchors[name] = ids(t, name, data)
	}
	links := 0
	for name, data := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, match := range reference.FindAllStringSubmatch(string(data), -1) {
			target := html.UnescapeString(match[2])
			if strings.HasPrefix(target, "https://") && match[1] == "a" {
				continue
			}
			links++
			file, anchor, hasAnchor := strings.Cut(target, "#")
			if file == "" {
				file = name
			} else {
				file = path.Join(path.Dir(name), file)
			}
			if _, ok := files[file]; !ok {
				t.Errorf("%s: %s: no such file", name, target)
			} else if hasAnchor && !anchors[file][anchor] {
				t.Errorf("%s: %s: no such anchor", name, target)
			}
		}
	}
	if links < 5000 {
		t.Errorf("found %d links", links)
	}
}

// TestSearchIndex checks that the index is JSON in a script, and that its addresses exist.
func TestSearchIndex(t *testing.T) {
	t.Parallel()
	files := generate(t)
	index, ok := bytes.CutPrefix(files["search.js"], []byte("window.searchIndex = "))
	var entries [][4]string
	if err := json.Unmarshal(bytes.Replace(bytes.TrimSuffix(index, []byte(";\n")), []byte(",\n]"), []byte("]"), 1), &entries); err != nil || !ok {
		t.Fatal(err)
	}
	found := false
	for _, e := range entries {
		file, anchor, hasAnchor := strings.Cut(e[0], "#")
		if hasAnchor && !strings.Contains(string(files[file]), ` id="`+html.EscapeString(anchor)+`"`) || files[file] == nil || e[1] == "" {
			t.Errorf("the entry %q leads nowhere", e)
		}
		found = found || e[0] == "cel.html#transition-rules" && e[1] == "Validation with CEL" && e[2] == "Transition rules" && strings.Contains(e[3], "oldSelf")
	}
	if len(entries) < 500 || !found {
		t.Errorf("the index has %d entries; transition rules found: %t", len(entries), found)
	}
}

// TestNavigation checks that the sidebar has each page once.
func TestNavigation(t *testing.T) {
	t.Parallel()
	files := generate(t)
	_, sidebar, _ := strings.Cut(string(files["images.html"]), `<nav id="pages"`)
	sidebar, _, _ = strings.Cut(sidebar, "</nav>")
	for name := range files {
		if n := strings.Count(sidebar, `href="`+name+`"`); path.Ext(name) == ".html" && !strings.Contains(name, "/") && n != 1 {
			t.Errorf("the sidebar has %s %d times; list docs/%s in a table of docs/README.md", name, n, strings.TrimSuffix(name, ".html")+".md")
		}
	}
	if !strings.Contains(sidebar, `<a href="images.html" aria-current="page">Images</a>`) {
		t.Error("the sidebar does not mark the current page")
	}
	if !regexp.MustCompile(`(?s)<h2>Test</h2>\s*<ul>((?:<li>|\s)*<a [^\n]*\n)*<li><a href="behavior.html">`).MatchString(sidebar) {
		t.Errorf("behavior.html is not in the section whose table links to the page:\n%s", sidebar)
	}
}

// TestSameBytes checks that a site depends on nothing but its pages.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	if !maps.EqualFunc(generate(t), generate(t), bytes.Equal) {
		t.Error("two sites of the same pages differ")
	}
}

// TestPage checks what Markdown becomes.
func TestPage(t *testing.T) {
	t.Parallel()
	page := "<!-- generated -->\n# A & B\n\n## `code`, *and* more\n\nSee [there](b/c.md#x), [up](../LICENSE), [web](https://example.com/a.md), [index](README.md).\n\n" +
		"## `code`, *and* more\n\n| | |\n|---|---|\n| a \\| b | &lt;x> |\n\n" +
		"```console\n$ ls <dir> \\\n    -l\n$ cat\ntotal\n```\n\n```diff\n-old\n+new\n```\n\n```yaml\n$ no\n```\n"
	p, err := parsePage("a.md", []byte(strings.ReplaceAll(page, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<h1 id="a--b">A &amp; B `, `<h2 id="code-and-more"><code>code</code>, <em>and</em> more `, `<h2 id="code-and-more-1">`,
		`<a href="b/c.html#x">`, `<a href="https://github.com/operon-sdk/operon/blob/main/LICENSE">`, `<a href="https://example.com/a.md">`, `<a href="index.html">`,
		"<td>a | b</td>\n<td>&lt;x&gt;</td>",
		"<span class=\"prompt\">$ </span><span class=\"typed\">ls &lt;dir&gt; \\\n</span><span class=\"typed\">    -l\n</span><span class=\"prompt\">$ </span><span class=\"typed\">cat\n</span>total\n",
		"<span class=\"removed\">-old\n</span><span class=\"added\">+new\n</span>", `<code class="language-yaml">$ no` + "\n",
	} {
		if !strings.Contains(string(p.Body), want) {
			t.Errorf("the page does not contain %q:\n%s", want, p.Body)
		}
	}
	if strings.Contains(string(p.Body), "generated") || p.Title != "A & B" || !slices.Equal(p.Headings, []heading{{2, "code-and-more", "code, and more"}, {2, "code-and-more-1", "code, and more"}}) {
		t.Errorf("title %q, headings %v:\n%s", p.Title, p.Headings, p.Body)
	}
	if text := p.entries[2].text.String(); !strings.Contains(text, "a | b") || !strings.Contains(text, "<x>") || !strings.Contains(text, "ls <dir>") {
		t.Errorf("the search finds %q", text)
	}
}

// TestBadPages checks errors about pages.
func TestBadPages(t *testing.T) {
	t.Parallel()
	for want, pages := range map[string]fstest.MapFS{
		"README.md is missing":        {"a.md": {Data: []byte("# A\n")}},
		"a.md: the page has no title": {"a.md": {Data: []byte("text\n")}},
	} {
		if _, err := Generate(pages, Options{}); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
