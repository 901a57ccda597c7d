package clitest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// maxDiff bounds the length of a diff in a failure message, in bytes.
const maxDiff = 8 << 10

// DiffLines returns a unified diff of two texts, truncated after 8 KiB. It is empty if the texts are equal.
func DiffLines(want, got string) string {
	text := string(diff.Diff("want", []byte(want), "got", []byte(got)))
	if len(text) > maxDiff {
		text = fmt.Sprintf("%s\n... and %d more bytes of the diff\n", text[:maxDiff], len(text)-maxDiff)
	}
	return text
}

// Diff returns the elements that only one of two lists contains, one per line.
func Diff(before, after []string) string {
	var text strings.Builder
	for _, name := range before {
		if !slices.Contains(after, name) {
			text.WriteString("- " + name + "\n")
		}
	}
	for _, name := range after {
		if !slices.Contains(before, name) {
			text.WriteString("+ " + name + "\n")
		}
	}
	return text.String()
}

// CheckContains checks that text contains all parts.
func CheckContains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("output lacks %q:\n%s", part, text)
		}
	}
}
