package action_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
	"github.com/operon-sdk/operon/pkg/action/layouts"
	"github.com/operon-sdk/operon/pkg/action/rename"
	"github.com/operon-sdk/operon/pkg/action/upgrade"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/project"
)

// startGo runs the go command in the environment of the test.
func startGo(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), variables...), out, errOut
	return c.Run()
}

// capture redirects stdout and stderr of the process to a file. It returns a function that returns the content.
func capture(t *testing.T) func() string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	out, errOut := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = file, file
	restore := func() { os.Stdout, os.Stderr = out, errOut }
	t.Cleanup(restore)
	return func() string {
		restore()
		_ = file.Close()
		data, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}

func apiOptions(generate bool) action.CreateAPIOptions {
	o := action.CreateAPIOptions{Generate: generate, Manifests: true}
	o.Group, o.Version, o.Kind = "cache", "v1alpha1", "Memcached"
	o.API, o.Controller, o.Namespaced = true, true, true
	return o
}

func initOptions() action.InitOptions {
	return action.InitOptions{
		LicenseOptions: action.LicenseOptions{License: "apache2"}, Domain: "example.com", Repo: "example.com/memcached-operator",
		ProjectVersion: project.ProjectVersion,
	}
}

// TestCommands runs commands one after the other on a project on disk. They must print nothing. The test is not parallel, as it
// redirects stdout.
func TestCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a project")
	}
	output := capture(t)
	var messages diag.Findings
	config := action.Config{
		FS: afero.NewOsFs(), Dir: filepath.Join(t.TempDir(), "memcached-operator"), StateDirs: []string{t.TempDir()}, Environ: os.Environ(), Program: "operon",
		Version: "0.0.0", Layouts: layouts.All(), Go: gotool.Go{Start: startGo, Offline: true, Progress: io.Discard},
		Report: func(found diag.Findings) { messages = append(messages, found...) },
	}
	if err := os.Mkdir(config.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := action.Open(t.Context(), config, config.Dir)
	if err != nil {
		t.Fatal(err)
	}
	owner, yes := "Example", true
	for _, step := range []struct {
		name string
		run  func() (*action.Result, error)
		// changed is a file that the command changes.
		changed string
		// steps is the number of next steps of the user; 0 means 1.
		steps int
	}{
		{"Init", func() (*action.Result, error) { return p.Init(t.Context(), initOptions()) }, "go.mod", 0},
		{"CreateAPI", func() (*action.Result, error) { return p.CreateAPI(t.Context(), apiOptions(true)) }, "config/crd/bases/cache.example.com_memcacheds.yaml", 2},
		{"CreateWebhook", func() (*action.Result, error) {
			o := gokinds.CreateWebhookOptions{Generate: true}
			o.Group, o.Version, o.Kind, o.Defaulting = "cache", "v1alpha1", "Memcached", true
			return gokinds.CreateWebhook(t.Context(), p, o)
		}, "config/webhook/manifests.yaml", 2},
		{"Edit", func() (*action.Result, error) {
			return p.Edit(t.Context(), action.EditOptions{Multigroup: &yes, Owner: &owner})
		}, "api/cache/v1alpha1/memcached_types.go", 0},
		{"RenameAPI", func() (*action.Result, error) {
			return rename.API(t.Context(), p, rename.APIOptions{To: project.GVK{Kind: "Cachet"}})
		}, "config/crd/bases/cache.example.com_cachets.yaml", 0},
		{"DeleteAPI", func() (*action.Result, error) {
			return p.DeleteAPI(t.Context(), action.DeleteAPIOptions{Kind: "Cachet", Generate: true})
		}, "config/crd/bases/cache.example.com_cachets.yaml", 0},
	} {
		result, err := step.run()
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if !slices.Contains(changedFiles(result), step.changed) {
			t.Errorf("%s: %s did not change; changes: %v", step.name, step.changed, result.Changes)
		}
		if want := max(step.steps, 1); len(result.NextSteps) != want {
			t.Errorf("%s: NextSteps = %q, want %d", step.name, result.NextSteps, want)
		}
	}
	if result, err := p.Generate(t.Context(), codegen.All); err != nil || len(result.Changes) > 0 {
		t.Errorf("Generate = %+v, %v, want no changes", result, err)
	}
	if text := output(); text != "" {
		t.Errorf("printed %q, want nothing", text)
	}
	if len(messages) == 0 {
		t.Error("no messages were reported")
	}
}

func changedFiles(r *action.Result) []string {
	var names []string
	for _, c := range r.Changes {
		names = append(names, c.Path)
	}
	return names
}

// TestCommandsInMemory runs commands that need no compiler on a file system in memory.
func TestCommandsInMemory(t *testing.T) {
	t.Parallel()
	config := action.Config{FS: afero.NewMemMapFs(), Dir: root, Program: "operon", Layouts: layouts.All()}
	if err := config.FS.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := action.Open(t.Context(), config, root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Init(t.Context(), initOptions()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Init(t.Context(), initOptions()); err == nil {
		t.Error("Init in a project: no error")
	}
	if _, err := p.CreateAPI(t.Context(), apiOptions(false)); err != nil {
		t.Fatal(err)
	}
	loaded, err := p.Load(action.CurrentLayout)
	if err != nil || len(loaded.Resources()) != 1 {
		t.Fatalf("Load = %v, %v, want one resource", loaded, err)
	}
	preview, err := upgrade.Plan(t.Context(), p, upgrade.Options{})
	if err != nil || len(preview.Changes) > 0 || preview.Obstacle != nil {
		t.Errorf("Plan = %+v, %v, want no changes", preview, err)
	}
	if err := afero.WriteFile(config.FS, root+"/Makefile", []byte("all:\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	result, err := upgrade.CompareScaffold(p, "Makefile", upgrade.Options{})
	if err != nil || !result.DryRun || len(result.Changes) != 1 || string(result.Changes[0].Old) != "all:\n" {
		t.Errorf("CompareScaffold = %+v, %v, want a change of Makefile", result, err)
	}
	if result, err = upgrade.ConvertAlpha(t.Context(), p); err != nil || len(result.Changes) > 0 || result.Unchanged == "" {
		t.Errorf("ConvertAlpha = %+v, %v, want no changes", result, err)
	}
	if _, err := upgrade.Run(t.Context(), p, upgrade.Options{From: "x", To: "y", Conflict: "z"}); len(err.(diag.Findings)) != 3 {
		t.Errorf("Upgrade = %v, want findings about From, To and Conflict", err)
	}
	other := initOptions()
	other.Domain, other.License, other.ProjectName = "Example", "gpl", "-"
	p.Root = "/work/other"
	if _, err := p.Init(t.Context(), other); len(err.(diag.Findings)) != 3 {
		t.Errorf("Init = %v, want findings about domain, license and name", err)
	}
}
