// Package main executes a page of the documentation, or a section of it, as make quickstart and a test do.
//
// Each line that starts with "$ " in a console block is run. The other lines of the block must be in its output, where …
// matches any text. Each diff block is an edit. The commands find no cluster except for a control plane that the page starts,
// as a reader's would, unless -registry is set.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/testdata/console"
)

func main() {
	program := flag.String("operon", "", "the operon `binary` to use")
	section := flag.String("section", "", "the `title` of the section to execute (default: the page)")
	registry := flag.String("registry", "", "use the cluster of KUBECONFIG, with the registry at this `host` instead of "+placeholder)
	record := flag.String("record", "", "write a recording of the commands to this SVG `file`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *program, *section, *registry, *record, flag.Arg(0))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// placeholder is the registry in the documentation.
const placeholder = "registry.example.com"

func run(ctx context.Context, program, section, registry, record, page string) error {
	start := time.Now()
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	if registry != "" {
		text = []byte(strings.ReplaceAll(string(text), placeholder, registry))
	}
	steps, err := console.Parse(string(text), section)
	if err != nil {
		return err
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "operon-tutorial-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sh, err := newShell(ctx, dir, os.Stdout)
	if err != nil {
		return err
	}
	sh.path(filepath.Dir(program))
	if strings.Contains(string(text), "$ kubectl ") {
		assets, err := findControlPlane(ctx)
		if err != nil {
			return err
		}
		sh.path(assets.Dir)
	}
	if registry == "" {
		// Hide the user's clusters from the commands.
		sh.setenv("KUBECONFIG", filepath.Join(dir, "none"))
	}
	if record != "" {
		sh.recorded = &recording{}
	}
	for _, s := range steps {
		if err = sh.step(s); err != nil {
			break
		}
	}
	sh.stop(err != nil)
	if err != nil {
		return err
	}
	if record != "" {
		if err := sh.recorded.write(record, section+" of Operon in a terminal, with the time of each command"); err != nil {
			return err
		}
	}
	if sh.shown != "" {
		fmt.Printf("\n==> the resource before it was deleted\n%s\n", sh.shown)
	}
	fmt.Printf("==> done in %s; everything is stopped and removed\n", time.Since(start).Round(time.Second))
	return nil
}

// findControlPlane finds or builds the control plane, which has kubectl.
func findControlPlane(ctx context.Context) (controlplane.Assets, error) {
	options := controlplane.DefaultOptions(os.Environ())
	options.Parts = []string{controlplane.Kubectl}
	options.Progress = func(message string) { fmt.Println(message) }
	return controlplane.Ensure(ctx, options)
}
