package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/deploy"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// deployedOptions are the flags of deploy and undeploy.
type deployedOptions struct {
	clusterOptions
	dir string
}

func (o *deployedOptions) addTo(a *app, c *cobra.Command) {
	o.add(c)
	c.Flags().StringVar(&o.dir, "kustomize-dir", "", "`directory` of the project with the kustomization to build (default: "+project.DefaultDir+")")
	a.addAllowRemote(c.Flags())
}

// deployOptions are the flags of deploy.
type deployOptions struct {
	deployedOptions
	image                 string
	wait, prune, conflict bool
}

func newDeploy(a *app) *cobra.Command {
	o := &deployOptions{}
	c := &cobra.Command{
		Use:   "deploy",
		Short: "Deploy the operator to a cluster, without OLM",
		Long: `Build the kustomization in config/default and apply it to the cluster of the kubeconfig, server-side.
--image replaces the manager's image in memory; no file of the project changes.

The server checks every object first, and if it would reject one, nothing changes. That includes fields
that someone else has set to another value, unless you pass --force-conflicts. The command continues
what 'make deploy' applied.

With --wait, the command waits until the manager is available and its webhooks can be called, stops
early when waiting longer can't help, and prints the causes of a failure. With --dry-run, it prints
what would change in the cluster, as the server sees it, without the values of Secrets.`,
		Example: fmt.Sprintf(`  # Deploy an image and wait until it runs:
  %[1]s deploy --image registry.example.com/memcached-operator:v0.0.1 --wait

  # Show what a new version would change in the cluster:
  %[1]s deploy --image registry.example.com/memcached-operator:v0.0.2 --prune --dry-run

  # Another kustomization, in another cluster:
  %[1]s deploy --kustomize-dir config/production --kubeconfig ~/.kube/production`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.deploy(c.Context(), o) },
	}
	o.addTo(a, c)
	flags := c.Flags()
	flags.StringVar(&o.image, "image", "", "`image` of the manager (default: from config/manager)")
	flags.BoolVar(&o.wait, "wait", false, "wait until the manager is available and its webhooks can be called")
	flags.BoolVar(&o.prune, "prune", false, "delete what was deployed before and is no longer in the manifests, except for CRDs, namespaces and volumes")
	flags.BoolVar(&o.conflict, "force-conflicts", false, "take over fields and objects of other managers")
	return c
}

func (a *app) deploy(ctx context.Context, o *deployOptions) error {
	findings := o.check()
	if o.image != "" {
		findings = append(findings, project.CheckImage("--image", o.image)...)
	}
	if err := findings.Err(); err != nil {
		return err
	}
	ctx, stop := o.limited(ctx)
	defer stop()
	target, err := a.deployTarget(ctx, &o.deployedOptions, o.image)
	if err != nil {
		return err
	}
	if err := deploy.CheckImages(target.Objects, o.image); err != nil {
		return err
	}
	connect := a.connect
	if o.wait && !a.dryRun {
		connect = a.connectWithNodes // simulated pods say nothing about the manager
	}
	if target.Client, err = connect(ctx, o.clusterChoice); err != nil {
		return err
	}
	options := deploy.Options{Target: *target, Wait: o.wait, Prune: o.prune, ForceConflicts: o.conflict, DryRun: a.dryRun}
	var result *deploy.Result
	err = runOperator(ctx, a.print, &options.Reporter, func() (err error) {
		result, err = deploy.Deploy(ctx, options)
		return err
	})
	if err != nil {
		return err
	}
	if a.dryRun {
		if _, err := fmt.Fprint(a.print.TextOut(), worktree.Diff(result.Changes)); err != nil {
			return err
		}
		a.print.Progressf("%s would be deployed to the namespace %s: %s", target.Project, result.Namespace, counts(result))
		return nil
	}
	a.print.Progressf("%s is deployed to the namespace %s: %s", target.Project, result.Namespace, counts(result))
	if !o.wait {
		a.print.Nextf("'kubectl --namespace %s get pods' shows the manager; with --wait, the command waits for it", result.Namespace)
	}
	return nil
}

// counts describes how many objects are changed.
func counts(r *deploy.Result) string {
	text := fmt.Sprintf("%d created, %d configured, %d unchanged", r.Created, r.Configured, r.Unchanged)
	if r.Pruned > 0 {
		text += fmt.Sprintf(", %d pruned", r.Pruned)
	}
	return text
}

// deployTarget builds the manifests of the project, with an image unless that is empty. The target has no client.
func (a *app) deployTarget(ctx context.Context, o *deployedOptions, image string) (*deploy.Target, error) {
	root, err := a.intactProject()
	if err != nil {
		return nil, err
	}
	config, err := project.Load(a.FS, root, a.Facts()...)
	if err != nil {
		return nil, err
	}
	dir, err := a.kustomizeDir(root, o.dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	if image != "" {
		name, content, err := manifest.SetImage(ctx, root, project.ManagerDir, "controller", image, nil)
		if err != nil {
			return nil, fmt.Errorf("--image: %w", err)
		}
		files[name] = content
	}
	data, err := a.remote().Build(ctx, root, filepath.FromSlash(dir), files)
	if err != nil {
		return nil, err
	}
	objects, err := kube.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("reading the output of the kustomization %s: %w", dir, err)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("the kustomization %s has no objects", dir)
	}
	return &deploy.Target{Project: config.ProjectName(), Objects: objects}, nil
}

// kustomizeDir returns the directory of the kustomization relative to the root, given the value of --kustomize-dir.
func (a *app) kustomizeDir(root, given string) (string, error) {
	dir, fix := project.DefaultDir, "; name the directory of your kustomization with --kustomize-dir"
	if given != "" {
		rel, err := a.at(root).FromRoot(given)
		if err != nil || action.IsOutside(rel) {
			return "", diag.Findings{{Field: "--kustomize-dir", Value: given, Problem: "must be a directory of the project"}}
		}
		dir, fix = rel, ""
	}
	for _, name := range manifest.KustomizationFiles() {
		if isFile, err := afero.Exists(a.FS, filepath.Join(root, filepath.FromSlash(dir), name)); err == nil && isFile {
			return dir, nil
		}
	}
	return "", errors.New(dir + " has no " + project.KustomizationFile + fix)
}
