package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/registry"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// Fetch fetches a chart and its dependencies. It uses repositories, caches and credentials of the user's Helm
// configuration, which the HELM_* variables locate; nothing in it is changed. Registries also use docker's credentials.
//
// HTTP without TLS is used for URLs that the user wrote with http:// (in the request, in repositories.yaml, or as the
// repository of a dependency in the directory of a chart), and for registries at a loopback address that do not support TLS.
func Fetch(ctx context.Context, request helmchart.FetchRequest) (*helmchart.FetchAnswer, error) {
	if request.Starter != "" {
		return starter(request.Starter)
	}
	f := &fetcher{settings: cli.New(), offline: request.Offline}
	defer f.close()
	return f.fetch(ctx, request)
}

// A fetcher fetches one chart with its dependencies.
type fetcher struct {
	settings *cli.EnvSettings
	offline  bool
	budget   *budget
	warnings []string
	// indexes are the indexes that were downloaded, by URL of the repository.
	indexes map[string]*index
	entries []*entry
	temp    *tempdir.Dir
}

// A fetched chart is one without the dependencies that are not in charts/.
type fetched struct {
	files  helmchart.Files
	digest string
	// dir is the directory that the chart was read from, or empty. The file:// repositories of dependencies are relative to it.
	dir string
}

// warn adds a warning once.
func (f *fetcher) warn(format string, args ...any) {
	warning := fmt.Sprintf(format, args...)
	for _, known := range f.warnings {
		if known == warning {
			return
		}
	}
	f.warnings = append(f.warnings, warning)
}

func (f *fetcher) close() {
	if f.temp != nil {
		_ = f.temp.Remove()
	}
}

func (f *fetcher) fetch(ctx context.Context, request helmchart.FetchRequest) (*helmchart.FetchAnswer, error) {
	f.budget, f.indexes = newBudget(), map[string]*index{}
	found, err := f.locate(ctx, request)
	if err != nil {
		return nil, err
	}
	source := displayed(request.Chart)
	if err := checkChartFile(found.files); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	root, err := newNode(found.files, f.budget, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if err := f.addDependencies(ctx, root, *found, dependencyNeeded, 0); err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	files := root.flatten()
	loaded, err := loadChart(files)
	if err == nil && !request.Library {
		err = checkInstallable(loaded)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	if want := request.Version; want != "" && !versionMatches(want, loaded.Metadata.Version) {
		return nil, fmt.Errorf("%s: the chart has version %s, which does not match %q", source, loaded.Metadata.Version, want)
	}
	if loaded.Metadata.Deprecated {
		f.warn("chart %s is deprecated", loaded.Name())
	}
	return &helmchart.FetchAnswer{
		Chart: metadata(loaded), Files: files, Warnings: f.warnings,
		Origin: helmchart.Origin{
			Chart: source, Repo: displayed(request.Repo), Version: loaded.Metadata.Version, Digest: found.digest,
		},
	}, nil
}

// locate fetches the chart of a request from the source that it names, in the order of Helm: an explicit repository, an
// existing file or directory, a reference of a registry, a URL, and a repository of the user.
func (f *fetcher) locate(ctx context.Context, request helmchart.FetchRequest) (*fetched, error) {
	name, version := request.Chart, request.Version
	switch {
	case name == "":
		return nil, errors.New("the name of a chart is required")
	case request.Repo != "":
		return f.fromRepo(ctx, request.Repo, name, version)
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return f.fromDirectory(name)
	case err == nil:
		return f.fromFile(name, info)
	case !errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, "://"):
		return nil, fmt.Errorf("%s: %w", name, withoutPath(err))
	case registry.IsOCI(name):
		return f.fromRegistry(ctx, name, version)
	case strings.Contains(name, "://"):
		return f.fromURL(ctx, name)
	case filepath.IsAbs(name) || strings.HasPrefix(name, "."):
		return nil, fmt.Errorf("%s: no such file or directory", name)
	}
	repoName, chartName, ok := strings.Cut(name, "/")
	if !ok || chartName == "" || repoName == "" {
		return nil, fmt.Errorf("%s: no such file or directory; pass the path of a chart, REPOSITORY/NAME, a URL, or a repository with the name", name)
	}
	e, err := f.namedEntry(repoName)
	if err != nil {
		return nil, err
	}
	return f.fromRepository(ctx, e, chartName, version)
}

// fromRepo fetches a chart from the repository with a URL.
func (f *fetcher) fromRepo(ctx context.Context, repo, name, version string) (*fetched, error) {
	if strings.ContainsAny(name, `/\:`) || name == "." || name == ".." {
		return nil, fmt.Errorf("%s: must be the name of a chart, as a repository is given", displayed(name))
	}
	if registry.IsOCI(repo) {
		return f.fromRegistry(ctx, strings.TrimSuffix(repo, "/")+"/"+name, version)
	}
	e, err := f.entryOf(repo, true)
	if err != nil {
		return nil, err
	}
	return f.fromRepository(ctx, e, name, version)
}

// fromDirectory reads an unpacked chart.
func (f *fetcher) fromDirectory(dir string) (*fetched, error) {
	files, err := readDirectory(dir, f.budget)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return &fetched{files: files, digest: filesDigest(files), dir: dir}, nil
}

// fromFile reads a chart archive.
func (f *fetcher) fromFile(name string, info fs.FileInfo) (*fetched, error) {
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: neither a file nor a directory", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, withoutPath(err))
	}
	defer func() { _ = file.Close() }()
	data, err := readLimited(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, withoutPath(err))
	}
	found, err := f.fromArchive(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return found, nil
}

func (f *fetcher) fromArchive(data []byte) (*fetched, error) {
	files, err := readArchive(data, f.budget)
	if err != nil {
		return nil, err
	}
	return &fetched{files: files, digest: archiveDigest(data)}, nil
}

// readLimited reads an archive or an index.
func readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDownload+1))
	if err == nil && len(data) > maxDownload {
		err = fmt.Errorf("larger than %d MiB", maxDownload>>20)
	}
	return data, err
}

// starter returns Helm's starter chart.
func starter(name string) (*helmchart.FetchAnswer, error) {
	if !chartName.MatchString(name) {
		return nil, fmt.Errorf("name %q must consist of letters, digits, '-', '_' and '.', and start with a letter or a digit", name)
	}
	temp, err := tempdir.New("", "operon-chart")
	if err != nil {
		return nil, err
	}
	defer func() { _ = temp.Remove() }()
	dir, err := chartutil.Create(name, temp.Path)
	if err != nil {
		return nil, fmt.Errorf("starter chart: %w", shorten(withoutPath(err)))
	}
	files, err := readDirectory(dir, newBudget())
	if err != nil {
		return nil, fmt.Errorf("starter chart: %w", err)
	}
	loaded, err := loader.LoadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("starter chart: %w", shorten(err))
	}
	return &helmchart.FetchAnswer{
		Chart: metadata(loaded), Files: files,
		Origin: helmchart.Origin{Version: loaded.Metadata.Version, Digest: filesDigest(files)},
	}, nil
}
