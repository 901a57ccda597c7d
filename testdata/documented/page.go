// Package documented reads the pages in docs, for tests that do what they say.
package documented

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Page returns the text of a page, such as helm.md.
func Page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// root returns the directory of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the directory of the test", err)
	return ""
}

var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// Example returns the first example in YAML on a page that has a prefix and contains a text.
func Example(t *testing.T, page, prefix, contains string) string {
	t.Helper()
	for _, match := range block.FindAllStringSubmatch(Page(t, page), -1) {
		if strings.HasPrefix(match[1], prefix) && strings.Contains(match[1], contains) {
			return match[1]
		}
	}
	t.Fatalf("docs/%s has no example with %q", page, contains)
	return ""
}

// Annotation returns the patch of what the command on a page does that sets or removes an annotation: its text contains "KEY=" or "KEY-".
// The value replaces the command's, unless it is empty.
func Annotation(t *testing.T, page, annotation, value string) (patch string) {
	t.Helper()
	command := regexp.MustCompile(`(?m)^\$ kubectl annotate (?:--overwrite )?\S+ ([a-z.]+/)` + annotation + `(\S*)?(?:"\$\(date \+%s\)")?$`)
	match := command.FindStringSubmatch(Page(t, page))
	if match == nil {
		t.Fatalf("docs/%s has no command for %s", page, annotation)
	}
	key, remove := strings.CutSuffix(strings.TrimSuffix(annotation, "="), "-")
	if value == "" {
		value = match[2]
	}
	value = fmt.Sprintf("%q", value)
	if remove {
		value = "null"
	}
	return fmt.Sprintf("metadata: {annotations: {%s%s: %s}}", match[1], key, value)
}
