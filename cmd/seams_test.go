package cmd_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd"
)

// TestSeams checks that programs are started and the environment is read by cmd.Env alone, and in operon-runtime by its main function and by the expansion of
// watches.yaml, which Go projects share; pkg/controlplane owns
// the processes of control planes, pkg/ansibleoperator/runner the processes of runs, and pkg/tempdir the shell that cleans up after this process.
func TestSeams(t *testing.T) {
	t.Parallel()
	owners := map[string][]string{
		"os/exec":    {"cmd/internal/env", "pkg/ansibleoperator/runner", "pkg/controlplane", "pkg/tempdir"},
		"os.Environ": {"cmd/internal/env", "cmd/operon-runtime/main.go"}, "os.Getenv": {"pkg/helmoperator/watchesfile.go"}, "os.LookupEnv": nil, "os.ExpandEnv": nil,
		"os.Setenv": nil, "os.Unsetenv": nil, "os.Clearenv": nil, "os.Chdir": nil, "os.StartProcess": nil,
	}
	used := map[string]bool{}
	check := func(file string, at token.Position, name string) {
		owned, guarded := owners[name]
		if !guarded {
			return
		}
		for _, owner := range owned {
			if file == owner || strings.HasPrefix(file, owner+"/") {
				used[name+" in "+owner] = true
				return
			}
		}
		t.Errorf("%s:%d: %s goes around cmd.Env", file, at.Line, name)
	}
	eachProgramFile(t, func(file string, fset *token.FileSet, parsed *ast.File) {
		if top, _, _ := strings.Cut(file, "/"); !slices.Contains([]string{"cmd", "pkg", "templates"}, top) || strings.HasPrefix(file, clitestPackage) || strings.HasPrefix(file, testPackages) {
			return
		}
		for _, spec := range parsed.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			check(file, fset.Position(spec.Pos()), path)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					check(file, fset.Position(s.Pos()), x.Name+"."+s.Sel.Name)
				}
			}
			return true
		})
	})
	for name, owned := range owners {
		for _, owner := range owned {
			if !used[name+" in "+owner] {
				t.Errorf("%s does not use %s; remove it from the owners", owner, name)
			}
		}
	}
}

// TestProgramsRunInEnviron checks that a program gets Command.Environ and nothing of the process's environment, and is
// found in its PATH. It changes variables of the process, so it is not parallel.
func TestProgramsRunInEnviron(t *testing.T) {
	program, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	env, err := cmd.System()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "")
	t.Setenv("GOPRIVATE", "example.com/process")
	t.Setenv("GONOPROXY", "example.com/process")
	var out bytes.Buffer
	command := cmd.Command{
		Environ: []string{"PATH=" + filepath.Dir(program), "HOME=" + os.DevNull, "GOENV=off", "GOPRIVATE=one", "GOPRIVATE=example.com/given"},
		Out:     &out, Name: "go", Args: []string{"env", "GOPRIVATE", "GONOPROXY"},
	}
	if err := env.Run(t.Context(), command); err != nil {
		t.Fatal(err)
	}
	// GONOPROXY defaults to GOPRIVATE.
	if got := strings.Fields(out.String()); !slices.Equal(got, []string{"example.com/given", "example.com/given"}) {
		t.Errorf("the program sees %q", got)
	}
	command.Environ = nil
	if err := env.Run(t.Context(), command); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without PATH: %v", err)
	}
}
