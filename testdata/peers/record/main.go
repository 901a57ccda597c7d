// Record adds a release of kubebuilder to what Operon knows about the projects of its peers:
//
//	go run ./testdata/peers/record sigs.k8s.io/kubebuilder/v4@v4.16.0
//
// It builds the release from the module proxy, runs its commands with all flags that change files, and writes hashes of what they write
// to pkg/migrate. Then it prints what the release has and Operon does not: commands, flags, files, and keys of PROJECT. It runs in the
// root directory of the repository. The module operon is this program, whose scaffold is recorded before the templates change:
//
//	go run ./testdata/peers/record operon@v0.0.1
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/migrate"
)

// own is the name of this program as a module and as the tool of a release.
const own = "operon"

func main() {
	if len(os.Args) != 2 || !strings.Contains(os.Args[1], "@v") {
		fmt.Fprintln(os.Stderr, "usage: go run ./testdata/peers/record MODULE@VERSION, as in sigs.k8s.io/kubebuilder/v4@v4.16.0")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(module string) error {
	dir, err := os.MkdirTemp("", "operon-record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("==> building %s (minutes with cold caches)\n", module)
	ours := filepath.Join(dir, "operon")
	if err := execute("", "go", "build", "-trimpath", "-o", ours, "."); err != nil {
		return err
	}
	name, version, _ := strings.Cut(module, "@v")
	peer, tool := ours, own
	if name != own {
		tool = "kubebuilder"
		if peer, err = buildPeer(dir, module); err != nil {
			return err
		}
	}
	numbers := strings.SplitN(version, ".", 3)
	if len(numbers) < 3 {
		return fmt.Errorf("%s: the version must have three numbers", module)
	}
	r := &recording{dir: dir, peer: peer, release: migrate.Release{Tool: tool, Version: numbers[0] + "." + numbers[1], Layout: "go/v4"}}
	if tool == own {
		r.release.Version = version // several before the first release
	}
	projects := matrix()
	if tool == own { // whose edit checks the code, and so needs what is generated
		projects = slices.DeleteFunc(projects, func(s sample) bool {
			return slices.ContainsFunc(s.commands, func(command string) bool { return strings.HasPrefix(command, "edit ") })
		})
	}
	for i, p := range projects {
		fmt.Printf("==> project %d of %d: %s\n", i+1, len(projects), p.name)
		if err := r.create(p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if err := r.write(); err != nil || tool == own {
		return err
	}
	fmt.Println("==> beside Operon")
	return r.compare(ours, projects)
}

// buildPeer builds a release and returns its program.
func buildPeer(dir, module string) (string, error) {
	path, _, _ := strings.Cut(module, "@")
	build := filepath.Join(dir, "build")
	if err := os.Mkdir(build, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(build, "go.mod"), []byte("module record\n\ngo 1.26.0\n"), 0o644); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "kubebuilder")
	if err := execute(build, "go", "get", "-tool", module); err != nil {
		return "", err
	}
	return program, execute(build, "go", "build", "-trimpath", "-o", program, path)
}

// execute runs a program in a directory. Its output is part of the error if it fails.
func execute(dir, program string, args ...string) error {
	c := exec.Command(program, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return nil
}
