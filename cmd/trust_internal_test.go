package cmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

// A countingPrompter gives one answer to all questions.
type countingPrompter struct {
	Prompter
	answer bool
	asked  int
}

func (p *countingPrompter) Confirm(string, bool) (bool, error) {
	p.asked++
	return p.answer, nil
}

// TestConfirmCode expects one question per project at a terminal, one note without one, and neither with --yes, in CI and in projects of
// this user.
func TestConfirmCode(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	prompter := &countingPrompter{}
	var errOut bytes.Buffer
	confirm := func(root string, terminal, yes bool, environ ...string) error {
		a := newApp(&Env{
			FS: afero.NewOsFs(), Err: &errOut, Prompter: prompter, InTerminal: terminal, ErrTerminal: terminal, Environ: append(environ, "XDG_STATE_HOME="+home),
		}, "operon")
		return a.confirmCode(root, yes)
	}
	root, other, third := t.TempDir(), t.TempDir(), t.TempDir()
	if err := confirm(root, true, false); !errors.Is(err, errNotTrusted) || prompter.asked != 1 {
		t.Errorf("with the answer no: %v, %d questions", err, prompter.asked)
	}
	if err := confirm(root, true, false, "CI=true"); err != nil || prompter.asked != 1 {
		t.Errorf("in CI: %v, %d questions", err, prompter.asked)
	}
	prompter.answer = true
	for range 2 {
		if err := confirm(root, true, false); err != nil || prompter.asked != 2 {
			t.Errorf("with the answer yes: %v, %d questions", err, prompter.asked)
		}
	}
	for range 2 {
		if err := confirm(other, true, true); err != nil || prompter.asked != 2 {
			t.Errorf("with --yes: %v, %d questions", err, prompter.asked)
		}
	}
	for range 2 {
		if err := confirm(third, false, false); err != nil || strings.Count(errOut.String(), "note: this runs the code of this project") != 1 {
			t.Errorf("without a terminal: %v\n%s", err, errOut.String())
		}
	}
	// Another directory with the path of one that was confirmed, and one that was moved, are others.
	if err := errors.Join(os.RemoveAll(root), os.Rename(other, root)); err != nil {
		t.Fatal(err)
	}
	if err := confirm(root, true, false); err != nil || prompter.asked != 3 {
		t.Errorf("after a move: %v, %d questions", err, prompter.asked)
	}
	for name, asked := range map[string]int{".gitignore": 3, "README.md": 3, "hack/evil.go": 4} {
		dir := t.TempDir()
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte("package evil\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
		prompter.asked = 3
		env := &Env{FS: afero.NewOsFs(), Dir: dir, Out: &errOut, Err: &errOut, Environ: []string{"XDG_STATE_HOME=" + home}}
		if code := Main(context.Background(), env, []string{"operon", "init", "--domain", "example.com", "--repo", "example.com/x", "--project-name", "x"}); code != 0 {
			t.Fatal(errOut.String())
		}
		if err := confirm(dir, true, false); err != nil || prompter.asked != asked {
			t.Errorf("after init beside %s: %v, %d questions", name, err, prompter.asked)
		}
	}
}
