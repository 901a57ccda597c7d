package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/stage"
	"github.com/operon-sdk/operon/pkg/worktree"
)

type renderOptions struct {
	stageOptions

	outputDir, check string
	output           string
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
			if err := o.checkFlags(); err != nil {
				return err
			}
			return a.render(c.Context(), o)
		},
	}
	f := c.Flags()
	o.addTo(a, c, "custom resources and what they need", "how long to wait until nothing changes")
	f.StringVar(&o.outputDir, "output-dir", "", "`directory` of the project to write the objects to, one file per object; files of other objects are removed")
	f.StringVar(&o.check, "check", "", "`directory` to compare with; exit with 1 and print a diff if the objects are others")
	choiceVar(c, &o.output, "output", "o", "yaml", "format of the objects that are printed", "yaml", "json")
	return c
}

func (a *app) render(ctx context.Context, o *renderOptions) error {
	root, err := a.stageRoot(&o.stageOptions)
	if err != nil {
		return err
	}
	ctx, stop := env.UntilInterrupted(ctx)
	defer stop()
	var rendered []*kube.Object
	err = a.onStage(ctx, root, &o.stageOptions, func(options *local.Options) {
		options.Drive = func(ctx context.Context, s *local.Session) (err error) {
			a.print.Progressf("waiting until nothing changes")
			rendered, err = stage.Render(ctx, stage.RenderOptions{
				Client: s.Client, Requests: s.Requests, Busy: s.Busy, Retries: s.Retries, Objects: s.Samples, Namespace: s.Namespace,
				Unwatched: unwatched(options, s, s.Samples), Timeout: o.timeout, Now: a.Now,
			})
			return err
		}
	})
	if refused, ok := errors.AsType[*stage.ApplyError](err); ok {
		if place := a.placeOf(root, o.files)(refused.Object, kube.RejectedField(refused.Err)); place.File != "" {
			err = fmt.Errorf("%s: %w", place, err)
		}
	}
	if err != nil {
		return err
	}
	if dir := o.outputDir + o.check; dir != "" {
		return a.writeRendered(ctx, root, dir, o.check != "", rendered)
	}
	return a.print.Objects(rendered, o.output)
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
