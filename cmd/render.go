package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

type renderOptions struct {
	files            []string
	namespace        string
	outputDir, check string
	output           string
	timeout          time.Duration
	yes              bool
}

func newRender(a *app) *cobra.Command {
	o := &renderOptions{}
	c := &cobra.Command{
		Use:   "render",
		Short: "Print what the operator makes of a custom resource",
		Long: `Run the operator in a temporary control plane, apply custom resources, and print them and all objects
that the operator creates or changes for them as YAML, as soon as nothing changes any more. The
manager has the permissions of config/default.

What differs between two runs is left out or replaced: UIDs, versions, times, addresses, generated
names, and the content of Secrets. So the output is the same until the operator changes, and fit for
a review or, with --output-dir and --check, for files that CI compares. Containers are simulated.`,
		Example: fmt.Sprintf(`  # Print the objects of a sample:
  %[1]s render -f config/samples/cache_v1alpha1_memcached.yaml

  # Write them to files, one per object:
  %[1]s render -f config/samples/cache_v1alpha1_memcached.yaml --output-dir test/render/memcached

  # In CI, fail if the operator makes other objects:
  %[1]s render -f config/samples/cache_v1alpha1_memcached.yaml --check test/render/memcached`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case len(o.files) == 0:
				return usagef(c, "pass the custom resources with -f")
			case o.outputDir != "" && o.check != "":
				return usagef(c, "--output-dir writes files and --check compares them: leave one of them out")
			}
			if err := checkChoice("--output", o.output, "yaml", "json").Err(); err != nil {
				return err
			}
			if o.namespace != "" {
				if err := checkNamespace("--namespace", o.namespace).Err(); err != nil {
					return err
				}
			}
			return a.render(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringSliceVarP(&o.files, "filename", "f", nil, "`file` or directory with custom resources and what they need; - is the standard input; can be repeated")
	f.StringVarP(&o.namespace, "namespace", "n", "", "`namespace` of objects that don't name one, and the only one that a namespaced manager watches (default: default)")
	f.StringVar(&o.outputDir, "output-dir", "", "`directory` of the project to write the objects to, one file per object; files of other objects are removed")
	f.StringVar(&o.check, "check", "", "`directory` to compare with; exit with 1 and print a diff if the objects are others")
	choiceVar(c, &o.output, "output", "o", "yaml", "format of the objects that are printed", "yaml", "json")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "how long to wait until nothing changes")
	f.BoolVarP(&o.yes, "yes", "y", false, "run a project's code for the first time without asking")
	a.addAllowRemote(f)
	return c
}

func (a *app) render(ctx context.Context, o *renderOptions) error {
	root, err := a.ProjectRoot()
	if err != nil {
		return err
	}
	objects, err := a.readObjects(o.files)
	if err != nil {
		return err
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	options, check, err := a.localOptions(ctx, root)
	if err != nil {
		return err
	}
	if err := a.prepareLocal(ctx, &options, check, o.yes); err != nil {
		return err
	}
	var rendered []*kube.Object
	options.Name, options.Namespace, options.ControlPlane = fmt.Sprintf("render-%d", os.Getpid()), o.namespace, local.PlaneEmbedded
	options.Webhooks, options.Log = true, &local.LogWriter{Out: io.Discard}
	options.Generate = func(ctx context.Context) error { return a.checkGenerated(ctx, root) }
	options.Drive = func(ctx context.Context, s *local.Session) (err error) {
		a.print.Progressf("waiting until nothing changes")
		rendered, err = stage.Render(ctx, stage.RenderOptions{
			Client: s.Client, Requests: s.Requests, Busy: s.Busy, Objects: objects, Namespace: s.Namespace,
			Watched: watchedResources(options.Config, objects), Timeout: o.timeout, Now: a.Now,
		})
		return err
	}
	if err := local.Run(ctx, options); err != nil {
		return env.Interrupted(ctx, err)
	}
	if dir := o.outputDir + o.check; dir != "" {
		return a.writeRendered(ctx, root, dir, o.check != "", rendered)
	}
	return a.print.Objects(rendered, o.output)
}

// checkGenerated returns an error if generated files are stale: a command that prints doesn't write to the project.
func (a *app) checkGenerated(ctx context.Context, root string) error {
	config := a.actions()
	config.DryRun = true
	return a.runAt(ctx, config, root, func(p *action.Project) error {
		result, err := p.Update(ctx, func(tree *worktree.Tree) error { return p.GenerateIn(ctx, tree, codegen.All) })
		if err != nil {
			return err
		}
		if len(result.Changes) > 0 {
			return fmt.Errorf("generated files are stale, such as %s; run '%s generate' first", result.Changes[0].Path, a.program)
		}
		return nil
	})
}

// watchedResources returns the resources among the kinds of objects that the project has a controller for.
func watchedResources(config *project.Config, objects []*kube.Object) (names []string) {
	for _, r := range config.Resources() {
		if config.Reconciles(r) && slices.ContainsFunc(objects, func(o *kube.Object) bool {
			gvk := o.GroupVersionKind()
			return gvk.Group == r.APIGroup() && gvk.Kind == r.Kind
		}) {
			names = append(names, r.Plural+"."+r.APIGroup())
		}
	}
	return names
}

// readObjects reads the objects of files, directories and the standard input.
func (a *app) readObjects(names []string) (objects []*kube.Object, err error) {
	for _, name := range names {
		files := []string{name}
		if name != "-" {
			full := a.Absolute(name)
			if isDir, err := afero.IsDir(a.FS, full); err == nil && isDir {
				if files, err = afero.Glob(a.FS, filepath.Join(full, "*.y*ml")); err != nil {
					return nil, err
				}
			}
		}
		for _, file := range files {
			data, err := a.readInput(file)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
			}
			more, err := kube.Decode(data)
			if err != nil {
				return nil, fmt.Errorf("reading %s: %w", name, err)
			}
			objects = append(objects, more...)
		}
	}
	if len(objects) == 0 {
		return nil, errors.New("the files contain no objects")
	}
	return objects, nil
}

func (a *app) readInput(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(a.In)
	}
	return afero.ReadFile(a.FS, a.Absolute(name))
}

// renderedHeader is the first line of rendered files.
const renderedHeader = "# Written by 'operon render'.\n"

// writeRendered writes objects to a directory, or compares them with its files.
func (a *app) writeRendered(ctx context.Context, root, dir string, check bool, objects []*kube.Object) error {
	rel, err := filepath.Rel(root, a.Absolute(dir))
	if err != nil {
		return err
	}
	dir = filepath.ToSlash(rel)
	if action.IsOutside(dir) {
		return fmt.Errorf("%s is outside of the project", dir)
	}
	config := a.actions()
	config.DryRun = config.DryRun || check
	return a.runAt(ctx, config, root, func(p *action.Project) error {
		result, err := p.Update(ctx, func(tree *worktree.Tree) error { return replaceRendered(tree, dir, objects) })
		if check {
			return a.print.Checked(result, err, fmt.Sprintf("if the operator is to make these objects, run '%s render' with --output-dir %s", a.program, dir))
		}
		return a.print.Generated(result, err)
	})
}

// replaceRendered writes objects to a directory, and removes files of earlier ones.
func replaceRendered(tree *worktree.Tree, dir string, objects []*kube.Object) error {
	names := map[string]bool{}
	for _, o := range objects {
		text, err := manifest.Encode(o.Object)
		if err != nil {
			return err
		}
		name := dir + "/" + strings.ToLower(o.GetKind()) + "-" + strings.ReplaceAll(o.GetName(), ":", "_") + ".yaml"
		if names[name] {
			name = strings.TrimSuffix(name, ".yaml") + "-" + o.GetNamespace() + ".yaml"
		}
		names[name] = true
		tree.WriteFile(name, append([]byte(renderedHeader), text...), worktree.FileMode)
	}
	existing, err := tree.Walk(dir, nil)
	if err != nil {
		return err
	}
	for _, name := range existing {
		if names[name] {
			continue
		}
		content, err := tree.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.HasPrefix(content, []byte(renderedHeader)) {
			tree.Remove(name)
		}
	}
	return nil
}
