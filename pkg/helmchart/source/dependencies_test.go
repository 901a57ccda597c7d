package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// paths returns the paths of Chart.yaml files.
func paths(files helmchart.Files) string {
	var found []string
	for _, name := range sortedKeys(files) {
		if strings.HasSuffix(name, "Chart.yaml") {
			found = append(found, strings.TrimSuffix(strings.TrimSuffix(name, "Chart.yaml"), "/"))
		}
	}
	return strings.TrimSpace(strings.Join(found, " "))
}

// TestDependencies checks all sources of dependencies in one chart, with nested ones, an alias and a condition.
func TestDependencies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	host := newRegistry(t, "", "", minimal("cache", "3.0.0", ""), minimal("cache", "3.1.0", ""))
	server := newRepository(t)
	server.add(minimal("db", "1.0.0", ""), "")
	server.add(minimal("db", "1.1.0", "dependencies: [{name: util, version: 0.1.0, repository: 'alias:internal'}]\n"), "")
	server.add(minimal("db", "2.0.0", ""), "")
	server.add(minimal("util", "0.1.0", ""), "")
	url := server.start()
	f := newFetcher(t)
	f.configure(t, map[string]any{"name": "internal", "url": url})
	writeChart(t, filepath.Join(dir, "common"), minimal("common", "0.5.0", "type: library\ndependencies: [{name: base, version: '*', repository: 'file://../base'}]\n"))
	writeChart(t, filepath.Join(dir, "base"), minimal("base", "0.0.1", ""))
	app := minimal("app", "1.0.0", `dependencies:
- {name: common, version: 0.x, repository: file://../common}
- {name: db, version: ^1, repository: "`+url+`/", condition: db.enabled}
- {name: db, version: ^1, repository: "@internal", alias: second}
- {name: db, version: ^2, repository: "@internal", alias: third}
- {name: cache, version: 3.x, repository: "oci://`+host+`/charts"}
- {name: present, version: 1.0.0, repository: "https://not-used.example.com"}
`)
	app["values.yaml"] = []byte("db: {enabled: false}\n")
	app["charts/present-1.0.0.tgz"] = archiveOf(t, minimal("present", "1.0.0", ""))
	app["charts/present-1.0.0.tgz.prov"] = []byte("signature")
	writeChart(t, filepath.Join(dir, "app"), app)
	answer := mustFetch(t, f, helmchart.FetchRequest{Chart: filepath.Join(dir, "app")})
	want := "charts/cache charts/common charts/common/charts/base charts/db-2.0.0 charts/db charts/db/charts/util charts/present"
	if got := paths(answer.Files); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if strings.Contains(strings.Join(sortedKeys(answer.Files), " "), ".tgz") || len(answer.Warnings) > 0 {
		t.Errorf("files %q, warnings %q", sortedKeys(answer.Files), answer.Warnings)
	}
	if got := server.seen(); got != "/charts/index.yaml, /charts/db-1.1.0.tgz, /charts/util-0.1.0.tgz, /charts/db-2.0.0.tgz" {
		t.Errorf("requests: %s", got)
	}
	rendered, err := Render(t.Context(), helmchart.RenderRequest{Files: answer.Files, ReleaseName: "demo", Values: []map[string]any{{}}})
	if err != nil || rendered.Renderings[0].Error != "" {
		t.Fatalf("%v %+v", err, rendered)
	}
	var templates []string
	for _, object := range rendered.Renderings[0].Objects {
		templates = append(templates, strings.TrimSuffix(object.Template, "/templates/config.yaml"))
	}
	if got := strings.Join(templates, " "); got != "app/charts/cache app/charts/common/charts/base app/charts/present app/charts/second/charts/util app/charts/second app/charts/third app" {
		t.Errorf("rendered %s", got)
	}
}

// TestDependenciesPresent checks that dependencies in charts/ need no network, and wrong versions of them are replaced.
func TestDependenciesPresent(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	server.add(minimal("db", "1.0.0", ""), "")
	url := server.start()
	files := minimal("app", "1.0.0", "dependencies: [{name: db, version: 1.x, repository: '"+url+"'}]\n")
	for name, data := range minimal("db", "1.5.0", "dependencies: [{name: optional, version: 1.x, repository: '"+url+"'}]\n") {
		files["charts/db/"+name] = data
	}
	for name, data := range minimal("extra", "0.1.0", "") {
		files["charts/extra/"+name] = data
	}
	f := newFetcher(t)
	f.offline = true
	answer := mustFetch(t, f.again(), helmchart.FetchRequest{Chart: writeChart(t, t.TempDir(), files)})
	if got := paths(answer.Files); got != "charts/db charts/extra" {
		t.Errorf("charts: %s", got)
	}
	if len(answer.Warnings) != 1 || answer.Warnings[0] != `dependency optional of db: version "1.x" is not in charts/; Helm does not require it` {
		t.Errorf("warnings: %q", answer.Warnings)
	}
	files["charts/db/Chart.yaml"] = minimal("db", "0.9.0", "")["Chart.yaml"]
	files["charts/db/old.txt"] = []byte("old")
	dir := writeChart(t, t.TempDir(), files)
	wantError(t, f.again(), helmchart.FetchRequest{Chart: dir}, `dependency db of app: version "1.x" is not in charts/: `, "network access is not allowed (--offline)")
	f.offline = false
	answer = mustFetch(t, f.again(), helmchart.FetchRequest{Chart: dir})
	if got := paths(answer.Files); got != "charts/db charts/extra" || answer.Files["charts/db/old.txt"] != nil {
		t.Errorf("charts: %s", got)
	}
}

// TestDependenciesWithoutVersion checks dependencies in charts/ whose version is missing or differs, as Helm installs them.
func TestDependenciesWithoutVersion(t *testing.T) {
	t.Parallel()
	files := minimal("app", "1.0.0", "dependencies: [{name: a, condition: a.enabled}, {name: b, version: 2.x}, {name: c, version: '*'}]\n")
	for name, version := range map[string]string{"a": "0.1.0", "b": "1.0.0", "c": "0.0.0-dev"} {
		for file, data := range minimal(name, version, "") {
			files["charts/"+name+"/"+file] = data
		}
	}
	answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: writeChart(t, t.TempDir(), files)})
	want := `dependency b of app: version "2.x" is required, but charts/ has 1.0.0; dependency c of app: version "*" is required, but charts/ has 0.0.0-dev`
	if got := strings.Join(answer.Warnings, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	rendered, err := Render(t.Context(), helmchart.RenderRequest{
		Files: answer.Files, ReleaseName: "demo", Values: []map[string]any{{"a": map[string]any{"enabled": true}}, {"a": map[string]any{"enabled": false}}},
	})
	if err != nil || len(rendered.Renderings[0].Objects) != 4 || len(rendered.Renderings[1].Objects) != 3 {
		t.Errorf("%v %+v", err, rendered)
	}
}

// TestDependenciesLock checks that the versions in Chart.lock are used, and that it has to match Chart.yaml.
func TestDependenciesLock(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0"} {
		server.add(minimal("db", version, ""), "")
	}
	url := server.start()
	lock := func(version string) []byte {
		return []byte("dependencies:\n- {name: db, repository: '" + url + "', version: " + version + "}\ndigest: sha256:0\n")
	}
	files := minimal("app", "1.0.0", "dependencies: [{name: db, version: 1.x, repository: '"+url+"'}]\n")
	fetch := func(name string, data []byte) (string, error) {
		files := files
		if name != "" {
			files = helmchart.Files{name: data}
			for n, d := range minimal("app", "1.0.0", "dependencies: [{name: db, version: 1.x, repository: '"+url+"'}]\n") {
				files[n] = d
			}
		}
		answer, err := newFetcher(t).fetch(t.Context(), helmchart.FetchRequest{Chart: writeChart(t, t.TempDir(), files)})
		if err != nil {
			return "", err
		}
		db := helmchart.Files{"Chart.yaml": answer.Files["charts/db/Chart.yaml"]}
		_, version := headOf(db)
		return version, nil
	}
	if got, err := fetch("", nil); got != "1.1.0" {
		t.Errorf("without lock: %s, %v", got, err)
	}
	if got, err := fetch("Chart.lock", lock("1.0.0")); got != "1.0.0" {
		t.Errorf("locked: %s, %v", got, err)
	}
	want := `dependency db of app: the lock file (Chart.lock) has version 2.0.0, but Chart.yaml requires "1.x"; update the lock file with 'helm dependency update', or remove it`
	if _, err := fetch("Chart.lock", lock("2.0.0")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("another version: %v", err)
	}
	want = "dependency db of app: it is not in the lock file (Chart.lock); update the lock file with 'helm dependency update', or remove it"
	if _, err := fetch("Chart.lock", []byte("dependencies: []\n")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("not in the lock: %v", err)
	}
	want = "dependency db of app: chart db in repository " + url + ": version 1.0.7 not found; the nearest are 2.0.0, 1.1.0, 1.0.0"
	if _, err := fetch("Chart.lock", lock("1.0.7")); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("missing version: %v", err)
	}
}

// TestDependenciesV1 checks a chart of apiVersion v1 with requirements.yaml and requirements.lock.
func TestDependenciesV1(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	server.add(minimal("db", "1.0.0", ""), "")
	server.add(minimal("db", "1.1.0", ""), "")
	url := server.start()
	files := helmchart.Files{
		"Chart.yaml":        []byte("\xEF\xBB\xBFname: app\r\nversion: 1.0.0\r\n"),
		"requirements.yaml": []byte("dependencies:\r\n- name: db\r\n  version: 1.x\r\n  repository: " + url + "\r\n"),
		"requirements.lock": []byte("dependencies:\n- {name: db, repository: '" + url + "', version: 1.0.0}\n"),
	}
	answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: writeChart(t, t.TempDir(), files)})
	if got := string(answer.Files["charts/db/Chart.yaml"]); !strings.Contains(got, "version: 1.0.0") {
		t.Errorf("dependency: %s", got)
	}
}

// TestDependenciesRefused checks dependencies that cannot be built. All are reported.
func TestDependenciesRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := newRepository(t)
	server.add(minimal("db", "1.0.0", ""), "")
	url := server.start()
	self := writeChart(t, filepath.Join(dir, "self"), minimal("self", "1.0.0", "dependencies: [{name: self, version: '*', repository: 'file://.'}]\n"))
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: self}, "more than 10 nested")
	writeChart(t, filepath.Join(dir, "neighbor"), minimal("neighbor", "1.0.0", ""))
	for dependency, want := range map[string]string{
		"{name: a, version: 1.x}":                                                                                `dependency a of app: version "1.x" is not in charts/, and the dependency has no repository`,
		"{name: a, version: 1.x, repository: 'file://../none'}":                                                  "dependency a of app: repository file://../none: no such file or directory",
		"{name: a, version: 1.x, repository: 'file://../neighbor'}":                                              `dependency a of app: file://../neighbor has chart neighbor 1.0.0 instead of version "1.x"`,
		"{name: neighbor, version: 2.x, repository: 'file://../neighbor'}":                                       `has chart neighbor 1.0.0 instead of version "2.x"`,
		"{name: a, version: 1.x, repository: stable}":                                                            `repository "stable" must be a URL, @NAME, or file:// with a directory`,
		"{name: a, version: 1.x, repository: '@stable'}":                                                         `repository "stable" not found`,
		"{name: a, version: one, repository: '" + url + "'}":                                                     `version "one" must be a semantic version or a constraint`,
		"{name: ../a, version: 1.x, repository: '" + url + "'}":                                                  "../a",
		"{name: a, version: 1.x, repository: 'git://example.com/a'}":                                             `unsupported scheme "git"`,
		"{name: a, version: 1.x, repository: '" + url + "'}, {name: b, version: 1.x, repository: '" + url + "'}": "chart a in repository " + url + ": chart not found; dependency b of app: ",
	} {
		app := writeChart(t, filepath.Join(dir, "app"), minimal("app", "1.0.0", "dependencies: ["+dependency+"]\n"))
		wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: app}, want)
	}
	if abs, err := filepath.Abs(dir); err != nil || abs != dir {
		t.Fatal("the temporary directory is not absolute")
	}
	// An archive cannot refer to files of this machine, and to repositories without TLS only if the user has added them.
	archive := filepath.Join(dir, "app.tgz")
	write(t, archive, archiveOf(t, minimal("app", "1.0.0", "dependencies: [{name: neighbor, version: 1.x, repository: 'file://"+filepath.ToSlash(dir)+"/neighbor'}]\n")))
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: archive}, "the chart is not an unpacked one of this machine")
	write(t, archive, archiveOf(t, minimal("app", "1.0.0", "dependencies: [{name: db, version: 1.x, repository: '"+url+"'}]\n")))
	f := newFetcher(t)
	wantError(t, f, helmchart.FetchRequest{Chart: archive}, "the repository is without TLS, and the chart that refers to it is an archive; add it with 'helm repo add' to trust it")
	f.configure(t, map[string]any{"name": "r", "url": url})
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: archive})
	if err := os.RemoveAll(archive); err != nil {
		t.Fatal(err)
	}
}
