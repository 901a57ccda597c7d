package cmd

import (
	"context"
	"errors"
	"io"
	"path"
	"strings"
	"time"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/watches"
)

// helmProgram is the path of operon-runtime in the images of Helm operators, as in those of operator-sdk.
const helmProgram = "/usr/local/bin/helm-operator"

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
	fromBase := o.hasRuntimeOfBase()
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
			layers, err := a.runtimeLayers(ctx, o.runtimes, helmProgram, platform, temp, at)
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
