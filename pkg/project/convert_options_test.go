package project

import (
	"strings"
	"testing"
)

// TestMoveToV4Options checks that PROJECT no longer records a file with the manager's options: readers of
// today refuse the key.
func TestMoveToV4Options(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte("componentConfig: true\ndomain: example.com\nlayout:\n- go.kubebuilder.io/v3\nprojectName: mine\nrepo: example.com/mine\nversion: \"3\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.MoveToV4(); err != nil {
		t.Fatal(err)
	}
	if text := string(c.Bytes()); strings.Contains(text, "componentConfig") || !strings.Contains(text, "- go.kubebuilder.io/v4\n") {
		t.Errorf("got\n%s", text)
	}
}
