package docsite

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBrowser opens a page from disk in a browser, and searches from a page in a subdirectory.
func TestBrowser(t *testing.T) {
	t.Parallel()
	var browser string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			browser = found
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium found")
	}
	dir := t.TempDir()
	for name, data := range generate(t) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"),
		"--virtual-time-budget=10000", "--dump-dom", "file://"+filepath.ToSlash(dir)+"/reference/operon_init.html?q=immutable+oldself")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<a href="../cel.html#transition-rules"><b>Transition rules</b>`, // the search found it, and added no script from elsewhere
		`<button class="copy" type="button">Copy</button>`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the page does not contain %s:\n%s", want, out)
		}
	}
}
