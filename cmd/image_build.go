package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/goenv"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// imageBuildOptions are the flags of image build.
type imageBuildOptions struct {
	targetOptions
	base   string
	labels []string
	// runtimes are programs operon-runtime for platforms, or "base".
	runtimes []string
	// collections is "project" or "base".
	collections string
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
installed; or name a program with --runtime. With --runtime base, it is that of the base image.

Ansible projects: the image contains the program operon-runtime as /usr/local/bin/ansible-operator,
found as for Helm projects, and in /opt/ansible watches.yaml, roles, playbooks, requirements.yml and
other files that watches.yaml names. The user is that of Helm projects. The default base is that of
operator-sdk, with Python, Ansible and ansible-runner. If the entry point of the base starts with an
init program such as tini, so does that of the image. Collections are added to
/opt/ansible/.ansible/collections: those that the project contains in collections/ansible_collections
or ansible_collections, or else those of requirements.yml. ansible-galaxy resolves them on this
machine. They are cached, so that a second build with exact versions needs no network. With
--collections base, only those of the base image are used.

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
			return o.within(c, func() error { return a.runImageBuild(c.Context(), &o) })
		},
	}
	o.addTo(a, c)
	return c
}

func (o *imageBuildOptions) addTo(a *app, c *cobra.Command) {
	f := c.Flags()
	o.targetOptions.addTo(f)
	f.StringSliceVar(&o.platforms, "platform", nil, "comma-separated `platforms` to build for (default: linux/"+runtime.GOARCH+")")
	f.StringVar(&o.base, "base", "", "base `image`, or scratch for none (default: certificates, a user and /tmp; for Ansible projects that of operator-sdk)")
	f.StringSliceVar(&o.runtimes, "runtime", nil, "operon-runtime `programs` for Helm and Ansible projects, one for each platform, or base for that of the base image")
	f.StringVar(&o.collections, "collections", collectionsOfProject, "collections of Ansible projects: those of the project, or only those of the base image")
	completeValues(c, "collections", collectionsOfProject, collectionsOfBase)
	f.BoolVar(&a.offline, "offline", false, "use only the caches of modules and collections, and fail if some are missing")
	f.StringArrayVar(&o.labels, "label", nil, "`key=value` label of the image; repeat for more")
}

// check completes and validates the flags.
func (o *imageBuildOptions) check(labels map[string]string) diag.Findings {
	findings := append(o.targetOptions.check(), addLabels(o.labels, labels)...)
	if len(o.platforms) == 0 {
		o.platforms = []string{"linux/" + runtime.GOARCH}
	}
	findings = append(findings, checkPlatforms(o.platforms)...)
	if values := []string{collectionsOfProject, collectionsOfBase}; !slices.Contains(values, o.collections) {
		findings.Add("--collections", o.collections, "must be "+strings.Join(values, " or "))
	}
	slices.Sort(o.platforms)
	return findings
}

func (a *app) runImageBuild(ctx context.Context, o *imageBuildOptions) error {
	root, err := a.intactProject()
	if err != nil {
		return err
	}
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	config, err := project.Load(a.FS, root)
	if err != nil {
		return err
	}
	labels := map[string]string{}
	if title := config.ProjectName(); title != "" {
		labels["org.opencontainers.image.title"] = title
	}
	if host, _, _ := strings.Cut(config.Repo(), "/"); slices.Contains([]string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"}, host) {
		labels["org.opencontainers.image.source"] = "https://" + config.Repo()
	}
	if findings := append(o.check(labels), a.checkSourceImage("--base", dir, o.base)...); len(findings) > 0 {
		return findings
	}
	at, err := a.imageTime()
	if err != nil {
		return err
	}
	manager, err := a.imageManager(root, config, o)
	if err != nil {
		return err
	}
	if a.dryRun {
		a.progressf("would build %s for %s", manager.name, strings.Join(o.platforms, ", "))
		return nil
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	if err := a.checkTarget(ctx, dir, &o.targetOptions); err != nil {
		return interrupted(ctx, err)
	}
	temp, err := tempdir.New(a.Getenv("TMPDIR"), "image")
	if err != nil {
		return err
	}
	defer func() { _ = temp.Remove() }() // a later command removes what remains
	if manager.prepare != nil {
		if err := manager.prepare(ctx); err != nil {
			return interrupted(ctx, err)
		}
	}
	recipe := manager.recipe
	recipe.Base, recipe.User, recipe.Labels, recipe.Created, recipe.Author = o.base, manager.user.String(), labels, at, "operon image build"
	var base []*image.Layer
	if o.base == "" {
		layer, err := image.BaseLayer(manager.user, at)
		if err != nil {
			return err
		}
		recipe.Base, base = image.Scratch, []*image.Layer{layer}
	}
	for i, platform := range o.platforms {
		layers, err := manager.layers(ctx, platform, filepath.Join(temp.Path, strconv.Itoa(i)), at)
		if err != nil {
			return interrupted(ctx, err)
		}
		recipe.Parts = append(recipe.Parts, image.Part{Platform: platform, Layers: append(slices.Clone(base), layers...)})
	}
	return a.buildImage(ctx, dir, recipe, &o.targetOptions)
}

// An imageManager is the content of a manager's image.
type imageManager struct {
	// name describes the manager for progress.
	name string
	user image.User
	// recipe has the start of a container.
	recipe image.Recipe
	// prepare, if not nil, completes the content before the first call of layers.
	prepare func(ctx context.Context) error
	// layers returns the layers above the base for a platform. Temp is the path of a new temporary file or directory.
	layers func(ctx context.Context, platform, temp string, at time.Time) ([]*image.Layer, error)
}

// imageManager returns the content of the image for the layout of a project.
func (a *app) imageManager(root string, config *project.Config, o *imageBuildOptions) (imageManager, error) {
	var findings diag.Findings
	if !config.IsAnsible() {
		if o.collections != collectionsOfProject {
			findings.Add("--collections", o.collections, "is only supported in Ansible projects")
		}
		if len(o.runtimes) > 0 && !config.IsHelm() {
			findings.Add("--runtime", strings.Join(o.runtimes, ","), "is only supported in Helm and Ansible projects")
		}
	}
	if err := findings.Err(); err != nil {
		return imageManager{}, err
	}
	switch {
	case config.IsAnsible():
		return a.ansibleManager(root, o)
	case config.IsHelm():
		return a.helmManager(root, o)
	}
	main, err := local.MainPackage(root)
	if err != nil {
		return imageManager{}, err
	}
	charts, err := a.projectCharts(root)
	return imageManager{
		name: main, user: image.NonRoot(), recipe: image.Recipe{Entrypoint: []string{"/manager"}, Dir: "/"},
		layers: func(ctx context.Context, platform, binary string, at time.Time) ([]*image.Layer, error) {
			if err := a.compile(ctx, root, main, platform, binary); err != nil {
				return nil, err
			}
			file := image.File{Name: "manager", Mode: 0o555, Owner: image.NonRoot().ID, Group: image.NonRoot().GID}
			layers, err := image.ProgramLayers(a.FS, binary, file, "the manager", "operon", at)
			if err != nil {
				return nil, fmt.Errorf("the manager for %s: %w", platform, err)
			}
			if len(charts) == 0 {
				return layers, nil
			}
			content, err := image.NewLayer("the watches and charts", charts, at)
			return append(layers, content), err
		},
	}, err
}

// goVariables returns the environment variables of builds for a platform.
func (a *app) goVariables(platform string) []string {
	variables := image.GoVariables(platform)
	if a.offline {
		variables = append(variables, "GOPROXY=off")
	}
	return variables
}

// compile builds the manager for a platform.
func (a *app) compile(ctx context.Context, root, pkg, platform, binary string) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", binary}
	if !strings.Contains(a.Getenv("GOFLAGS"), "-ldflags") {
		args = append(args, "-ldflags=-s -w") // debug information is half of the image
	}
	a.progressf("compiling %s for %s", pkg, platform)
	var output bytes.Buffer
	err := a.runGo(ctx, root, a.goVariables(platform), &output, &output, append(args, pkg)...)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, codegen.ErrGoMissing), is[*goenv.Error](err):
		return err
	}
	text := strings.TrimSpace(output.String())
	if text == "" {
		text = diag.Cause(err).Error()
	}
	return fmt.Errorf("the manager does not build for %s: go build %s:\n%s", platform, pkg, text)
}
