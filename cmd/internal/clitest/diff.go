package clitest

import (
	"slices"
	"strings"
	"testing"
)

// DiffLines returns the lines that only one of two texts has, and is empty if the texts are equal.
func DiffLines(want, got string) string {
	text := Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))
	if text == "" && want != got {
		return "the order of lines differs:\n" + got
	}
	return text
}

// Diff returns the elements that only one of two lists has, one per line.
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
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
}
