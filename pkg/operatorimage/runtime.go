package operatorimage

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
)

// userOf returns the user of the manager in images of a runtime, which is the one in images of operator-sdk. OpenShift replaces the ID,
// but not the group.
func userOf(r *layout.Runtime) image.User {
	return image.User{Name: r.User, ID: 1001, GID: 0, Home: r.Home}
}

// runtimeManager returns the content of the image of a project whose files operon-runtime reads.
func (b *Builder) runtimeManager(facts *layout.Facts, o *Options) (Manager, error) {
	runtime := facts.Runtime
	user := userOf(runtime)
	home := strings.TrimPrefix(user.Home, "/")
	files := []image.File{user.HomeDir()}
	var problems diag.Findings
	for _, name := range runtime.Files {
		more, findings := image.ReadFiles(b.FS, b.Root, name, path.Join(home, name), diag.Position{})
		files, problems = append(files, more...), append(problems, findings...)
	}
	if len(problems) == 0 && facts.Charts {
		missing, err := missingCharts(files, home)
		if err != nil {
			return Manager{}, err
		}
		problems = missing
	}
	fromBase := o.hasRuntimeOfBase()
	if fromBase && o.Base == "" {
		problems = append(problems, diag.Finding{Field: "--runtime", Value: RuntimeOfBase, Problem: "requires --base with an image that contains " + runtime.Program})
	}
	m := Manager{
		Name: runtime.Sources + " of " + watches.FileName, User: user,
		Recipe: image.Recipe{
			Entrypoint: []string{runtime.Program, "run", "--watches-file=./" + watches.FileName}, Dir: user.Home, Env: []string{"HOME=" + user.Home},
		},
		Layers: func(ctx context.Context, platform, temp string, at time.Time) ([]*image.Layer, error) {
			content, err := image.NewLayer("the watches and "+strings.TrimPrefix(runtime.Sources, "the "), files, at)
			if err != nil || fromBase {
				return []*image.Layer{content}, err
			}
			layers, err := b.runtimeLayers(ctx, o.Runtimes, runtime.Program, platform, temp, at)
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
