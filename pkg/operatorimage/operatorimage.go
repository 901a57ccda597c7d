// Package operatorimage builds the content of the image of an operator's manager, without Docker: the compiled program of a Go project, or
// operon-runtime with the files that it runs.
package operatorimage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
)

// RuntimePackage is the package of operon-runtime.
const RuntimePackage = "github.com/operon-sdk/operon/cmd/" + helmchart.Program

// A Builder builds the content of images from a project. The command line provides its functions.
type Builder struct {
	FS afero.Fs
	// Root is the directory of the project, Dir the one that relative paths in options are relative to.
	Root, Dir string
	// CacheDir is the directory for caches, or empty for none.
	CacheDir string
	// Offline forbids downloads. Version is the version of Operon.
	Offline bool
	Version string
	Getenv  func(key string) string
	// RuntimeProgram returns the path of operon-runtime.
	RuntimeProgram func() (string, error)
	// Tool compiles the manager. Go runs the go command, and Galaxy ansible-galaxy, in a directory and with more variables.
	Tool   gotool.Go
	Go     func(ctx context.Context, dir string, variables []string, out, errOut io.Writer, args ...string) error
	Galaxy func(ctx context.Context, dir string, variables []string, out io.Writer, args ...string) error
	// Progressf, Notef and Warn report what happens.
	Progressf, Notef func(format string, args ...any)
	Warn             func(warnings ...diag.Finding)
}

// Options are the options of an image.
type Options struct {
	// Base is the base image; empty means the default one, which Build sets for layouts whose program needs more than certificates.
	Base string
	// Runtimes are programs operon-runtime for platforms, or RuntimeOfBase.
	Runtimes []string
	// Collections is CollectionsOfProject or CollectionsOfBase.
	Collections string
}

// A Manager is the content of a manager's image.
type Manager struct {
	// Name describes the manager for progress.
	Name string
	User image.User
	// Recipe has the start of a container.
	Recipe image.Recipe
	// Prepare, if not nil, completes the content before the first call of Layers.
	Prepare func(ctx context.Context) error
	// Layers returns the layers above the base for a platform. Temp is the path of a new temporary file or directory.
	Layers func(ctx context.Context, platform, temp string, at time.Time) ([]*image.Layer, error)
}

// Labels returns the labels that describe a project: its name, and its repository if that is on a well-known host.
func Labels(config *project.Config) map[string]string {
	labels := map[string]string{}
	if title := config.ProjectName(); title != "" {
		labels["org.opencontainers.image.title"] = title
	}
	if host, _, _ := strings.Cut(config.Repo(), "/"); slices.Contains([]string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org"}, host) {
		labels["org.opencontainers.image.source"] = "https://" + config.Repo()
	}
	return labels
}

// For returns the recipe of the image for platforms, with the content of the manager on a base image. An empty base is a layer of
// certificates. at is the time of all files. The layers read files in temp, a
// new directory.
func (m Manager) For(ctx context.Context, base string, platforms []string, at time.Time, temp string) (image.Recipe, error) {
	recipe := m.Recipe
	recipe.Base, recipe.User, recipe.Created = base, m.User.String(), at
	if m.Prepare != nil {
		if err := m.Prepare(ctx); err != nil {
			return recipe, err
		}
	}
	var below []*image.Layer
	if base == "" {
		layer, err := image.BaseLayer(m.User, at)
		if err != nil {
			return recipe, err
		}
		recipe.Base, below = image.Scratch, []*image.Layer{layer}
	}
	for i, platform := range platforms {
		layers, err := m.Layers(ctx, platform, filepath.Join(temp, strconv.Itoa(i)), at)
		if err != nil {
			return recipe, err
		}
		recipe.Parts = append(recipe.Parts, image.Part{Platform: platform, Layers: append(slices.Clone(below), layers...)})
	}
	return recipe, nil
}

// Manager returns the content of the image for the layout of the project.
func (b *Builder) Manager(facts *layout.Facts, o *Options) (Manager, error) {
	switch runtime := facts.Runtime; {
	case runtime == nil:
		return b.goManager()
	case runtime.Ansible:
		return b.ansibleManager(runtime, o)
	default:
		return b.runtimeManager(facts, o)
	}
}

// absolute returns a path of an option as an absolute path.
func (b *Builder) absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(b.Dir, name)
}

// goManager returns the content of the image of a Go project.
func (b *Builder) goManager() (Manager, error) {
	main, err := local.MainPackage(b.Root)
	if err != nil {
		return Manager{}, err
	}
	charts, err := b.projectCharts()
	return Manager{
		Name: main, User: image.NonRoot(), Recipe: image.Recipe{Entrypoint: []string{"/manager"}, Dir: "/"},
		Layers: func(ctx context.Context, platform, binary string, at time.Time) ([]*image.Layer, error) {
			if err := b.compile(ctx, main, platform, binary); err != nil {
				return nil, err
			}
			file := image.File{Name: "manager", Mode: 0o555, Owner: image.NonRoot().ID, Group: image.NonRoot().GID}
			layers, err := image.ProgramLayers(b.FS, binary, file, "the manager", "operon", at)
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

// compile builds the manager for a platform.
func (b *Builder) compile(ctx context.Context, pkg, platform, binary string) error {
	args := []string{"-trimpath", "-buildvcs=false", "-o", binary}
	if !strings.Contains(b.Getenv("GOFLAGS"), "-ldflags") {
		args = append(args, "-ldflags=-s -w") // debug information is half of the image
	}
	b.Progressf("compiling %s for %s", pkg, platform)
	err := local.Compile(ctx, b.Tool, b.Root, image.GoVariables(platform), args, pkg, "compiling "+pkg+" for "+platform)
	if failed, ok := errors.AsType[*gotool.Error](err); ok {
		return diag.Lines(fmt.Sprintf("the manager does not build for %s: go build %s:", platform, pkg), local.CompilerErrors(failed.Text, err))
	}
	return err
}
