package report_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/behavior/report"
)

// TestWriteDir writes pages to directories that exist and that don't, and over its own pages only.
func TestWriteDir(t *testing.T) {
	t.Parallel()
	page := func(w io.Writer) error { return report.Write(w, memcachedRun(), nil, meta()) }
	dir := t.TempDir()
	name := filepath.Join(dir, "a", "b", report.FileName)
	for range 2 {
		if err := report.WriteDir(afero.NewOsFs(), filepath.Dir(name), page); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	broken := func(w io.Writer) error {
		_, err := io.WriteString(w, "x")
		return errors.Join(err, errors.New("full disk"))
	}
	if err := report.WriteDir(afero.NewOsFs(), filepath.Dir(name), broken); err == nil || err.Error() != "full disk" {
		t.Errorf("got %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil || len(entries) != 1 {
		t.Errorf("the directory contains %v (%v), want only the page", entries, err)
	}
	if after, err := os.ReadFile(name); err != nil || string(after) != string(before) {
		t.Errorf("the failed write changed the page (%v)", err)
	}

	file := filepath.Join(dir, "file")
	foreign := filepath.Join(dir, "foreign")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(foreign, 0o700), os.WriteFile(filepath.Join(foreign, report.FileName), []byte("<html>"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{file: "is not a directory", foreign: "refusing to overwrite index.html"} {
		if err := report.WriteDir(afero.NewOsFs(), dir, page); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", dir, err, want)
		}
	}
	if content, err := os.ReadFile(filepath.Join(foreign, report.FileName)); err != nil || string(content) != "<html>" {
		t.Errorf("the page of others was overwritten (%v)", err)
	}
}
