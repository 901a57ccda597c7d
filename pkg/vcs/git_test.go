package vcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// newGit returns a Git in a new repository with a commit, and its directory.
func newGit(t *testing.T) (*Git, string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	home, dir := t.TempDir(), t.TempDir()
	environ := append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	g := &Git{Getenv: os.Getenv, Run: func(ctx context.Context, variables []string, name string, args ...string) (string, error) {
		c := exec.CommandContext(ctx, name, args...)
		var out, errOut bytes.Buffer
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(environ, variables...), &out, &errOut
		if err := c.Run(); errors.Is(err, exec.ErrNotFound) {
			return "", fs.ErrNotExist
		} else if err != nil {
			return "", fmt.Errorf("%w: %s", err, errOut.String())
		}
		return out.String(), nil
	}}
	must(t, g, "init", "--quiet", "--initial-branch", "main")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	must(t, g, "add", "--all")
	must(t, g, "commit", "--quiet", "--message", "Start")
	return g, dir
}

func must(t *testing.T, g *Git, args ...string) string {
	t.Helper()
	out, err := g.Output(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestGitSettings refuses settings of a repository that are not known to be harmless, wherever they are written.
func TestGitSettings(t *testing.T) {
	t.Parallel()
	g, dir := newGit(t)
	for _, test := range []struct {
		key, value string
		ok         bool
	}{
		{"remote.origin.url", "https://example.com/a.git", true},
		{"remote.origin.url", "git@github.com:a/b.git", true},
		{"remote.origin.url", "ssh://git@example.com:22/a.git", true},
		{"remote.origin.url", filepath.Join(t.TempDir(), "origin.git"), true},
		{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*", true},
		{"branch.main.remote", "origin", true},
		{"user.email", "a@example.com", true},
		{"core.autocrlf", "true", true},
		{"core.hooksPath", ".husky", true},
		{"http.https://github.com/.extraheader", "AUTHORIZATION: basic x", true},
		{"advice.detachedHead", "false", true},
		{"color.ui", "auto", true},

		{"remote.origin.url", "ext::sh -c evil", false},
		{"remote.origin.url", "./evil.git", false},
		{"remote.origin.url", "evil.git", false},
		{"remote.origin.url", "-oProxyCommand=evil:x", false},
		{"remote.origin.url", "ssh://-oProxyCommand=evil/x", false},
		{"remote.origin.url", filepath.Join(dir, "evil.git"), false},
		{"remote.origin.pushurl", "file://" + filepath.ToSlash(filepath.Join(dir, "evil.git")), false},
		{"remote.origin.receivepack", "evil", false},
		{"remote.origin.vcs", "evil", false},
		{"url.ext::evil.insteadOf", "https://", false},
		{"core.sshCommand", "evil", false},
		{"core.worktree", "/", false},
		{"core.editor", "evil", false},
		{"core.attributesFile", "x", false},
		{"credential.helper", "!evil", false},
		{"credential.https://example.com.helper", "!evil", false},
		{"filter.x.clean", "evil", false},
		{"filter.x.process", "evil", false},
		{"gpg.program", "evil", false},
		{"gpg.ssh.program", "evil", false},
		{"diff.external", "evil", false},
		{"diff.x.textconv", "evil", false},
		{"merge.x.driver", "evil", false},
		{"protocol.ext.allow", "always", false},
		{"alias.status", "!evil", false},
		{"lfs.customtransfer.x.path", "evil", false},
		{"includeIf.onbranch:x.path", "evil", false},
		{"unknown.key", "x", false},
	} {
		must(t, g, "config", "--local", test.key, test.value)
		if err := g.CheckSettings(t.Context()); (err == nil) != test.ok {
			t.Errorf("%s=%s: %v", test.key, test.value, err)
		}
		must(t, g, "config", "--local", "--unset", test.key)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "more"), []byte("[core]\n\tsshCommand = evil\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"include.path", "includeIf.gitdir:**.path"} {
		must(t, g, "config", "--local", key, "more")
		if err := g.CheckSettings(t.Context()); err == nil || !strings.Contains(err.Error(), "core.sshcommand in the git configuration of this clone") {
			t.Errorf("%s: %v", key, err)
		}
		must(t, g, "config", "--local", "--unset", key)
	}
	must(t, g, "config", "--global", "core.sshCommand", "mine")
	if err := g.CheckSettings(t.Context()); err != nil {
		t.Errorf("the user's own setting: %v", err)
	}
}

// TestGitRunsNothing runs commands in a repository with hooks, a file system monitor and a bare repository among its files, all of which
// would run a program.
func TestGitRunsNothing(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	g, dir := newGit(t)
	owned, evil := filepath.Join(t.TempDir(), "owned"), filepath.Join(dir, ".git", "evil")
	script := []byte("#!/bin/sh\necho \"$0\" >> " + owned + "\n")
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(evil, script)
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "post-checkout", "pre-push", "reference-transaction", "post-index-change"} {
		write(filepath.Join(dir, ".git", "hooks", hook), script)
	}
	origin := filepath.Join(t.TempDir(), "origin.git")
	must(t, g, "init", "--quiet", "--bare", origin)
	must(t, g, "config", "--local", "core.fsmonitor", evil)
	must(t, g, "config", "--local", "core.hooksPath", ".git/hooks")
	must(t, g, "config", "--local", "remote.origin.url", origin)
	if err := g.CheckSettings(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, g, "switch", "--quiet", "--create", "x")
	write(filepath.Join(dir, "a.txt"), []byte("b\n"))
	must(t, g, "status", "--porcelain")
	must(t, g, "add", "--all", "--", "a.txt")
	must(t, g, "commit", "--quiet", "--message", "Change")
	must(t, g, "push", "--quiet", "origin", "refs/heads/x")

	bare := filepath.Join(dir, "bare")
	must(t, g, "init", "--quiet", "--bare", bare)
	write(filepath.Join(bare, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "+evil+"\n"))
	if out, err := g.Output(t.Context(), "-C", bare, "status"); err == nil {
		t.Errorf("a bare repository of the clone was used: %s", out)
	}
	if text, err := os.ReadFile(owned); err == nil {
		t.Errorf("ran %s", text)
	}
}
