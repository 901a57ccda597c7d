//go:build unix

package upgrade

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// A gitProject is a project of operator-sdk in a repository with an origin, and a gh that records its arguments.
type gitProject struct {
	t         *testing.T
	dir, temp string
	env       []string
}

func newGitProject(t *testing.T) *gitProject {
	t.Helper()
	program := clitest.BuildPeer(t, "peers/operator-sdk-1.42", "sigs.k8s.io/kubebuilder/v4")
	p := &gitProject{t: t, temp: t.TempDir()}
	p.dir = filepath.Join(p.temp, "project")
	bin := filepath.Join(p.temp, "bin")
	for _, name := range []string{p.dir, bin} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	clitest.RunPeer(t, program, p.dir, strings.Fields("init --domain example.com --repo example.com/walk --project-name walk --fetch-deps=false --skip-go-version-check")...)
	gh := "#!/bin/sh\necho \"$@\" >> " + p.temp + "/gh.txt\ncase \"$1\" in repo) echo https://github.com/example/project;; issue) echo https://github.com/example/project/issues/7;; esac\n"
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o755); err != nil {
		t.Fatal(err)
	}
	p.env = []string{
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + p.temp, "XDG_CONFIG_HOME=" + p.temp, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	p.git("init", "--quiet", "--initial-branch", "main")
	p.git("init", "--quiet", "--bare", filepath.Join(p.temp, "origin"))
	p.git("remote", "add", "origin", filepath.Join(p.temp, "origin"))
	p.commit()
	return p
}

// git runs git and returns its output.
func (p *gitProject) git(args ...string) string {
	p.t.Helper()
	c := exec.Command("git", args...)
	c.Dir, c.Env = p.dir, append(os.Environ(), p.env...)
	out, err := c.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *gitProject) commit() {
	p.t.Helper()
	p.git("add", "--all")
	p.git("commit", "--quiet", "--message", "Edit")
}

// update runs alpha update and checks the exit code and parts of its output.
func (p *gitProject) update(code int, parts []string, args ...string) {
	p.t.Helper()
	got, out, errOut := clitest.RunWith(p.t, p.dir, "", p.env, append([]string{"alpha", "update"}, args...)...)
	if got != code {
		p.t.Errorf("alpha update %q: exit code %d, want %d\n%s%s", args, got, code, out, errOut)
	}
	clitest.CheckContains(p.t, out+errOut, parts...)
}

// is checks what is checked out, and that nothing is changed.
func (p *gitProject) is(branch string) {
	p.t.Helper()
	if got, status := p.git("branch", "--show-current"), p.git("status", "--porcelain"); got != branch || status != "" {
		p.t.Errorf("on branch %q, want %q; changes:\n%s", got, branch, status)
	}
}

// TestAlphaUpdate upgrades a project of operator-sdk on a branch, which is pushed and has an issue.
func TestAlphaUpdate(t *testing.T) {
	t.Parallel()
	p := newGitProject(t)
	p.update(2, []string{
		`--show-commits "true": is not supported: there is one commit`, `--git-config "a=b": is not supported`, `--use-gh-models "true": is not supported`,
	}, "--show-commits", "--use-gh-models", "--git-config", "a=b")
	p.update(2, []string{`--from-version "v9.9.9": unknown release`, `--to-version "v4.16.0": must be this binary's version`}, "--from-version", "v9.9.9", "--to-version", "v4.16.0")
	p.update(2, []string{
		`--from-branch "nope": there is no such branch`, `--output-branch "main": the branch exists already`,
		`--restore-path "../x": must be relative`, `--open-gh-issue "true": requires --push`,
	}, "--from-branch", "nope", "--output-branch", "main", "--restore-path", "../x", "--open-gh-issue")
	p.update(2, []string{`--output-branch "-x": is not a valid name`}, "--output-branch", "-x")
	p.update(2, []string{`--from-branch "main": is not supported with --dry-run`}, "--from-branch", "main", "--dry-run")
	p.update(0, []string{"diff --git a/Makefile b/Makefile"}, "--dry-run")
	clitest.WriteFile(t, filepath.Join(p.dir, "new.txt"), "")
	p.update(1, []string{"there are changes that are not committed:\n    ?? new.txt\n"})
	p.update(1, []string{
		`"file": "new.txt",` + "\n      " + `"message": "is not committed"`, `"commit or stash them, or use 'operon upgrade', which needs no clean work tree"`,
	}, "-o", "json")
	if err := os.Remove(filepath.Join(p.dir, "new.txt")); err != nil {
		t.Fatal(err)
	}
	p.is("main")

	p.git("switch", "--quiet", "--create", "other")
	clitest.WriteFile(t, filepath.Join(p.dir, "other.txt"), "")
	p.commit()
	p.update(0, []string{
		"updated  Makefile\n", "restored (--restore-path): .github/workflows/lint.yml", "committed on the branch up", "pushed to origin",
		"next: review https://github.com/example/project/issues/7",
	}, "--from-version", "v4.6.0", "--from-branch", "main", "--output-branch", "up", "--restore-path", ".github/workflows/", "--push", "--open-gh-issue", "--merge-message", "Mine")
	p.is("up")
	if got := p.git("log", "--format=%s", "origin/up"); got != "Mine\nEdit" {
		t.Errorf("commits %q", got)
	}
	changed := p.git("diff", "--name-only", "main", "origin/up")
	if !strings.Contains(changed, "Makefile") || strings.Contains(changed, ".github/workflows") || strings.Contains(changed, "other.txt") {
		t.Errorf("changed %s", changed)
	}
	clitest.CheckContains(t, clitest.ReadFile(t, filepath.Join(p.temp, "gh.txt")), "auth status\n", "repo view --json url --jq .url\n",
		"issue create --title Upgrade the scaffold to Operon v", "https://github.com/example/project/compare/main...up?expand=1")

	// The second time there is nothing to do, but for what is restored.
	p.update(0, []string{"the project is up to date, nothing was committed"}, "--restore-path", ".github")
	p.is("up")
	if got := p.git("branch", "--format=%(refname:short)"); got != "main\nother\nup" {
		t.Errorf("branches %q", got)
	}
}

// TestAlphaUpdateConflict leaves a conflict staged on the branch, or commits it.
func TestAlphaUpdateConflict(t *testing.T) {
	t.Parallel()
	p := newGitProject(t)
	from := clitest.ReadFile(t, filepath.Join(p.dir, "Dockerfile"))
	line, _, _ := strings.Cut(from[strings.Index(from, "FROM golang:"):], "\n")
	image, stage, _ := strings.Cut(line, " AS ")
	clitest.EditFile(t, p.dir, "Dockerfile", line, image+"@sha256:"+strings.Repeat("0", 64)+" AS "+stage)
	p.commit()
	p.update(1, []string{"error: there are conflicts", "Dockerfile", "the changes are staged on the branch one; when they are complete, 'git commit' them there"}, "--output-branch", "one")
	if got := p.git("diff", "--cached", "--name-only"); p.git("branch", "--show-current") != "one" || !strings.Contains(got, "Dockerfile") {
		t.Errorf("staged %s", got)
	}
	p.update(1, []string{"there are changes that are not committed"}, "--output-branch", "two")
	p.git("reset", "--hard", "--quiet")
	p.git("switch", "--quiet", "--detach", "main")
	p.update(0, []string{"there are conflicts", "committed on the branch two", "next: review the branch two, and push it"}, "--output-branch", "two", "--force")
	p.is("two")
	if got := p.git("log", "-1", "--format=%s"); !strings.HasSuffix(got, ", with conflicts") {
		t.Errorf("commit %q", got)
	}
	if !conflict.MatchString(clitest.ReadFile(t, filepath.Join(p.dir, "Dockerfile"))) {
		t.Error("no conflict is marked")
	}
}

// TestAlphaUpdateClone refuses a clone whose configuration could make git run programs, and runs nothing of it.
func TestAlphaUpdateClone(t *testing.T) {
	t.Parallel()
	p := newGitProject(t)
	owned := filepath.Join(p.temp, "owned")
	evil := filepath.Join(p.temp, "evil")
	script := "#!/bin/sh\necho \"$0\" >> " + owned + "\ncat\n"
	for _, name := range []string{evil, filepath.Join(p.dir, ".git/hooks/pre-commit"), filepath.Join(p.dir, ".git/hooks/post-checkout"), filepath.Join(p.dir, ".git/hooks/pre-push")} {
		if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	clitest.WriteFile(t, filepath.Join(p.dir, ".git/info/attributes"), "* filter=evil\n")
	p.git("config", "core.fsmonitor", evil)
	for _, key := range []string{"filter.evil.clean", "filter.evil.smudge", "credential.helper", "core.sshCommand", "remote.origin.receivepack"} {
		p.git("config", key, evil)
		_ = os.Remove(owned) // git config itself may ask the monitor
		p.update(1, []string{"in the git configuration of this clone can make git run programs or use other files; remove it with 'git config --unset'"}, "--push")
		p.git("config", "--unset", key)
	}
	_ = os.Remove(owned)
	p.update(0, []string{"pushed to origin"}, "--push")
	if text, err := os.ReadFile(owned); err == nil {
		t.Errorf("ran %s", text)
	}
	if outside, _, errOut := clitest.RunWith(t, clitest.NewProject(t, "init --domain example.com --repo example.com/x"), "", append(p.env, "GIT_CEILING_DIRECTORIES=/"), "alpha", "update"); outside != 1 ||
		!strings.Contains(errOut, "the project is not in a git repository; use 'operon upgrade', which needs none") {
		t.Errorf("without git: exit code %d, %s", outside, errOut)
	}
}

// TestUncommittedFiles has changes in a project below the top of its work tree: a renamed file, one with a space, and one outside.
func TestUncommittedFiles(t *testing.T) {
	t.Parallel()
	p := &gitProject{t: t, dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.dir, "ops"), 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(p.dir, "ops", "PROJECT"), "layout:\n- go.kubebuilder.io/v4\nprojectName: p\nrepo: example.com/p\nversion: \"3\"\n")
	clitest.WriteFile(t, filepath.Join(p.dir, "ops", "new.txt"), "new\n")
	p.git("init", "--quiet")
	p.git("add", "--all")
	p.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "x")
	p.git("mv", "ops/new.txt", "ops/newer.txt")
	clitest.WriteFile(t, filepath.Join(p.dir, "ops", "my file"), "")
	clitest.WriteFile(t, filepath.Join(p.dir, "top.txt"), "")
	code, out, errOut := clitest.RunWith(t, filepath.Join(p.dir, "ops"), "", nil, "alpha", "update", "-o", "json")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	for _, name := range []string{"newer.txt", "../top.txt", "my file"} {
		clitest.CheckContains(t, out, `"file": "`+name+`",`+"\n      \"message\": \"is not committed\"")
	}
	clitest.CheckContains(t, errOut, "not committed:\n    R  ops/new.txt -> ops/newer.txt\n    ?? \"ops/my file\"\n    ?? top.txt\n  commit or stash them")
}
