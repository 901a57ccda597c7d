package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// stageOptions are the flags of commands that run the operator in a control plane of its own and look at what it does.
type stageOptions struct {
	subjectOptions

	files     []string
	namespace string
	timeout   time.Duration
	yes       bool
}

// addTo adds the flags to a command. files says what -f names, and timeout what --timeout limits.
func (o *stageOptions) addTo(a *app, c *cobra.Command, files, timeout string) {
	f := c.Flags()
	f.StringSliceVarP(&o.files, "filename", "f", nil, "`file` or directory with "+files+"; - is the standard input; can be repeated")
	f.StringVarP(&o.namespace, "namespace", "n", "", "`namespace` of objects that don't name one, and the only one that a namespaced manager watches (default: default)")
	f.DurationVar(&o.timeout, "timeout", time.Minute, timeout)
	f.BoolVarP(&o.yes, "yes", "y", false, "run a project's code for the first time without asking")
	o.subjectOptions.addTo(f)
	a.addAllowRemote(f)
}

func (o *stageOptions) checkFlags() error {
	findings := o.subjectOptions.check(o.files)
	if o.namespace != "" {
		findings = append(findings, checkNamespace("--namespace", o.namespace)...)
	}
	return findings.Err()
}

// stageRoot returns the directory that the operator runs in.
func (a *app) stageRoot(o *stageOptions) (string, error) {
	if len(o.manifests) > 0 {
		return a.Dir, nil
	}
	return a.ProjectRoot()
}

// onStage runs the operator in a control plane of its own, until the Drive that use sets has returned.
func (a *app) onStage(ctx context.Context, root string, o *stageOptions, use func(*local.Options)) error {
	options, check, err := a.stagedOperator(ctx, root, &o.subjectOptions)
	if err != nil {
		return err
	}
	if len(o.files) > 0 {
		if options.SampleObjects, err = a.readObjects(root, options.Build, o.files); err != nil {
			return err
		}
	}
	if o.manager == "" {
		if err := a.prepareLocal(ctx, &options, check, o.yes); err != nil {
			return err
		}
	}
	options.Name, options.Namespace, options.ControlPlane = fmt.Sprintf("stage-%d", os.Getpid()), o.namespace, local.PlaneEmbedded
	options.Webhooks, options.Log = true, &local.LogWriter{Out: io.Discard}
	use(&options)
	return env.Interrupted(ctx, local.Run(ctx, options))
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

// readObjects reads the objects of files, directories and the standard input. build builds a kustomization in a directory of the project.
func (a *app) readObjects(root string, build func(dir string) ([]byte, error), names []string) (objects []*kube.Object, err error) {
	for _, name := range names {
		more, err := a.readNamed(root, build, name)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	if len(objects) == 0 {
		return nil, errors.New("the files contain no objects")
	}
	return objects, nil
}

func (a *app) readNamed(root string, build func(dir string) ([]byte, error), name string) ([]*kube.Object, error) {
	if name == "-" {
		return kube.DecodeFiles([]string{name}, func(string) ([]byte, error) { return io.ReadAll(a.In) })
	}
	read := func(file string) ([]byte, error) { return afero.ReadFile(a.FS, a.Absolute(file)) }
	full := a.Absolute(name)
	if isDir, err := afero.IsDir(a.FS, full); err != nil || !isDir {
		return kube.DecodeFiles([]string{name}, read)
	}
	if exists, err := afero.Exists(a.FS, filepath.Join(full, "kustomization.yaml")); err == nil && exists {
		dir, err := filepath.Rel(root, full)
		if err != nil {
			dir = full
		}
		data, err := build(dir)
		if err != nil {
			return nil, err
		}
		return kube.DecodeFiles([]string{name}, func(string) ([]byte, error) { return data, nil })
	}
	files, err := a.manifestsIn(name)
	if err != nil {
		return nil, err
	}
	return kube.DecodeFiles(files, read)
}

// manifestsIn returns the YAML files in a directory.
func (a *app) manifestsIn(name string) ([]string, error) {
	files, err := afero.Glob(a.FS, filepath.Join(a.Absolute(name), "*.y*ml"))
	for i, file := range files {
		files[i] = filepath.Join(name, filepath.Base(file))
	}
	return files, err
}
