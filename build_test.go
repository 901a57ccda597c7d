package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxSize is the size that a stripped binary must not exceed, in bytes. The documentation and the library that renders it for
// 'docs open' need 1.4 MB of it.
const maxSize = 69_500_000

// TestBuild builds Operon with make in two clones of a repository and in a directory without one: what it prints about
// its commit, that the bytes depend on the commit only, how large they are, and how they start.
func TestBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program three times")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the Makefile needs a POSIX shell")
	}
	t.Parallel()
	origin := filepath.Join(t.TempDir(), "origin")
	copySource(t, origin)
	git(t, origin, "init", "-q")
	git(t, origin, "add", ".")
	git(t, origin, "commit", "-q", "-m", "Add everything")
	commit := strings.TrimSpace(git(t, origin, "rev-parse", "HEAD"))
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, origin, "clone", "-q", "file://"+origin, clone)
	git(t, origin, "tag", "v9.9.9") // the clone has no tags

	first, _ := makeBuild(t, origin)
	second, _ := makeBuild(t, clone, withoutRuntime)
	version := versionOf(t, first)
	if version["commit"] != commit || version["commitDate"] != "2026-01-02T01:04:05Z" {
		t.Errorf("version prints %v, want commit %s of 2026-01-02T01:04:05Z", version, commit)
	}
	a, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a, b) {
		t.Error("two clones of the same commit make different binaries")
	}
	if len(a) > maxSize {
		t.Errorf("the binary has %d bytes, want at most %d", len(a), maxSize)
	}

	archive := filepath.Join(clone, "archive") // the commit of a repository around it is not its own
	copySource(t, archive)
	third, output := makeBuild(t, archive, withoutRuntime)
	if !strings.Contains(output, "no git commit found") {
		t.Errorf("outside a repository, make build does not report that the commit is unknown:\n%s", output)
	}
	if version := versionOf(t, third); version["commit"] != "unknown" || version["commitDate"] != "unknown" {
		t.Errorf("outside a repository, version prints %v, want an unknown commit", version)
	}

	// The collections that pkg/startup makes must be the only ones, and come before packages allocate much.
	trace := exec.Command(first, "version")
	trace.Env = append(os.Environ(), "GODEBUG=gctrace=1,inittrace=1", "GOGC=100")
	out, err := trace.CombinedOutput()
	if err != nil {
		t.Fatalf("version: %v\n%s", err, out)
	}
	_, after, found := strings.Cut(string(out), "init "+module+"/pkg/startup ")
	if !found || !strings.Contains(after, "init github.com/gobuffalo/flect ") {
		t.Errorf("pkg/startup is not initialized before flect:\n%s", out)
	}
	if strings.Contains(after, "\ngc ") {
		t.Errorf("the collector runs before version ends:\n%s", out)
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		checkRecorded(t, `initializations: (\d+)`, strings.Count("\n"+string(out), "\ninit "))
	}
}

// checkRecorded compares a number of the binary with the one that CONTRIBUTING.md states, which the pattern matches.
func checkRecorded(t *testing.T, pattern string, number int) {
	t.Helper()
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(pattern).FindSubmatch(text)
	if m == nil {
		t.Fatalf("CONTRIBUTING.md does not match %s", pattern)
	}
	if recorded, err := strconv.Atoi(string(m[1])); err != nil || number != recorded {
		t.Errorf("the binary has %d, CONTRIBUTING.md says %q; each one takes time at the start of every command, "+
			"so look for a narrower package before you change the number", number, m[0])
	}
}

// TestLinkedPackages checks that the binary does not contain libraries that are left out for its size and start-up time.
// Their importers can be found with "go mod why -m".
func TestLinkedPackages(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", ".")
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, module+"/cmd") {
		t.Fatalf("go list prints %d packages, but not Operon's", len(linked))
	}
	for _, pkg := range linked {
		for _, left := range []string{
			// Clients and their types for every API of Kubernetes; pkg/kube has one small client for all.
			"k8s.io/client-go/kubernetes", "k8s.io/client-go/applyconfigurations", "k8s.io/client-go/informers",
			"k8s.io/client-go/dynamic", "k8s.io/client-go/discovery", "k8s.io/kubectl", "k8s.io/kubernetes",
			"sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/controller-runtime/pkg/envtest",
			// Container engines; pkg/image needs none.
			"github.com/docker/docker", "github.com/containerd/containerd",
			// Databases of the catalogs that came before file-based ones.
			"github.com/mattn/go-sqlite3", "modernc.org/sqlite", "go.etcd.io",
			// Lists of words, for tests.
			"github.com/golangci/misspell",
			// Signatures and diffs of git objects; pkg/vcs decodes what it reads itself.
			"github.com/go-git/go-git/v5/plumbing/object", "github.com/ProtonMail/go-crypto",
		} {
			if pkg == left || strings.HasPrefix(pkg, left+"/") {
				t.Errorf("the binary contains %s", pkg)
			}
		}
	}
	checkRecorded(t, `Linked packages: (\d+)`, len(linked))
}

const module = "github.com/operon-sdk/operon"

// copySource copies what a build needs.
func copySource(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"cmd", "docs", "pkg", "templates"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Makefile", "go.mod", "go.sum", "main.go", ".gitignore"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// withoutRuntime is a variable for make build that leaves operon-runtime compiled, but not linked.
const withoutRuntime = "RUNTIME=" + os.DevNull

// makeBuild runs make build with variables and returns the path of the binary and what was printed.
func makeBuild(t *testing.T, dir string, variables ...string) (program, output string) {
	t.Helper()
	build := exec.Command("make", append([]string{"build"}, variables...)...)
	build.Dir = dir
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("make build: %v\n%s", err, out)
	}
	return filepath.Join(dir, "bin", "operon"), string(out)
}

func versionOf(t *testing.T, program string) map[string]string {
	t.Helper()
	out, err := exec.Command(program, "version", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var version map[string]string
	if err := json.Unmarshal(out, &version); err != nil {
		t.Fatal(err)
	}
	return version
}

// git runs git with a fixed author and date, in a time zone other than UTC, and without the user's configuration.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05+02:00",
		"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05+02:00")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}
