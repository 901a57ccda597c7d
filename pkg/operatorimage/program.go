package operatorimage

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/image"
)

// RuntimeOfBase is the value of --runtime for the program of the base image.
const RuntimeOfBase = "base"

// hasRuntimeOfBase reports whether the image keeps the program of its base.
func (o *Options) hasRuntimeOfBase() bool {
	return slices.Equal(o.Runtimes, []string{RuntimeOfBase})
}

// runtimeLayers returns the layers with operon-runtime as a program, and its SBOM. Programs are the values of --runtime, temp is the path
// of a new temporary directory.
func (b *Builder) runtimeLayers(ctx context.Context, programs []string, name, platform, temp string, at time.Time) ([]*image.Layer, error) {
	program, err := b.findRuntimeFor(ctx, programs, platform, temp)
	if err != nil {
		return nil, err
	}
	file := image.File{Name: strings.TrimPrefix(name, "/"), Mode: 0o755}
	return image.ProgramLayers(b.FS, program, file, "operon-runtime", "operon", at)
}

// findRuntimeFor returns a statically linked operon-runtime for a platform: the one of the given programs or, if there are none, the one
// that operon uses itself or one that it builds from its module, in the directory temp.
func (b *Builder) findRuntimeFor(ctx context.Context, programs []string, platform, temp string) (string, error) {
	given := len(programs) > 0
	if !given {
		own, err := b.RuntimeProgram()
		if err != nil {
			return "", err
		}
		programs = []string{own}
	}
	var reasons []string
	for _, program := range programs {
		if given {
			program = b.absolute(program)
		}
		problem, err := RuntimeProblem(program, platform)
		if err != nil {
			return "", fmt.Errorf("the program %s: %w", filepath.Base(program), err)
		}
		if problem == "" {
			return program, nil
		}
		reasons = append(reasons, fmt.Sprintf("%s %s", filepath.Base(program), problem))
	}
	missing := fmt.Errorf("operon-runtime for %s not found: %s", platform, strings.Join(reasons, ", "))
	if given {
		return "", fmt.Errorf("%w; add one for this platform to --runtime", missing)
	}
	version := b.Version
	if strings.HasSuffix(version, "-dev") {
		return "", fmt.Errorf("%w, and this development build of Operon has no module to build it from; "+
			"build it in the source of Operon ('%s go build -o FILE ./cmd/operon-runtime') and pass --runtime FILE",
			missing, strings.Join(image.GoVariables(platform), " "))
	}
	program, err := b.InstallRuntime(ctx, version, platform, temp)
	if errors.Is(err, codegen.ErrGoMissing) {
		return "", fmt.Errorf("%w, and there is no go command to build it with; pass --runtime FILE, or --base IMAGE --runtime base with the runtime's image of this release", missing)
	}
	return program, err
}

// RuntimeProblem returns why a program is not a static operon-runtime for a platform, or "".
func RuntimeProblem(program, platform string) (string, error) {
	info, err := buildinfo.ReadFile(program)
	if os.IsNotExist(err) {
		return "", diag.Cause(err)
	}
	if err != nil {
		return "is not a Go program", nil
	}
	if info.Path != RuntimePackage {
		return "is not operon-runtime", nil
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	parts := strings.Split(platform, "/")
	switch own := settings["GOOS"] + "/" + settings["GOARCH"]; {
	case own != parts[0]+"/"+parts[1]:
		return "is for " + own, nil
	case settings["CGO_ENABLED"] != "0":
		return "is not linked statically", nil
	}
	return "", nil
}

// InstallRuntime builds operon-runtime for a platform from the module of a version, and returns its path in the directory temp.
func (b *Builder) InstallRuntime(ctx context.Context, version, platform, temp string) (string, error) {
	if err := os.Mkdir(temp, 0o700); err != nil {
		return "", err
	}
	var cache bytes.Buffer
	if err := b.Go(ctx, temp, nil, &cache, nil, "env", "GOMODCACHE"); err != nil {
		return "", err
	}
	// "go install" writes programs for other platforms only below GOPATH, which also holds the module cache.
	variables := append(b.goVariables(platform), "GOPATH="+temp, "GOMODCACHE="+strings.TrimSpace(cache.String()), "GOBIN=", "GOWORK=off")
	b.Progressf("building operon-runtime %s for %s", version, platform)
	var output bytes.Buffer
	err := b.Go(ctx, temp, variables, &output, &output, "install", "-trimpath", "-ldflags=-s -w", RuntimePackage+"@"+version)
	if err != nil {
		return "", diag.Finding{
			Problem: fmt.Sprintf("building operon-runtime for %s: go install %s@%s: %v", platform, RuntimePackage, version, diag.Cause(err)),
			Related: diag.Findings{{Problem: strings.TrimSpace(output.String())}}, Err: err,
		}
	}
	for _, dir := range []string{"bin", filepath.Join("bin", strings.Join(strings.Split(platform, "/")[:2], "_"))} {
		program := filepath.Join(temp, dir, helmchart.Program)
		if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
			return program, err
		}
	}
	return "", fmt.Errorf("building operon-runtime for %s: go install wrote no program", platform)
}

// goVariables returns the environment variables of installations for a platform.
func (b *Builder) goVariables(platform string) []string {
	variables := image.GoVariables(platform)
	if b.Offline {
		variables = append(variables, "GOPROXY=off")
	}
	return variables
}
