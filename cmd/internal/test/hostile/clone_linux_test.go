package hostile

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// byNature are the commands that run code of the project, install programs or build for minutes by their nature, and alpha update, which
// runs git; see TestAlphaUpdateClone.
var byNature = []string{"alpha update", "image build", "render", "run local", "test", "test behavior", "tool setup-envtest", "ansible-operator", "helm-operator"}

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
	"scorecard":                    {"./bundle", "--list"},
	"tool controller-gen":          {"crd", "paths=./..."},
	"tool kubectl":                 {"get", "pods"},
	"tool kustomize":               {"build", "config/default"},
}

// dryRuns are further command lines, which promise to write nothing, and completions.
var dryRuns = [][]string{
	{"bundle", "--check"}, {"bundle", "--dry-run"}, {"generate", "--check"}, {"generate", "--dry-run"}, {"upgrade", "--check"}, {"upgrade", "--dry-run"},
	{"upgrade", "--diff", "Makefile"}, {"bundle", "--version", "1.0.0"}, {"tool", "kustomize", "build", "--offline", "config/default"},
	{"test", "--", "-mod=none"}, // lists the packages, and go test refuses the flag
	{"__complete", "tool", "kubectl", "get", ""}, {"__complete", "delete", "api", "--kind", ""}, {"__complete", "bundle", ""},
}

// cloneCommands returns the command lines that the tests run in a hostile clone: every command of the CLI except the ones in byNature, and
// dryRuns.
func cloneCommands(t *testing.T) [][]string {
	t.Helper()
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
	return append(commands, dryRuns...)
}

// TestClone runs the commands of the CLI, also their completion, under a tracer in a clone that contains all known attacks at once; see
// testdata/hostile/clones/clone.txtar. The only programs that a command starts are go and Operon's own guards. It connects nowhere, and
// changes no file in .git, or outside of the project, the caches and the state directory.
func TestClone(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs all commands")
	for _, args := range cloneCommands(t) {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			c := newClone(t, "clone")
			for link, target := range map[string]string{"config/crd/out": "../../../outside", "hack/hooks": "../.git/hooks"} {
				if err := os.Symlink(target, filepath.Join(c.root, filepath.FromSlash(link))); err != nil {
					t.Fatal(err)
				}
			}
			for _, dir := range []string{".operon/txn", ".operon/txn/" + strings.Repeat("0", 32)} {
				clitest.WriteFiles(t, c.root, map[string]string{dir + "/old/0": c.script})
				if err := os.Chmod(filepath.Join(c.root, dir, "old", "0"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			c.run(args...)
		})
	}
}

// TestForeignText runs the commands in a clone whose texts act on terminals and on jobs of GitHub Actions; see
// output.txtar and broken.txtar in testdata/hostile/clones. Operon passes none of it on, except in YAML, which must be exact.
func TestForeignText(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it runs all commands")
	for _, args := range cloneCommands(t) {
		for project, actions := range map[string]string{"output": "true", "broken": ""} {
			t.Run(strings.Join(append(args, project, actions), " "), func(t *testing.T) {
				t.Parallel()
				c := newClone(t, project)
				c.environ = []string{"GITHUB_ACTIONS=" + actions}
				out := c.run(args...)
				if isTool(args) {
					return
				}
				for line := range strings.Lines(out) {
					line = strings.TrimSuffix(line, "\n")
					if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) }) {
						t.Errorf("control characters in the line %q", line)
					}
					if strings.HasPrefix(line, "::") && actions == "" || actions != "" && isCommand(line) {
						t.Errorf("a command for GitHub Actions in the line %q", line)
					}
				}
			})
		}
	}
}

// isCommand reports whether a job of GitHub Actions takes a line, or a part of it, for a command, other than Operon's own annotations.
func isCommand(line string) bool {
	if strings.HasPrefix(line, "::error") || strings.HasPrefix(line, "::warning") {
		return false
	}
	return strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[")
}

// TestTracer lets commands do what TestClone denies, and expects the tracer to report it: a program, connections, and files in other
// directories.
func TestTracer(t *testing.T) {
	t.Parallel()
	c := newClone(t, "")
	c.environ = []string{"OPERON_ALLOW_REMOTE_RESOURCES=true"}
	clitest.WriteFiles(t, c.root, map[string]string{
		"git/kustomization.yaml": "resources:\n- https://127.0.0.1:1/x.git//y?ref=main\n",
		"get/kustomization.yaml": "resources:\n- https://127.0.0.1:1/x.yaml\n",
	})
	did, out := c.trace("tool", "kustomize", "build", "git")
	if !slices.ContainsFunc(did.programs, func(p program) bool { return filepath.Base(p.args[0]) == "git" }) {
		t.Errorf("git was not seen among %v\n%s", did.programs, out)
	}
	if did, out = c.trace("tool", "kustomize", "build", "get"); !slices.Contains(did.connections, "127.0.0.1:1") {
		t.Errorf("no connection was seen: %q\n%s", did.connections, out)
	}
	other := filepath.Join(c.base, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	did, out = c.trace("init", "--directory", other, "--domain", "example.com", "--repo", "example.com/other")
	if !slices.Contains(did.changes, filepath.Join(other, "PROJECT")) || did.exitCode != 0 {
		t.Errorf("exit code %d, and the file was not seen among %q\n%s", did.exitCode, did.changes, out)
	}
}

// A clone is a hostile project of a user with a home directory.
type clone struct {
	t                  *testing.T
	base, root, home   string
	owned, programs    string
	temp               string
	script, repository string
	// environ are further environment variables.
	environ []string
	// tools are directories whose programs may run, in addition to the Go distribution's.
	tools []string
}

// newClone writes the project of testdata/hostile/clones/NAME.txtar, or the golden project without a name, and the programs that must not
// run.
func newClone(t *testing.T, name string) *clone {
	t.Helper()
	root := clitest.CopyGolden(t, "memcached-operator")
	base := filepath.Dir(root)
	c := &clone{t: t, base: base, root: root, home: filepath.Join(t.TempDir(), "home"), owned: filepath.Join(base, "owned"), programs: filepath.Join(t.TempDir(), "programs"), temp: t.TempDir()}
	c.script = "#!/bin/sh\necho \"$0 $*\" >> " + c.owned + "\n"
	for _, name := range []string{"git", "ssh", "sh", "curl", "helm", "make", "kubectl", "evil"} {
		clitest.WriteFiles(t, c.programs, map[string]string{name: c.script})
		if err := os.Chmod(filepath.Join(c.programs, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(c.home, 0o755); err != nil {
		t.Fatal(err)
	}
	archive := &txtar.Archive{}
	if name != "" {
		var err error
		if archive, err = txtar.ParseFile(clitest.Testdata("hostile", "clones", name+".txtar")); err != nil {
			t.Fatal(err)
		}
	}
	fill := strings.NewReplacer("EVIL", filepath.Join(c.programs, "evil"), "OWNED", c.owned, "HASH", fmt.Sprintf("%x", sha256.Sum256([]byte(c.script))),
		"URL", "https://127.0.0.1:1", "<ESC>", "\x1b", "<RLO>", "\u202e", "<LF>", "\n")
	for _, file := range archive.Files {
		text := string(file.Data)
		if filepath.Ext(file.Name) != ".go" {
			text = strings.ReplaceAll(text, "<ESC>", `\e`)
			text = strings.ReplaceAll(text, "<LF>", `\n`)
		}
		clitest.WriteFiles(t, root, map[string]string{fill.Replace(file.Name): fill.Replace(text)})
	}
	c.repository = c.photo(filepath.Join(root, ".git"))
	return c
}

// photo returns the files of a directory as text.
func (c *clone) photo(dir string) string {
	if _, err := os.Stat(dir); err != nil {
		return "missing"
	}
	return fmt.Sprint(clitest.ReadTree(c.t, dir))
}

// run runs a command, checks what it did, and returns its output. Any exit code is right.
func (c *clone) run(args ...string) string {
	c.t.Helper()
	did, out := c.trace(args...)
	if strings.Contains(out, "\x1b") && !isTool(args) {
		c.t.Errorf("an escape sequence in\n%q", out)
	}
	c.check(did, out)
	return out
}

// trace runs a command, and returns what it did and its output.
func (c *clone) trace(args ...string) (trace, string) {
	c.t.Helper()
	goProgram, err := exec.LookPath("go")
	if err != nil {
		c.t.Fatal(err)
	}
	output, err := os.Create(filepath.Join(c.t.TempDir(), "output"))
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	goCache, goModules := clitest.GoEnv(c.t, "GOCACHE"), clitest.GoEnv(c.t, "GOMODCACHE")
	environ := []string{
		"PATH=" + c.programs + string(filepath.ListSeparator) + filepath.Dir(goProgram), "HOME=" + c.home, clitest.KillVariable + "=0", "TMPDIR=" + c.temp,
		"GOCACHE=" + goCache, "GOMODCACHE=" + goModules, "GOPROXY=off", "GOFLAGS=" + clitest.BuildFlags, "CGO_ENABLED=0",
	}
	did := runTraced(c.t, c.root, append(environ, c.environ...), output, 5*time.Minute, args...)
	out := clitest.ReadFile(c.t, output.Name())
	if did.exitCode < 0 {
		c.t.Errorf("it was killed after 5 minutes\n%s", out)
	}
	return did, out
}

// check fails the test if an attack succeeded.
func (c *clone) check(did trace, out string) {
	c.t.Helper()
	goRoot := clitest.GoEnv(c.t, "GOROOT")
	writable := []string{c.root, c.home, c.temp, clitest.GoEnv(c.t, "GOCACHE"), clitest.GoEnv(c.t, "GOMODCACHE"), os.DevNull}
	for i, program := range did.programs {
		if i > 0 && !isBelow(program.path, append(c.tools, goRoot)) && !program.isGuard() { // the first one is Operon
			c.t.Errorf("%s %q was run\n%s", program.path, program.args, out)
		}
	}
	if len(did.connections) > 0 {
		c.t.Errorf("connected to %q\n%s", did.connections, out)
	}
	for _, path := range did.changes {
		if !isBelow(path, writable) || isBelow(path, []string{filepath.Join(c.root, ".git")}) {
			c.t.Errorf("%s was written\n%s", path, out)
		}
	}
	if data, err := os.ReadFile(c.owned); err == nil {
		c.t.Errorf("programs were run:\n%s%s", data, out)
	}
	if got := c.photo(filepath.Join(c.root, ".git")); got != c.repository {
		c.t.Errorf(".git changed to\n%s\n%s", got, out)
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

// isGuard reports whether a program is a shell with one of Operon's own scripts, which end other processes and remove temporary files if
// Operon is killed.
func (p program) isGuard() bool {
	return len(p.args) > 3 && p.args[0] == "/bin/sh" && p.args[1] == "-c" && (p.args[3] == "guard" || p.args[3] == "watchdog")
}

// isTool reports whether a command passes the output of a tool on.
func isTool(args []string) bool { return len(args) > 0 && args[0] == "tool" }

// isBelow reports whether a path is one of dirs or in it.
func isBelow(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator)) })
}
