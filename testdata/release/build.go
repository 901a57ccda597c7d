package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// goBuild builds the program of a package with the flags of "make build".
func goBuild(ctx context.Context, source string, p platform, ldflags, pkg, output string) error {
	_, err := command{
		dir: source, env: []string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch},
	}.run(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", output, pkg)
	return err
}

// build builds programs for a platform.
func (r *release) build(ctx context.Context, p platform, programs []string) error {
	for _, name := range programs {
		if err := r.compile(ctx, p, r.linked[p], packages[name], filepath.Join(r.built(p), p.executable(name))); err != nil {
			return err
		}
	}
	return nil
}

// completions maps a shell to the name of its completion script.
var completions = map[string]string{"bash": "operon.bash", "zsh": "_operon", "fish": "operon.fish", "powershell": "operon.ps1"}

// document writes manual pages and completion scripts with the program for this machine, after it checked the program's version.
func (r *release) document(ctx context.Context) error {
	operon := filepath.Join(r.built(host()), host().executable(program))
	c := command{dir: r.stage, env: []string{"SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.date.Unix(), 10), "XDG_STATE_HOME=" + r.stage}}
	var built struct{ Version string }
	if out, err := c.run(ctx, operon, "version", "-o", "json"); err != nil {
		return err
	} else if err := json.Unmarshal(out, &built); err != nil || built.Version != r.version {
		return fmt.Errorf("%s version prints %q, want %q; the linker flags must set the variable release of pkg/buildinfo", program, built.Version, r.version)
	}
	if _, err := c.run(ctx, operon, "-q", "docs", "man", r.manuals()); err != nil {
		return err
	}
	if err := os.MkdirAll(r.completions(), 0o755); err != nil {
		return err
	}
	for shell, name := range completions {
		script, err := c.run(ctx, operon, "completion", shell)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.completions(), name), script, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) manuals() string     { return filepath.Join(r.stage, "man1") }
func (r *release) completions() string { return filepath.Join(r.stage, "completions") }

// A command is where and how programs run.
type command struct {
	dir string
	// env is added to the environment.
	env   []string
	input string
}

// run runs a program and returns what it printed on stdout.
func (c command) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	x := exec.CommandContext(ctx, name, args...)
	x.Dir, x.Env, x.Stdin = c.dir, append(os.Environ(), c.env...), strings.NewReader(c.input)
	var stderr bytes.Buffer
	x.Stderr = &stderr
	out, err := x.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), args[0], err, bytes.TrimSpace(append(out, stderr.Bytes()...)))
	}
	return out, nil
}
