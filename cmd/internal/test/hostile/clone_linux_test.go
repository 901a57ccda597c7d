package hostile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// byNature are the commands that run code of the project, install programs or build for minutes by their nature.
var byNature = []string{"image build", "run local", "tool setup-envtest", "ansible-operator", "helm-operator"}

// cloneArguments are the arguments of commands that do nothing without.
var cloneArguments = map[string][]string{
	"alpha generate":               {"--output-dir", "again"},
	"bundle validate":              {"./bundle"},
	"catalog graph":                {"./catalog"},
	"catalog validate":             {"./catalog"},
	"chart images":                 {"charts/app"},
	"create api":                   {"--group", "cache", "--version", "v1", "--kind", "Second", "--resource", "--controller"},
	"create webhook":               {"--group", "cache", "--version", "v1alpha1", "--kind", "Memcached", "--defaulting"},
	"delete api":                   {"--group", "cache", "--version", "v1alpha1", "--kind", "Memcached"},
	"delete webhook":               {"--group", "cache", "--version", "v1alpha1", "--kind", "Memcached"},
	"edit":                         {"--multigroup"},
	"generate catalog":             {"--output-dir", "catalog"},
	"generate kustomize manifests": {"--interactive=false"},
	"generate packagemanifests":    {"--version", "1.0.0"},
	"init":                         {"--domain", "example.com"},
	"pkgman-to-bundle":             {"packagemanifests"},
	"rename api":                   {"--group", "cache", "--version", "v1alpha1", "--kind", "Memcached", "--to-kind", "Cache"},
	"rename project":               {"other"},
	"rename repo":                  {"example.com/other"},
	"tool controller-gen":          {"crd", "paths=./..."},
	"tool kubectl":                 {"get", "pods"},
	"tool kustomize":               {"build", "config/default"},
}

// dryRuns are further command lines, which promise to write nothing, and completions.
var dryRuns = [][]string{
	{"bundle", "--check"}, {"bundle", "--dry-run"}, {"generate", "--check"}, {"generate", "--dry-run"}, {"upgrade", "--check"}, {"upgrade", "--dry-run"},
	{"upgrade", "--diff", "Makefile"}, {"bundle", "--version", "1.0.0"}, {"tool", "kustomize", "build", "--offline", "config/default"},
	{"__complete", "tool", "kubectl", "get", ""}, {"__complete", "delete", "api", "--kind", ""}, {"__complete", "bundle", ""},
}

// TestClone runs the commands of the CLI, also their completion, in a clone that contains all known attacks at once: records of
// transactions, a kubeconfig with a program, remote resources with options for git, output directories in .git, and links. No
// command starts a program but go, connects anywhere, or changes a file outside of the project, the caches and the state directory.
func TestClone(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs all commands")
	pages, err := os.ReadDir(filepath.Join("..", "..", "..", "..", "docs", "reference"))
	if err != nil {
		t.Fatal(err)
	}
	var commands [][]string
	for _, page := range pages {
		name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSuffix(page.Name(), ".md"), "operon"), "_", " ")
		name = strings.TrimSpace(name)
		if !slices.Contains(byNature, name) {
			commands = append(commands, append(strings.Fields(name), cloneArguments[name]...))
		}
	}
	if len(commands) < 50 {
		t.Fatalf("only %d commands", len(commands))
	}
	for _, args := range append(commands, dryRuns...) {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			server := newTrap(t)
			c := newClone(t, server.URL)
			out := c.run(args...)
			if seen := server.connections(); len(seen) > 0 {
				t.Errorf("connected: %q\n%s", seen, out)
			}
			c.check(out)
		})
	}
}

// A trap is a server that records who connects.
type trap struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newTrap(t *testing.T) *trap {
	server := &trap{}
	server.Server = httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			server.mu.Lock()
			defer server.mu.Unlock()
			server.seen = append(server.seen, c.RemoteAddr().String())
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func (s *trap) connections() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// A clone is a hostile project of a user with a home directory.
type clone struct {
	t                  *testing.T
	base, root, home   string
	owned, programs    string
	repository, around string
}

// newClone writes the project and the programs that must not run.
func newClone(t *testing.T, url string) *clone {
	t.Helper()
	root := clitest.CopyGolden(t, "memcached-operator")
	base := filepath.Dir(root)
	c := &clone{t: t, base: base, root: root, home: filepath.Join(t.TempDir(), "home"), owned: filepath.Join(base, "owned"), programs: filepath.Join(t.TempDir(), "programs")}
	script := "#!/bin/sh\necho \"$0 $*\" >> " + c.owned + "\n"
	for _, name := range []string{"git", "ssh", "sh", "curl", "make", "kubectl", "evil"} {
		clitest.WriteFiles(t, c.programs, map[string]string{name: script})
		if err := os.Chmod(filepath.Join(c.programs, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(c.home, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string) { clitest.WriteFiles(t, root, map[string]string{name: content}) }
	write(".git/config", "[core]\n\trepositoryformatversion = 0\n")
	write(".git/hooks/sample", "")
	old := fmt.Sprintf("%x", sha256.Sum256([]byte(script)))
	operations := `"operations":[{"path":".git/hooks/post-commit","old":"` + old + `","new":"` + strings.Repeat("a", 64) + `"}]`
	for _, dir := range []string{".operon/txn", ".operon/txn/" + strings.Repeat("0", 32)} {
		write(dir+"/old/0", script)
		if err := os.Chmod(filepath.Join(root, dir, "old", "0"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(".operon/txn/journal.json", `{"version":1,"command":"operon generate",`+operations+`}`)
	write(".operon/journal.json", `{"version":2,"command":"operon generate","id":"`+strings.Repeat("0", 32)+`",`+operations+`}`)
	write(".operon/done.json", `{"version":1,"command":"operon generate","operations":[{"path":"/a","old":"`+old+`"}]}`)
	write(".operon/lock", "\x00{\"command\":\"\\u001b[2Jowned\",\"pid\":1}")
	write(".operon/kubeconfig", "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n"+
		"clusters: [{name: a, cluster: {server: '"+url+"'}}]\n"+
		"users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: "+filepath.Join(c.programs, "evil")+", interactiveMode: Never}}}]\n")
	write(".operon/config.yaml", "generate:\n  calls:\n  - args: crd paths=./... output:crd:dir=.git/hooks\n  - args: object paths=./...\n")
	clitest.EditFile(t, root, "config/default/kustomization.yaml", "resources:\n",
		"resources:\n- file:///n.git//x?ref=--upload-pack=touch%20"+c.owned+"\n- "+url+"/a.yaml\n")
	for link, target := range map[string]string{"config/crd/out": "../../../outside", "hack/hooks": "../.git/hooks"} {
		if err := os.Symlink(target, filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	c.repository, c.around = c.photo(filepath.Join(root, ".git")), c.photo(filepath.Join(base, "outside"))
	return c
}

// photo returns the files of a directory as text.
func (c *clone) photo(dir string) string {
	if _, err := os.Stat(dir); err != nil {
		return "missing"
	}
	return fmt.Sprint(clitest.ReadTree(c.t, dir))
}

// run runs a command and returns its output. Any exit code is right.
func (c *clone) run(args ...string) string {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer cancel()
	goProgram, err := exec.LookPath("go")
	if err != nil {
		c.t.Fatal(err)
	}
	command := exec.CommandContext(ctx, os.Args[0], args...)
	command.Dir = c.root
	command.Env = []string{
		"PATH=" + c.programs + string(filepath.ListSeparator) + filepath.Dir(goProgram), "HOME=" + c.home, clitest.KillVariable + "=0", "TMPDIR=" + c.t.TempDir(),
		"GOCACHE=" + clitest.GoEnv(c.t, "GOCACHE"), "GOMODCACHE=" + clitest.GoEnv(c.t, "GOMODCACHE"), "GOPROXY=off", "GOFLAGS=" + clitest.BuildFlags, "CGO_ENABLED=0",
	}
	out, err := command.CombinedOutput()
	if ctx.Err() != nil {
		c.t.Errorf("still running after %v", ctx.Err())
	}
	if strings.Contains(string(out), "\x1b") {
		c.t.Errorf("%v, with an escape sequence:\n%q", err, out)
	}
	return string(out)
}

// check fails the test if an attack succeeded.
func (c *clone) check(out string) {
	c.t.Helper()
	if data, err := os.ReadFile(c.owned); err == nil {
		c.t.Errorf("programs were run:\n%s%s", data, out)
	}
	if got := c.photo(filepath.Join(c.root, ".git")); got != c.repository {
		c.t.Errorf(".git changed to\n%s\n%s", got, out)
	}
	if got := c.photo(filepath.Join(c.base, "outside")); got != c.around {
		c.t.Errorf("files outside of the project changed to\n%s\n%s", got, out)
	}
	entries, err := os.ReadDir(c.home)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, entry := range entries {
		if !slices.Contains([]string{".cache", ".config", ".local"}, entry.Name()) {
			c.t.Errorf("%s is in the home directory\n%s", entry.Name(), out)
		}
	}
}
