package cmd_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestSecurityPage checks that each statement of docs/security.md, from "What no command does" on, names tests that exist.
func TestSecurityPage(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	clitest.WalkTree(t, clitest.Root(), func(p string, d fs.DirEntry) {
		switch {
		case d.IsDir():
		case strings.HasSuffix(p, "_test.go"):
			for _, match := range function.FindAllStringSubmatch(clitest.ReadFile(t, p), -1) {
				tests[match[1]] = true
			}
		case filepath.Ext(p) == ".txtar":
			tests[filepath.Base(p)] = true
		}
	})
	page, err := os.ReadFile(filepath.Join(clitest.Root(), "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(strings.ReplaceAll(string(page), "\r\n", "\n"), "\n## What no command does\n")
	if !ok {
		t.Fatal("the section is missing")
	}
	statements := 0
	for _, block := range regexp.MustCompile(`\n\n|\n(?:- |\| )`).Split(text, -1) {
		block = strings.TrimSpace(block)
		if block == "" || strings.HasPrefix(block, "#") || strings.HasSuffix(block, "|") {
			continue
		}
		statements++
		comment := regexp.MustCompile(`<!-- (.*) -->`).FindStringSubmatch(block)
		if comment == nil {
			t.Errorf("no test is named for %q", block)
			continue
		}
		for name := range strings.FieldsSeq(comment[1]) {
			if comment[1] != "a limit, not a promise" && !tests[name] {
				t.Errorf("%s does not exist; it is named for %q", name, block)
			}
		}
	}
	if statements < 15 {
		t.Errorf("only %d statements were found", statements)
	}
}
