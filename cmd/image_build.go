package cmd

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/pkg/ansibletool"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/operatorimage"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// imageBuildOptions are the flags of image build.
type imageBuildOptions struct {
	images.Target
	operatorimage.Options
	labels []string
}

func newImageBuild(a *app) *cobra.Command {
	var o imageBuildOptions
	c := &cobra.Command{
		Use:   "build",
		Short: "Build the manager's image",
		Long: `Build an image of the manager, without Docker, and push it or write it to a file or directory. The
Dockerfile is not read. The same source gives the same digest on every machine with the same Go
version: all files and the image have the time of SOURCE_DATE_EPOCH, or of 1970.

Go projects: the manager is compiled. It is linked statically and contains no local paths; set GOFLAGS for more flags of 'go
build'. It is one layer, /manager, and runs as user 65532. A second layer lists its modules as an
SPDX document: /` + image.SBOMFile + `. If the project has a watches.yaml, a third layer
contains it and the charts that it names, below /, the working directory.

Helm projects: the image contains the program operon-runtime as /usr/local/bin/helm-operator, and
watches.yaml and the charts in /opt/helm. It runs as user 1001 of group 0, or as any other user of
that group. The program is the one that operon uses itself, if it is for the platform and linked
statically. Otherwise it is built from the module of this version of Operon if the go command is
installed; or name a program with --runtime. With --runtime base, it comes from the base image.

Ansible projects: the image contains the program operon-runtime as /usr/local/bin/ansible-operator,
found as for Helm projects, and in /opt/ansible watches.yaml, roles, playbooks, requirements.yml and
other files that watches.yaml names. The user is the same as for Helm projects. The default base is
operator-sdk's, with Python, Ansible and ansible-runner. If the entry point of the base starts with an
init program such as tini, the image's entry point does, too. The collections that the project contains
in collections/ansible_collections or ansible_collections, or else the ones in requirements.yml, are
added to /opt/ansible/.ansible/collections. ansible-galaxy resolves them on this machine. They are
cached, so that a second build with exact versions needs no network. With --collections base, only
the base image's collections are used.

The layers below the manager hold the certificates of public authorities (Mozilla's list when this
version of Operon was built), a user name, and /tmp. With --base scratch there are no such layers:
that suffices for a manager that only connects to its cluster, but TLS connections to public
services fail without certificates. --base can name any other image: in a registry, an OCI layout or
a tarball.

Images are pushed with the credentials of docker and podman. Several platforms result in one image
index, one platform in a single image.`,
		Example: fmt.Sprintf(`  # For two platforms, to a registry:
  %[1]s image build --image registry.example.com/memcached-operator:v0.0.1 --platform linux/amd64,linux/arm64 --push

  # To a file, for docker load or a site without network:
  %[1]s image build --image memcached-operator:dev --tarball memcached-operator.tar

  # On another base:
  %[1]s image build --image registry.example.com/memcached-operator:v0.0.1 --base gcr.io/distroless/static:nonroot --push`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return o.Within(c, func() error { return a.runImageBuild(c, &o) })
		},
	}
	o.addTo(a, c)
	return c
}

func (o *imageBuildOptions) addTo(a *app, c *cobra.Command) {
	f := c.Flags()
	o.Target.AddTo(f)
	f.StringSliceVar(&o.Platforms, "platform", nil, "comma-separated `platforms` to build for (default: linux/"+runtime.GOARCH+")")
	f.StringVar(&o.Base, "base", "", "base `image`, or scratch for none (default: certificates, a user and /tmp; for Ansible projects operator-sdk's)")
	f.StringSliceVar(&o.Runtimes, "runtime", nil, "operon-runtime `programs` for Helm and Ansible projects, one for each platform, or base for the one in the base image")
	choiceVar(c, &o.Collections, "collections", "", operatorimage.CollectionsOfProject, "collections of Ansible projects: the project's, or only those in the base image", operatorimage.CollectionsOfProject, operatorimage.CollectionsOfBase)
	f.BoolVar(&a.offline, "offline", false, "use only the caches of modules and collections, and fail if some are missing")
	f.StringArrayVar(&o.labels, "label", nil, "`key=value` label of the image; repeat for more")
}

// check completes and validates the flags.
func (o *imageBuildOptions) check(labels map[string]string) diag.Findings {
	findings := append(o.Target.Check(), addLabels(o.labels, labels)...)
	if len(o.Platforms) == 0 {
		o.Platforms = []string{"linux/" + runtime.GOARCH}
	}
	findings = append(findings, images.CheckPlatforms(o.Platforms)...)
	findings = append(findings, checkChoice("--collections", o.Collections, operatorimage.CollectionsOfProject, operatorimage.CollectionsOfBase)...)
	slices.Sort(o.Platforms)
	return findings
}

func (a *app) runImageBuild(c *cobra.Command, o *imageBuildOptions) error {
	root, err := a.intactProject()
	if err != nil {
		return err
	}
	config, err := project.Load(a.FS, root, a.Facts()...)
	if err != nil {
		return err
	}
	labels := operatorimage.Labels(config)
	if findings := append(o.check(labels), images.CheckSource(a.Env, "--base", o.Base)...); len(findings) > 0 {
		return findings
	}
	at, err := a.ImageTime()
	if err != nil {
		return err
	}
	refused := slices.DeleteFunc(refuse(c, config.Facts(), "image build"), func(f diag.Finding) bool { return f.Value == operatorimage.CollectionsOfProject })
	if err := refused.Err(); err != nil {
		return err
	}
	manager, err := a.imageBuilder(root).Manager(config.Facts(), &o.Options)
	if err != nil {
		return err
	}
	if a.dryRun {
		a.print.Progressf("would build %s for %s", manager.Name, strings.Join(o.Platforms, ", "))
		return nil
	}
	ctx, stop := env.UntilInterrupted(c.Context())
	defer stop()
	if err := o.Reachable(ctx, a.print); err != nil {
		return env.Interrupted(ctx, err)
	}
	temp, err := tempdir.New(a.Getenv("TMPDIR"), "image")
	if err != nil {
		return err
	}
	defer func() { _ = temp.Remove() }() // a later command removes what remains
	recipe, err := manager.For(ctx, o.Base, o.Platforms, at, temp.Path)
	if err != nil {
		return env.Interrupted(ctx, err)
	}
	recipe.Labels, recipe.Author = labels, "operon image build"
	return o.Build(ctx, a.print, recipe)
}

// imageBuilder returns what builds the content of the image of a project.
func (a *app) imageBuilder(root string) *operatorimage.Builder {
	return &operatorimage.Builder{
		FS: a.FS, Root: root, Dir: a.Dir, CacheDir: a.CacheDir, Offline: a.offline, Version: buildVersion().Version, Getenv: a.Getenv,
		RuntimeProgram: a.RuntimeProgram, Tool: a.goTool(), Go: a.RunGo, Progressf: a.print.Progressf, Notef: a.print.Notef, Warn: a.print.Warn,
		Galaxy: func(ctx context.Context, dir string, variables []string, out io.Writer, args ...string) error {
			return a.print.Slow("resolving the collections of "+ansibletool.RequirementsFile+" with "+ansibletool.Galaxy, func() error {
				return a.Run(ctx, Command{Dir: dir, Environ: slices.Concat(a.Environ, variables), Out: out, Err: out, Name: ansibletool.Galaxy, Args: args, Tied: true})
			})
		},
	}
}

// addLabels adds flags of the form KEY=VALUE to the labels of an image.
func addLabels(given []string, labels map[string]string) (findings diag.Findings) {
	for _, pair := range given {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			findings.Add("--label", pair, "must be KEY=VALUE, such as org.opencontainers.image.version=1.2.3")
			continue
		}
		labels[key] = value
	}
	return findings
}
