package cmd_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// markdownLink matches the target of a link.
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	// markdownCode matches code blocks and inline code.
	markdownCode = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
	// markdownHeading matches a heading.
	markdownHeading = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
)

// TestMarkdownLinks checks that the relative links in all Markdown files refer to existing files and headings.
func TestMarkdownLinks(t *testing.T) {
	t.Parallel()
	links := 0
	for _, file := range sourceFiles(t) {
		if path.Ext(file) != ".md" {
			continue
		}
		text := markdownCode.ReplaceAllString(string(readSource(t, file)), "")
		for _, match := range markdownLink.FindAllStringSubmatch(text, -1) {
			target := match[1]
			if strings.Contains(target, "://") {
				continue
			}
			links++
			name, anchor, hasAnchor := strings.Cut(target, "#")
			if name == "" {
				name = file
			} else {
				name = path.Join(path.Dir(file), name)
			}
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(name))); err != nil {
				t.Errorf("%s: link to %s: file not found", file, target)
			} else if hasAnchor && !anchors(string(readSource(t, name)))[anchor] {
				t.Errorf("%s: link to %s: heading not found", file, target)
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links", links)
	}
}

// anchors returns the anchors of the headings in a Markdown file, as GitHub forms them.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	for _, match := range markdownHeading.FindAllStringSubmatch(text, -1) {
		anchor := strings.ToLower(match[1])
		anchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(anchor, "")
		found[strings.ReplaceAll(anchor, " ", "-")] = true
	}
	return found
}
