package cmd

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
)

const (
	// helmProgram is the path of operon-runtime in the images of Helm operators, as in those of operator-sdk.
	helmProgram = "/usr/local/bin/helm-operator"
	// runtimeOfBase is the value of --runtime for the program of the base image.
	runtimeOfBase = "base"
)

// helmUser is the user of Helm operators in images of operator-sdk. OpenShift replaces the ID, but not the group.
func helmUser() image.User { return image.User{Name: "helm", ID: 1001, GID: 0, Home: "/opt/helm"} }

// helmManager returns the content of the image of a Helm project.
func (a *app) helmManager(root string, o *imageBuildOptions) (imageManager, error) {
	user := helmUser()
	home := strings.TrimPrefix(user.Home, "/")
	files := []image.File{user.HomeDir()}
	var problems diag.Findings
	for _, name := range []string{watches.FileName, project.ChartsDir} {
		more, findings := image.ReadFiles(a.FS, root, name, path.Join(home, name), diag.Position{})
		files, problems = append(files, more...), append(problems, findings...)
	}
	if len(problems) == 0 {
		missing, err := missingCharts(files, home)
		if err != nil {
			return imageManager{}, err
		}
		problems = missing
	}
	fromBase := slices.Equal(o.runtimes, []string{runtimeOfBase})
	if fromBase && o.base == "" {
		problems = append(problems, diag.Finding{Field: "--runtime", Value: runtimeOfBase, Problem: "requires --base with an image that contains " + helmProgram})
	}
	m := imageManager{
		name: "the charts of " + watches.FileName, user: user,
		recipe: image.Recipe{
			Entrypoint: []string{helmProgram, "run", "--watches-file=./" + watches.FileName}, Dir: user.Home, Env: []string{"HOME=" + user.Home},
		},
		layers: func(ctx context.Context, platform, temp string, at time.Time) ([]*image.Layer, error) {
			content, err := image.NewLayer("the watches and charts", files, at)
			if err != nil || fromBase {
				return []*image.Layer{content}, err
			}
			program, err := a.findRuntimeFor(ctx, o.runtimes, platform, temp)
			if err != nil {
				return nil, err
			}
			layers, err := image.ProgramLayers(a.FS, program, image.File{Name: strings.TrimPrefix(helmProgram, "/"), Mode: 0o755}, "operon-runtime", "operon", at)
			return append(layers, content), err
		},
	}
	return m, problems.Err()
}

// missingCharts returns the entries of watches.yaml whose chart is not among the files of an image. The operator would not start.
func missingCharts(files []image.File, home string) (diag.Findings, error) {
	names := map[string]image.File{}
	for _, file := range files {
		names[file.Name] = file
	}
	r, err := names[path.Join(home, watches.FileName)].Open()
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	entries, err := watches.Parse(content)
	if err != nil {
		return nil, err
	}
	var findings diag.Findings
	for _, w := range entries {
		dir := path.Join("/", home, w.Chart)
		if path.IsAbs(w.Chart) {
			dir = path.Clean(w.Chart)
		}
		if _, ok := names[strings.TrimPrefix(dir, "/")+"/Chart.yaml"]; !ok {
			findings.Addf(w.Position, "chart %q: the image would have no such chart; it contains %s and the charts in %s", w.Chart, watches.FileName, project.ChartsDir)
		}
	}
	return findings, nil
}

// findRuntimeFor returns a statically linked operon-runtime for a platform: the one of the given programs or, if there are none, the one
// that operon uses itself or one that it builds from its module, in the directory temp.
func (a *app) findRuntimeFor(ctx context.Context, programs []string, platform, temp string) (string, error) {
	given := len(programs) > 0
	if !given {
		own, err := a.runtimeProgram()
		if err != nil {
			return "", err
		}
		programs = []string{own}
	}
	var reasons []string
	for _, program := range programs {
		if given {
			program = absolute(a.Dir, program)
		}
		problem, err := runtimeProblem(program, platform)
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
	version := buildVersion().Version
	if strings.HasSuffix(version, "-dev") {
		return "", fmt.Errorf("%w, and this development build of Operon has no module to build it from; "+
			"build it in the source of Operon ('%s go build -o FILE ./cmd/operon-runtime') and give --runtime FILE",
			missing, strings.Join(image.GoVariables(platform), " "))
	}
	program, err := a.installRuntime(ctx, version, platform, temp)
	if errors.Is(err, codegen.ErrGoMissing) {
		return "", fmt.Errorf("%w, and there is no go command to build it with; give --runtime FILE, or --base IMAGE --runtime base with the runtime's image of this release", missing)
	}
	return program, err
}

// runtimeProblem returns why a program is not a static operon-runtime for a platform, or "".
func runtimeProblem(program, platform string) (string, error) {
	info, err := buildinfo.ReadFile(program)
	if os.IsNotExist(err) {
		return "", diag.Cause(err)
	}
	if err != nil {
		return "is not a Go program", nil
	}
	if info.Path != runtimePackage {
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

// installRuntime builds operon-runtime for a platform from the module of a version, and returns its path in the directory temp.
func (a *app) installRuntime(ctx context.Context, version, platform, temp string) (string, error) {
	if err := os.Mkdir(temp, 0o700); err != nil {
		return "", err
	}
	var cache bytes.Buffer
	if err := a.runGo(ctx, temp, nil, &cache, nil, "env", "GOMODCACHE"); err != nil {
		return "", err
	}
	// "go install" writes programs for other platforms only below GOPATH, which is also that of the module cache.
	variables := append(image.GoVariables(platform), "GOPATH="+temp, "GOMODCACHE="+strings.TrimSpace(cache.String()), "GOBIN=", "GOWORK=off")
	a.progressf("building operon-runtime %s for %s", version, platform)
	var output bytes.Buffer
	err := a.runGo(ctx, temp, variables, &output, &output, "install", "-trimpath", "-ldflags=-s -w", runtimePackage+"@"+version)
	if err != nil {
		return "", fmt.Errorf("building operon-runtime for %s: go install %s@%s: %w\n%s", platform, runtimePackage, version, diag.Cause(err), strings.TrimSpace(output.String()))
	}
	for _, dir := range []string{"bin", filepath.Join("bin", strings.Join(strings.Split(platform, "/")[:2], "_"))} {
		program := filepath.Join(temp, dir, helmchart.Program)
		if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
			return program, err
		}
	}
	return "", fmt.Errorf("building operon-runtime for %s: go install wrote no program", platform)
}
