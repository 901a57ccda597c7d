//go:build unix

package refactor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// compiling matches arguments with which the go command compiles packages.
var compiling = regexp.MustCompile(`^go (build|install|run|test|vet|generate)\b| -export(=true)?\b`)

// TestNothingIsCompiled runs all commands that check code, and watches the go command and the tools that it starts. Only run
// local and image build compile.
func TestNothingIsCompiled(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it checks the types of a project several times")
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	program := func(name, script string) string {
		file := filepath.Join(bin, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	goRoot := clitest.GoEnv(t, "GOROOT")
	program("go", "echo \"go $*\" >>'"+log+"'\nexec '"+filepath.Join(goRoot, "bin", "go")+"' \"$@\"\n")
	// The go command asks tools for their version to compute IDs of builds, and starts no others.
	tool := program("tool", "case \"$*\" in *-V=full*) ;; *) echo \"tool $*\" >>'"+log+"' ;; esac\nexec \"$@\"\n")
	variables := []string{
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "GOROOT=" + goRoot,
		"GOFLAGS=-mod=mod -toolexec=" + tool, "GOPROXY=off",
	}
	dir := filepath.Join(t.TempDir(), "watched")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	checks := 0
	for _, command := range []string{
		"init --domain example.com --repo example.com/watched",
		createBoth + "--group cache --version v1 --kind Memcached",
		"create webhook --group cache --version v1 --kind Memcached --defaulting --programmatic-validation",
		createBoth + "--group cache --version v1 --kind Redis",
		"rename api --group cache --version v1 --kind Redis --to-kind Valkey",
		"edit --multigroup",
		"delete webhook --group cache --version v1 --kind Memcached --defaulting",
		"delete api --group cache --version v1 --kind Valkey",
		"rename project other",
		"rename repo example.com/other",
		"edit --namespaced",
		"edit --license none",
		"generate",
		"generate --check",
		"upgrade",
		"upgrade --check",
		"generate kustomize manifests --interactive=false",
		"bundle",
		"bundle --check",
	} {
		if code, _, errOut := clitest.RunWith(t, dir, t.TempDir(), variables, strings.Fields(command)...); code != 0 {
			t.Fatalf("operon %s: exit code %d\n%s", command, code, errOut)
		}
		data, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		for _, line := range lines {
			if strings.HasPrefix(line, "tool ") || compiling.MatchString(line) {
				t.Errorf("operon %s: %s", command, line)
			}
		}
		if slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "-json=ImportPath,Name,Dir,GoFiles") }) {
			checks++
		}
		if err := os.RemoveAll(log); err != nil {
			t.Fatal(err)
		}
	}
	if checks < 6 {
		t.Errorf("%d commands checked types, want at least 6", checks)
	}
}
