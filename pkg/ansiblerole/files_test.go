package ansiblerole

import (
	"strings"
	"testing"
)

// TestLargeFiles checks that a task file that is too large, with or without its content, is reported, and not one that nothing refers to.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	for _, content := range [][]byte{nil, make([]byte, MaxFileSize+1)} {
		files := Files{"roles/app/tasks/main.yml": content, "roles/app/files/app.tar.gz": nil}
		_, notes := Rules(files, []API{{Group: "example.com", Version: "v1", Kind: "App", Plural: "apps", Watch: Watch{Role: "app"}}})
		if len(notes) != 1 || !strings.Contains(notes[0].Error(), "roles/app/tasks/main.yml: the file is too large") {
			t.Errorf("%d bytes: the notes are %v", len(content), notes)
		}
	}
}
