//go:build unix

package runlocal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRunLocalForIDEs starts a control plane for a manager that the user runs, and a manager under a debugger, for which a script stands.
func TestRunLocalForIDEs(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	clitest.SetFreeWebhookPort(t, dir)

	t.Run("no manager", func(t *testing.T) {
		p := clitest.StartProcess(t, dir, nil, "run", "local", "--no-manager", "--samples")
		c := p.Cluster()
		p.WaitFor("press Ctrl-C", 1)
		c.Must("", "get", memcached)
		for _, want := range []string{"\n  export KUBECONFIG=\"$PWD/.operon/kubeconfig\"\n  export ENABLE_WEBHOOKS=false\n  go run ./cmd\n", "applied " + memcached} {
			if !strings.Contains(p.Output(), want) {
				t.Errorf("the output lacks %q", want)
			}
		}
		if strings.Contains(p.Output(), "building") {
			t.Error("it built the manager")
		}
		p.Interrupt()
		p.MustEnd(0)
	})

	t.Run("debugger", func(t *testing.T) {
		// Without libraries, since all packages are compiled again for a debugger.
		dir := clitest.NewDir(t, map[string]string{
			"PROJECT": "domain: example.com\nlayout: [go.kubebuilder.io/v4]\nprojectName: tiny\nrepo: example.com/tiny\nversion: \"3\"\n",
			"go.mod":  "module example.com/tiny\n\ngo 1.24\n",
			"cmd/main.go": "package main\n\nimport (\n\t\"os\"\n\t\"os/signal\"\n)\n\nfunc main() {\n\tprintln(\"flags\", len(os.Args))\n\tif len(os.Args) > 1 {\n\t\treturn\n\t}\n" +
				"\tinterrupted := make(chan os.Signal, 1)\n\tsignal.Notify(interrupted, os.Interrupt)\n\t<-interrupted\n}\n",
		})
		bin := t.TempDir()
		const delve = "#!/bin/sh\necho \"arguments: $*\"\nbinary=$2\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$binary\" \"$@\"\n"
		if err := os.WriteFile(filepath.Join(bin, "dlv"), []byte(delve), 0o755); err != nil {
			t.Fatal(err)
		}
		program, err := exec.LookPath("go")
		if err != nil {
			t.Fatal(err)
		}
		none := clitest.StartProcess(t, dir, []string{"PATH=" + filepath.Dir(program), "GOBIN=" + t.TempDir()}, "run", "local", "--yes", "--debug")
		none.MustEnd(1)
		if !strings.Contains(none.Output(), "install it with 'go install github.com/go-delve/delve/cmd/dlv@latest'") {
			t.Error("it doesn't say how to install Delve")
		}
		environ := []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")}
		p := clitest.StartProcess(t, dir, environ, "run", "local", "--yes", "--control-plane", "embedded", "--debug", "--debug-listen", "127.0.0.1:4711")
		p.WaitFor("press Ctrl-C", 1)
		p.WaitFor("flags 1\n", 1)
		for _, want := range []string{"  dlv connect 127.0.0.1:4711\n", " --headless --listen=127.0.0.1:4711 --api-version=2 --accept-multiclient --continue --\n"} {
			if !strings.Contains(p.Output(), want) {
				t.Errorf("the output lacks %q", want)
			}
		}
		p.Interrupt()
		p.MustEnd(0)
	})
}
