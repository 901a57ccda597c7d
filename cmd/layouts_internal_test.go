package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/crd"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/refactor"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
	"github.com/operon-sdk/operon/templates"
)

// shellFacts are the facts of a fourth layout, whose operator runs a shell script for each kind.
func shellFacts(t *testing.T) *layout.Facts {
	terms := layout.Terms{
		Project: "a Shell project", Operator: "a Shell operator", Kind: "a kind with a script", Kinds: "the kinds of scripts", Objects: "the objects of a kind are created by its script",
	}
	// The templates resemble Helm's.
	files := fstest.MapFS{}
	helm := strings.NewReplacer("HELM_OPERATOR", "SHELL_OPERATOR", "/opt/helm", "/opt/shell", "helm-charts", "scripts", "Helm", "Shell", "charts", "scripts")
	err := fs.WalkDir(templates.FS, "helm", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(templates.FS, name)
		files["shell/"+helm.Replace(strings.TrimPrefix(name, "helm/"))] = &fstest.MapFile{Data: []byte(helm.Replace(string(text)))}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	files["shell/init/watches.yaml.tmpl"] = &fstest.MapFile{Data: []byte("[]\n")}
	files["shell/blocks/init/Makefile.tmpl"] = &fstest.MapFile{Data: []byte("{{define \"programs\"}}\nSHELLCHECK ?= shellcheck{{end}}\n")}
	return &layout.Facts{
		Name: "Shell", Keys: []string{"shell/v1", "shell.sdk.example.com/v1", "shell"}, Templates: "shell", TemplateFS: files,
		Runtime: &layout.Runtime{
			Command: "shell-operator", Repository: "example.com/shell-operator", Argument: "SHELL_OPERATOR_IMAGE", SDKImage: "example.com/old",
			Program: "/usr/local/bin/shell-operator", Sources: "the scripts", User: "shell", Home: "/opt/shell", Files: []string{"watches.yaml", "scripts"},
		},
		Tool: "operon", Fingerprints: "shell/v1", Check: "make verify", AfterRename: "%s bundle",
		Unsupported: "this command is for Go projects", NoWebhooks: "scripts have no webhooks", NoModule: "scripts have no module",
		NoCharts: "scripts are no charts", NoRescaffold: "there is no code", FirstKind: []string{"group", "version", "kind"},
		Refused: []layout.Refusal{terms.GoFlags()},
	}
}

// shellKinds are the kinds of the fourth layout.
type shellKinds struct{}

type shellKind struct{ action.CreateAPIOptions }

func scriptOf(r project.Resource) string { return "scripts/" + r.FileStem() + ".sh" }

func (shellKinds) AddKind(_ context.Context, _ *action.Project, config *project.Config, o action.CreateAPIOptions) (action.Addition, error) {
	kind := &shellKind{o}
	_, err := kind.resolve(config)
	return kind, err
}

func (k *shellKind) resolve(config *project.Config) (project.Resource, error) {
	o := k.ResourceOptions
	o.API, o.Namespaced, o.NoTypes = true, true, true
	o.Controller = false
	r, findings := project.ResolveResource(config, o)
	return r, slices.Concat(k.Findings, k.Plugins.CheckKinds(), findings).Err()
}

func (k *shellKind) Apply(ctx context.Context, p *action.Project, tree *worktree.Tree, config *project.Config) error {
	r, err := k.resolve(config)
	if err != nil {
		return err
	}
	if _, err := scaffold.CreateKind(tree, p.PlainData(config, r, ""), k.Force); err != nil {
		return err
	}
	tree.WriteFile(scriptOf(r), []byte("#!/bin/sh\n"), worktree.FileMode)
	tree.WriteFile(scaffold.SampleFile(r), fmt.Appendf(nil, "apiVersion: %s/%s\nkind: %s\nmetadata:\n  name: sample\nspec: {}\n", r.QualifiedGroup(), r.Version, r.Kind), worktree.FileMode)
	if err := config.UpdateResource(r); err != nil {
		return err
	}
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	return shellKinds{}.Generate(ctx, p, tree, config, codegen.All)
}

func (k *shellKind) AddSteps(_ *action.Project, result *action.Result) {
	result.NextSteps = append(result.NextSteps, "write the script")
}

func (shellKinds) RemoveKind(_ context.Context, p *action.Project, tree *worktree.Tree, config *project.Config, r project.Resource, _ action.DeleteAPIOptions) error {
	tree.Remove(scriptOf(r))
	tree.Remove(scaffold.SampleFile(r))
	tree.Remove(path.Join(project.CRDBasesDir, r.CRDFile()))
	if _, err := scaffold.Delete(tree, scaffold.Deletion{Removed: []scaffold.Data{p.PlainData(config, r, "")}, Force: true}); err != nil {
		return err
	}
	err := config.RemoveResource(r.GVK)
	tree.WriteFile(project.FileName, config.Bytes(), worktree.FileMode)
	return err
}

func (shellKinds) Generate(_ context.Context, _ *action.Project, tree *worktree.Tree, config *project.Config, _ codegen.Generators) error {
	for _, r := range config.Resources() {
		definition := crd.Definition{Group: r.QualifiedGroup(), Kind: r.Kind, Plural: r.Plural, Columns: []any{crd.AgeColumn()}, Status: crd.Status("object", "Ready", nil, nil)}
		definition.Versions = []crd.Version{{Name: r.Version, Spec: map[string]any{"type": "object", crd.PreserveUnknown: true}}}
		text, err := definition.Marshal()
		if err != nil {
			return err
		}
		tree.WriteFile(path.Join(project.CRDBasesDir, r.CRDFile()), text, worktree.FileMode)
	}
	return nil
}

func (k shellKinds) Rename(ctx context.Context, p *action.Project, tree *worktree.Tree, before, after *project.Config) (*refactor.Remaining, error) {
	for i, old := range before.Resources() {
		if err := k.RemoveKind(ctx, p, tree, before, old, action.DeleteAPIOptions{}); err != nil {
			return nil, err
		}
		now := after.Resources()[i]
		kind := &shellKind{action.CreateAPIOptions{ResourceOptions: project.ResourceOptions{Group: now.Group, Version: now.Version, Kind: now.Kind, Plural: now.Plural}}}
		if err := after.RemoveResource(now.GVK); err != nil {
			return nil, err
		}
		if err := kind.Apply(ctx, p, tree, after); err != nil {
			return nil, err
		}
	}
	tree.WriteFile(project.FileName, after.Bytes(), worktree.FileMode)
	return &refactor.Remaining{}, nil
}

func (shellKinds) Describe(_ context.Context, _ *action.Project, _ *worktree.Tree, config *project.Config, _ string) (kinds []base.Kind, apis []codegen.API, err error) {
	for _, r := range config.Resources() {
		api := codegen.API{Group: r.QualifiedGroup(), Version: r.Version, Kind: r.Kind, Plural: r.Plural, Doc: r.Kind + " runs a script."}
		kinds, apis = append(kinds, base.KindOf(api)), append(apis, api)
	}
	return kinds, apis, nil
}

// TestFourthLayout checks that each command answers for a layout that is not one of Operon's: what depends on a layout follows from its
// facts and from the methods of action.Kinds.
func TestFourthLayout(t *testing.T) {
	t.Parallel()
	dir, home := filepath.Join(t.TempDir(), "site-operator"), t.TempDir()
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	layouts := []action.Layout{{Facts: shellFacts(t), Kinds: shellKinds{}}}
	operon := func(args ...string) (int, string) {
		var out bytes.Buffer
		env := &Env{
			In: strings.NewReader(""), Out: &out, Err: &out, Dir: dir, FS: afero.NewOsFs(), Now: time.Now, Run: env.Run, Layouts: layouts,
			Environ: slices.Concat(os.Environ(), []string{"HOME=" + home, "XDG_STATE_HOME=" + home, "CI=1"}),
			Runtime: func() (string, error) { return os.Args[0], nil },
		}
		code := Main(t.Context(), env, append([]string{"operon"}, args...))
		return code, out.String()
	}
	api := []string{"--group", "web", "--version", "v1", "--kind", "Site"}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"init", "--plugins", "shell", "--repo", "example.com/x"}, 2, `--repo "example.com/x": is only valid in Go projects: a Shell project has no Go module`},
		{[]string{"init", "--plugins", "shel"}, 2, "shell/v1, deploy-image/v1-alpha"},
		{[]string{"init", "--plugins", "shell/v1", "--domain", "example.com"}, 0, "Makefile"},
		{append([]string{"create", "api", "--image", "x"}, api...), 2, `--image "x": is only valid in Go projects: the objects of a kind are created by its script`},
		{append([]string{"create", "api", "--plugins", "shell/v1"}, api...), 0, "next: write the script"},
		{append([]string{"create", "api", "--plugins", "shel"}, api...), 2, "shell/v1, deploy-image/v1-alpha"},
		{[]string{"generate", "--check"}, 0, ""},
		{append([]string{"create", "webhook", "--defaulting"}, api...), 1, "scripts have no webhooks"},
		{append([]string{"delete", "webhook"}, api...), 1, "scripts have no webhooks"},
		{[]string{"edit", "--license", "mit"}, 2, `--license "mit": is only valid in Go projects`},
		{[]string{"edit", "--plugins", "helm,grafana"}, 2, "is not the layout of the project, shell.sdk.example.com/v1"},
		{[]string{"edit", "--plugins", "shell,grafana"}, 0, "grafana"},
		{[]string{"edit", "--multigroup"}, 0, "next: review what changed, then 'make verify'"},
		{[]string{"edit", "--multigroup=false"}, 0, ""},
		{[]string{"rename", "repo", "example.com/x"}, 1, "scripts have no module"},
		{[]string{"rename", "api", "--kind", "Site", "--to-kind", "Page"}, 0, "then 'operon bundle'"},
		{[]string{"alpha", "generate", "--output-dir", filepath.Join(home, "new")}, 1, "there is no code"},
		{[]string{"chart", "images"}, 1, "scripts are no charts"},
		{[]string{"image", "build", "--tarball", "x.tar", "--base", "scratch", "--runtime", "base"}, 0, "wrote"},
		{[]string{"image", "build", "--tarball", "x.tar", "--dry-run"}, 0, "would build the scripts of watches.yaml"},
		{[]string{"run", "local", "--dry-run"}, 0, ""},
		{[]string{"bundle", "--version", "0.0.1", "--image", "example.com/site:v0.0.1"}, 0, "bundle/manifests"},
		{[]string{"upgrade", "--dry-run"}, 0, ""},
		{[]string{"delete", "api", "--kind", "Page", "--make=false"}, 2, `--make "false": is only valid in Go projects`},
		{[]string{"delete", "api", "--kind", "Page"}, 0, "then 'make verify'"},
	} {
		if code, out := operon(c.args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("operon %s: exit code %d, want %d and %q:\n%s", strings.Join(c.args, " "), code, c.code, c.want, out)
		}
	}
	for _, args := range [][]string{{"create", "api", "--help"}, {"help", "create", "api"}, {"__complete", "create", "api", "--"}} {
		if _, out := operon(args...); strings.Contains(out, "--image-container-port") || !strings.Contains(out, "--plural") {
			t.Errorf("operon %s has flags of another layout, or lacks its own:\n%s", strings.Join(args, " "), out)
		}
	}
	makefile, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	if err != nil || !strings.Contains(string(makefile), "SHELL_OPERATOR ?= $(OPERON) shell-operator\nSHELLCHECK ?= shellcheck\n") {
		t.Errorf("Makefile: %v\n%s", err, makefile)
	}
}
