package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/cli"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// newFetcher returns a fetcher with a Helm configuration of its own.
func newFetcher(t *testing.T) *fetcher {
	t.Helper()
	home := t.TempDir()
	f := &fetcher{settings: &cli.EnvSettings{
		RepositoryConfig: filepath.Join(home, "repositories.yaml"), RepositoryCache: filepath.Join(home, "repository"),
		RegistryConfig: filepath.Join(home, "registry", "config.json"), ContentCache: filepath.Join(home, "content"),
	}}
	t.Cleanup(f.close)
	return f
}

// again returns a fetcher with the same configuration, as in the next process.
func (f *fetcher) again() *fetcher { return &fetcher{settings: f.settings, offline: f.offline} }

// write writes a file and the directories above it.
func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeChart writes the files of a chart.
func writeChart(t *testing.T, dir string, files helmchart.Files) string {
	t.Helper()
	for name, data := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
	return dir
}

// minimal returns a chart with a dependency section.
func minimal(name, version, dependencies string) helmchart.Files {
	return helmchart.Files{
		"Chart.yaml":            []byte("apiVersion: v2\nname: " + name + "\nversion: " + version + "\n" + dependencies),
		"templates/config.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"),
	}
}

// archiveOf packages a chart.
func archiveOf(t *testing.T, files helmchart.Files) []byte {
	t.Helper()
	name, _ := headOf(files)
	var headers []tar.Header
	var contents []string
	for _, file := range sortedKeys(files) {
		headers = append(headers, tar.Header{Name: name + "/" + file, Mode: 0o644, Typeflag: tar.TypeReg})
		contents = append(contents, string(files[file]))
	}
	return tarball(t, headers, contents)
}

// tarball returns a compressed archive of entries.
func tarball(t *testing.T, headers []tar.Header, contents []string) []byte {
	t.Helper()
	var buffer bytes.Buffer
	zipped := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(zipped)
	for i, header := range headers {
		header.Size = int64(len(contents[i]))
		if err := archive.WriteHeader(&header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(contents[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// mustFetch fetches a chart.
func mustFetch(t *testing.T, f *fetcher, request helmchart.FetchRequest) *helmchart.FetchAnswer {
	t.Helper()
	answer, err := f.fetch(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// wantError checks that a request fails with an error that contains each text.
func wantError(t *testing.T, f *fetcher, request helmchart.FetchRequest, texts ...string) {
	t.Helper()
	answer, err := f.fetch(t.Context(), request)
	if err == nil {
		t.Errorf("%+v: got %+v, want the error %q", request, answer.Origin, texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("got:  %v\nwant: %s", err, text)
		}
	}
}

// TestFetchDirectory checks which files of a directory belong to its chart.
func TestFetchDirectory(t *testing.T) {
	t.Parallel()
	files := minimal("app", "1.2.3", "description: demo\r\nappVersion: \"7\"\r\nkubeVersion: \">=1.20\"\r\n")
	files[".helmignore"] = []byte("# comment\r\nci/\n*.bak\n")
	files["ci/values.yaml"] = []byte("a: b")
	files["values.yaml.bak"] = []byte("x")
	files["values.yaml"] = []byte("\xEF\xBB\xBFa: b\r\n")
	files[".git/config"] = []byte("x")
	files["files/.hg/hgrc"] = []byte("x")
	files["templates/.swp"] = []byte("x")
	files["files/empty"] = nil
	dir := writeChart(t, filepath.Join(t.TempDir(), "other-name"), files)
	answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: dir, Version: "1.x"})

	want := "files .helmignore Chart.yaml files/empty templates/config.yaml values.yaml"
	if got := "files " + strings.Join(sortedKeys(answer.Files), " "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := string(answer.Files["values.yaml"]); got != "a: b\r\n" {
		t.Errorf("values.yaml: %q", got)
	}
	if answer.Chart != (helmchart.Metadata{Name: "app", Version: "1.2.3", AppVersion: "7", Description: "demo", KubeVersion: ">=1.20"}) {
		t.Errorf("chart: %+v", answer.Chart)
	}
	var listed strings.Builder
	for _, name := range sortedKeys(answer.Files) {
		fmt.Fprintf(&listed, "%s\x00%d\x00%s", name, len(answer.Files[name]), answer.Files[name])
	}
	origin := helmchart.Origin{Chart: dir, Version: "1.2.3", Digest: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(listed.String())))}
	if answer.Origin != origin {
		t.Errorf("origin: %+v\nwant %+v", answer.Origin, origin)
	}
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: dir, Version: "2.0.0"}, `the chart has version 1.2.3, which does not match "2.0.0"`)
}

// TestFetchLinks checks that symbolic links do not leave the directory of a chart.
func TestFetchLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, []byte("secret"))
	chart := func(link, target string) string {
		dir := writeChart(t, t.TempDir(), minimal("app", "1.0.0", ""))
		write(t, filepath.Join(dir, "files", "a"), []byte("inside"))
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: chart("b", "files/a")})
	if string(answer.Files["b"]) != "inside" {
		t.Errorf("link in the chart: %q", answer.Files["b"])
	}
	if answer = mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: chart("d", "files")}); string(answer.Files["d/a"]) != "inside" {
		t.Errorf("link to a directory: %v", sortedKeys(answer.Files))
	}
	message := "link: the symbolic link does not point to a file in the directory of the chart; replace it with a copy"
	for _, target := range []string{secret, "../../../../../../../../" + secret, "nothing", "link"} {
		wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: chart("link", target)}, message)
	}
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: chart("files/cycle", "..")}, "files/cycle: the symbolic link points to a directory that contains it")
	dir := chart("link", secret)
	write(t, filepath.Join(dir, ".helmignore"), []byte("link\n"))
	mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: dir})
}

// TestFetchFile checks archives of this machine.
func TestFetchFile(t *testing.T) {
	t.Parallel()
	data := archiveOf(t, minimal("app", "1.0.0", ""))
	name := filepath.Join(t.TempDir(), "app-1.0.0.tgz")
	write(t, name, data)
	answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: name})
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(data)); answer.Origin.Digest != want || answer.Origin.Chart != name {
		t.Errorf("origin: %+v", answer.Origin)
	}
	if got := strings.Join(sortedKeys(answer.Files), " "); got != "Chart.yaml templates/config.yaml" {
		t.Errorf("files: %s", got)
	}
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: filepath.Join(t.TempDir(), "none.tgz")}, "none.tgz: no such file or directory")
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: "./none"}, "./none: no such file or directory")
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: "none-of-these"}, "pass the path of a chart, REPOSITORY/NAME, a URL, or a repository with the name")
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: t.TempDir()}, "Chart.yaml not found; a chart is a directory or an archive with this file")
	wantError(t, newFetcher(t), helmchart.FetchRequest{}, "the name of a chart is required")
	library := writeChart(t, t.TempDir(), minimal("lib", "1.0.0", "type: library\n"))
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: library}, `chart "lib" is a library chart`)
	old := writeChart(t, t.TempDir(), minimal("old", "1.0.0", "deprecated: true\n"))
	if answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: old}); strings.Join(answer.Warnings, " ") != "chart old is deprecated" {
		t.Errorf("warnings: %q", answer.Warnings)
	}
}

// TestFetchHostileArchives checks archives that would write outside their directory or fill the memory.
func TestFetchHostileArchives(t *testing.T) {
	t.Parallel()
	file := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }
	bomb := func() []byte {
		var buffer bytes.Buffer
		zipped := gzip.NewWriter(&buffer)
		archive := tar.NewWriter(zipped)
		zeros := make([]byte, 1<<20)
		if err := archive.WriteHeader(&tar.Header{Name: "app/zeros", Typeflag: tar.TypeReg, Size: 300 << 20}); err != nil {
			t.Fatal(err)
		}
		for range 300 {
			if _, err := archive.Write(zeros); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
			t.Fatal(err)
		}
		return buffer.Bytes()
	}()
	many := func() []byte {
		headers := make([]tar.Header, maxFiles+10)
		for i := range headers {
			headers[i] = tar.Header{Name: fmt.Sprintf("app/%d/", i), Typeflag: tar.TypeDir}
		}
		return tarball(t, headers, make([]string, len(headers)))
	}()
	nested := minimal("app", "1.0.0", "")
	nested["charts/bomb.tgz"] = bomb
	deep := minimal("app", "1.0.0", "")
	for range maxDepth + 2 {
		outer := minimal("app", "1.0.0", "")
		outer["charts/app-1.0.0.tgz"] = archiveOf(t, deep)
		deep = outer
	}
	link := func(kind byte, target string) []byte {
		return tarball(t, []tar.Header{{Name: "app/link", Typeflag: kind, Linkname: target}}, []string{""})
	}
	tests := map[string]struct {
		data []byte
		want string
	}{
		"parent":      {tarball(t, []tar.Header{file("app/../../x")}, []string{"x"}), "the path is not in the directory of the chart"},
		"parent only": {tarball(t, []tar.Header{file("../x")}, []string{"x"}), "the path is not in the directory of the chart"},
		"absolute":    {tarball(t, []tar.Header{file("/etc/passwd")}, []string{"x"}), "the path is not in the directory of the chart"},
		"backslash":   {tarball(t, []tar.Header{file(`app\..\..\x`)}, []string{"x"}), "the path is not in the directory of the chart"},
		"drive":       {tarball(t, []tar.Header{file("app/c:/x")}, []string{"x"}), "the path is not in the directory of the chart"},
		"no root":     {tarball(t, []tar.Header{file("Chart.yaml")}, []string{"x"}), "the file is not in the directory of the chart"},
		"repository":  {tarball(t, []tar.Header{file("app/files/.GIT/config")}, []string{"x"}), `"files/.GIT/config": a chart must not contain ".GIT"`},
		"symlink":     {link(tar.TypeSymlink, "/etc/passwd"), "links are not supported in chart archives"},
		"hard link":   {link(tar.TypeLink, "/etc/passwd"), "links are not supported in chart archives"},
		"device":      {link(tar.TypeChar, ""), "neither a file nor a directory"},
		"bomb":        {bomb, "the chart is larger than 100 MiB"},
		"nested bomb": {archiveOf(t, nested), "charts/bomb.tgz: the chart is larger than 100 MiB"},
		"many files":  {many, "the chart has more than 20000 files"},
		"deep":        {archiveOf(t, deep), "more than 10 nested charts"},
		"truncated":   {archiveOf(t, minimal("app", "1.0.0", ""))[:60], "not a chart archive"},
		"text":        {[]byte("a: b\n"), "not a chart archive: the file is not compressed with gzip"},
		"empty":       {tarball(t, nil, nil), "not a chart archive: no files"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			archive := filepath.Join(t.TempDir(), "app.tgz")
			write(t, archive, test.data)
			wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: archive}, test.want)
		})
	}
}

// FuzzReadArchive checks that the paths of an archive are in the directory of its chart.
func FuzzReadArchive(f *testing.F) {
	for _, name := range []string{"app/Chart.yaml", "app/../../x", `app\x`, "app//x", "./app/x", "/x", "app/c:/x", "app/x/.."} {
		f.Add(name, byte(tar.TypeReg))
	}
	f.Add("app/link", byte(tar.TypeSymlink))
	f.Fuzz(func(t *testing.T, name string, kind byte) {
		var buffer bytes.Buffer
		zipped := gzip.NewWriter(&buffer)
		archive := tar.NewWriter(zipped)
		if archive.WriteHeader(&tar.Header{Name: name, Typeflag: kind, Linkname: "/etc/passwd"}) != nil || archive.Close() != nil || zipped.Close() != nil {
			t.Skip("the header cannot be written")
		}
		files, err := readArchive(buffer.Bytes(), newBudget())
		if err != nil {
			return
		}
		for file := range files {
			if !filepath.IsLocal(filepath.FromSlash(file)) || strings.ContainsAny(file, "\\\x00") {
				t.Errorf("%q: path %q", name, file)
			}
		}
	})
}

// TestFetchWindowsArchive checks an archive whose paths have backslashes.
func TestFetchWindowsArchive(t *testing.T) {
	t.Parallel()
	files := minimal("app", "1.0.0", "")
	data := tarball(t, []tar.Header{
		{Name: `app\Chart.yaml`, Typeflag: tar.TypeReg}, {Name: `app\templates\config.yaml`, Typeflag: tar.TypeReg},
	}, []string{string(files["Chart.yaml"]), string(files["templates/config.yaml"])})
	name := filepath.Join(t.TempDir(), "app.tgz")
	write(t, name, data)
	answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: name})
	if got := strings.Join(sortedKeys(answer.Files), " "); got != "Chart.yaml templates/config.yaml" {
		t.Errorf("files: %s", got)
	}
}

// TestStarter checks Helm's starter chart and that it renders.
func TestStarter(t *testing.T) {
	t.Parallel()
	answer, err := Fetch(t.Context(), helmchart.FetchRequest{Starter: "memcached"})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Chart.Name != "memcached" || answer.Origin.Chart != "" || !strings.HasPrefix(answer.Origin.Digest, "sha256:") {
		t.Errorf("chart: %+v, origin: %+v", answer.Chart, answer.Origin)
	}
	rendered, err := Render(t.Context(), helmchart.RenderRequest{
		Files: answer.Files, ReleaseName: "demo", Namespace: "default", Values: []map[string]any{{}, {"ingress": map[string]any{"enabled": true}}},
	})
	if err != nil || rendered.Renderings[0].Error != "" || rendered.Renderings[1].Error != "" {
		t.Fatalf("%v: %+v", err, rendered)
	}
	if len(rendered.Renderings[1].Objects) != len(rendered.Renderings[0].Objects)+1 {
		t.Error("the second rendering has no Ingress")
	}
	again, err := Fetch(t.Context(), helmchart.FetchRequest{Starter: "memcached"})
	if err != nil || again.Origin != answer.Origin {
		t.Errorf("another digest: %+v, %v", again, err)
	}
	for _, name := range []string{"../x", "a b", "-x", ".."} {
		if _, err := Fetch(t.Context(), helmchart.FetchRequest{Starter: name}); err == nil {
			t.Errorf("%q is a valid name", name)
		}
	}
}

// TestFetchCancel checks that a canceled context ends the download from a server that does not answer.
func TestFetchCancel(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	server.stall = make(chan struct{})
	defer close(server.stall)
	ctx, cancel := context.WithCancel(t.Context())
	server.stalled = cancel
	f := newFetcher(t)
	if _, err := f.fetch(ctx, helmchart.FetchRequest{Chart: "app", Repo: server.start()}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
