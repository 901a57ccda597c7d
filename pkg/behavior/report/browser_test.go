package report_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// browsers are the programs that TestBrowser looks for.
var browsers = []string{"chromium", "chromium-browser", "google-chrome"}

// TestBrowser renders the page 400 pixels wide, which must need no more width, and without errors. A frame, since a window can't be that
// narrow everywhere, reports the width; the page itself has no scripts.
func TestBrowser(t *testing.T) {
	t.Parallel()
	var browser string
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			browser = found
			break
		}
	}
	if browser == "" {
		t.Skipf("none of %s is in the PATH", strings.Join(browsers, ", "))
	}
	o := memcachedRun()
	page := write(t, o, o.Findings(), meta())
	dir := t.TempDir()
	for name, content := range map[string]string{
		"index.html": page,
		"frame.html": `<iframe src="index.html" style="width: 400px; height: 900px; border: 0" onload="
const page = this.contentDocument.documentElement
document.title = 'too wide by ' + (page.scrollWidth - page.clientWidth) + ', rows ' + page.querySelectorAll('.row').length"></iframe>`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var log strings.Builder
	command := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", "file://"+filepath.Join(dir, "frame.html"))
	command.Stderr = &log
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v:\n%s", err, log.String())
	}
	if messages := regexp.MustCompile(`.*CONSOLE.*`).FindAllString(log.String(), -1); len(messages) > 0 {
		t.Errorf("the console says %q", messages)
	}
	if !strings.Contains(string(out), "<title>too wide by 0, rows 9</title>") {
		t.Errorf("the page doesn't fit into 400 pixels:\n%s", out)
	}
}
