package clitest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// EditFile replaces the first occurrence of old in a file of a project; the file must contain it.
func EditFile(t *testing.T, dir, name, old, text string) {
	t.Helper()
	Substitute(t, filepath.Join(dir, filepath.FromSlash(name)), old, text)
}

// Substitute replaces the first occurrence of old in a file, which must contain it.
func Substitute(t *testing.T, name, old, text string) {
	t.Helper()
	content := ReadFile(t, name)
	if !strings.Contains(content, old) {
		t.Fatalf("%s does not contain %q:\n%s", name, old, content)
	}
	WriteFile(t, name, strings.Replace(content, old, text, 1))
}

// AppendFile adds a text to the end of a file.
func AppendFile(t *testing.T, name, text string) {
	t.Helper()
	WriteFile(t, name, ReadFile(t, name)+text)
}

// ReadFile returns the content of a file.
func ReadFile(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// WriteFile writes a file with mode 0644.
func WriteFile(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
