package image

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// helmProject is a project with one chart.
func helmProject(t *testing.T) string {
	t.Helper()
	return clitest.NewDir(t, map[string]string{
		"PROJECT":                     "domain: example.com\nlayout:\n- helm.sdk.operatorframework.io/v1\nprojectName: pond\nversion: \"3\"\n",
		"watches.yaml":                "- group: cache.example.com\n  version: v1\n  kind: Pond\n  chart: helm-charts/pond\n",
		"helm-charts/pond/Chart.yaml": "apiVersion: v2\nname: pond\nversion: 0.1.0\n",
		"helm-charts/pond/templates/_helpers.tpl":    "",
		"helm-charts/pond/templates/deployment.yaml": "kind: Deployment\n",
		"helm-charts/pond/charts/newt/Chart.yaml":    "apiVersion: v2\nname: newt\nversion: 0.1.0\n",
		"config/manager/manager.yaml":                "# not part of the image\n",
		"helm-charts/pond/values.yaml":               "replicas: 1\n",
		"helm-charts/pond/templates/tests/newt.yaml": "kind: Pod\n",
		"helm-charts/pond/templates/newt/NOTES.txt":  "Done.\n",
		"helm-charts/pond/.helmignore":               "*.bak\n",
		"helm-charts/.gitkeep":                       "",
		"config/samples/cache_v1_pond.yaml":          "kind: Pond\n",
	})
}

// buildRuntime builds a program that has the package path of operon-runtime and only exits, and returns its path.
func buildRuntime(t *testing.T, env ...string) string {
	t.Helper()
	dir := clitest.NewDir(t, map[string]string{
		"go.mod": "module github.com/operon-sdk/operon\n\ngo 1.26\n", "cmd/operon-runtime/main.go": "package main\n\nfunc main() {}\n",
	})
	clitest.RunGo(t, dir, env, "build", "-buildvcs=false", "-ldflags=-s -w", "-o", "operon-runtime", "./cmd/operon-runtime")
	return filepath.Join(dir, "operon-runtime")
}

// TestImageBuildHelm checks the image of a Helm project: the program, the charts, and how a container starts.
func TestImageBuildHelm(t *testing.T) {
	t.Parallel()
	dir, host := helmProject(t), clitest.StartRegistry(t)
	platform := "linux/" + runtime.GOARCH
	program := buildRuntime(t, "CGO_ENABLED=0", "GOOS=linux")
	own := func(e *cmd.Env) { e.Runtime = func() (string, error) { return program, nil } }
	for _, name := range []string{"pond:v1", "pond:again"} {
		if code, out, errOut := imageCall(t, dir, own, "-q", "image", "build", "--image", host+"/"+name, "--push"); code != 0 {
			t.Fatalf("exit code %d\n%s%s", code, out, errOut)
		}
	}
	config, files, headers := pulled(t, host+"/pond:v1", platform)
	again, _, _ := pulled(t, host+"/pond:again", platform)
	if !slices.Equal(config.RootFS.DiffIDs, again.RootFS.DiffIDs) {
		t.Error("a second build has other layers")
	}
	c := config.Config
	if c.User != "1001:0" || c.WorkingDir != "/opt/helm" || !slices.Contains(c.Env, "HOME=/opt/helm") ||
		!slices.Equal(c.Entrypoint, []string{"/usr/local/bin/helm-operator", "run", "--watches-file=./watches.yaml"}) || c.Labels["org.opencontainers.image.title"] != "pond" {
		t.Errorf("got %+v", c)
	}
	const charts = "opt/helm/helm-charts/pond/"
	if files["opt/helm/watches.yaml"] == "" || files[charts+"Chart.yaml"] == "" || files[charts+"charts/newt/Chart.yaml"] == "" ||
		headers[charts+"templates/_helpers.tpl"] == nil || headers[charts+".helmignore"] == nil || files["etc/ssl/certs/ca-certificates.crt"] == "" {
		t.Errorf("the image contains %s", clitest.SortedKeys(files))
	}
	for name := range files {
		if strings.Contains(name, "config/") || strings.HasSuffix(name, "PROJECT") {
			t.Errorf("the image contains %s", name)
		}
	}
	if !strings.Contains(files["etc/passwd"], "helm:x:1001:0:helm:/opt/helm:") {
		t.Errorf("the users are %s", files["etc/passwd"])
	}
	// Platforms such as OpenShift choose the user, in group 0.
	if home := headers["opt/helm"]; home == nil || home.Uid != 1001 || home.Gid != 0 || home.Mode&0o070 != 0o070 {
		t.Errorf("the home directory is %+v", home)
	}
	if h := headers["usr/local/bin/helm-operator"]; h == nil || h.Mode&0o555 != 0o555 {
		t.Errorf("the program is %+v", h)
	}
	if !strings.Contains(files["usr/share/sbom/manager.spdx.json"], "github.com/operon-sdk/operon") {
		t.Error("the list of modules does not name Operon")
	}

	// A base with the program needs no other, and keeps its variables.
	imageDone(t, dir, "-q", "image", "build", "--image", host+"/next:v1", "--base", host+"/pond:v1", "--runtime", "base", "--push")
	next, _, _ := pulled(t, host+"/next:v1", platform)
	if len(next.RootFS.DiffIDs) != len(config.RootFS.DiffIDs)+1 || len(next.Config.Env) != len(c.Env) {
		t.Errorf("got %+v", next)
	}
}

// TestImageBuildHelmRuntime checks how the program of a Helm operator is chosen.
func TestImageBuildHelmRuntime(t *testing.T) {
	t.Parallel()
	amd64 := buildRuntime(t, "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	arm64 := buildRuntime(t, "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	own := func(e *cmd.Env) { e.Runtime = func() (string, error) { return amd64, nil } }
	missing := func(e *cmd.Env) { e.Runtime = func() (string, error) { return "", os.ErrNotExist } }
	for _, c := range []struct {
		name   string
		change func(*cmd.Env)
		args   []string
		code   int
		want   string
	}{
		{"two platforms", own, []string{"--platform", "linux/amd64,linux/arm64", "--runtime", amd64 + "," + arm64}, 0, ""},
		{"none found", missing, nil, 1, "operon-runtime not found next to operon or in PATH"},
		{"other platform", own, []string{"--platform", "linux/arm64"}, 1,
			"operon-runtime for linux/arm64 not found: operon-runtime is for linux/amd64, and this development build of Operon has no module to build it from; " +
				"build it in the source of Operon ('CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -o FILE ./cmd/operon-runtime') and pass --runtime FILE\n"},
		{"given for another platform", own, []string{"--platform", "linux/arm64", "--runtime", amd64}, 1, "operon-runtime is for linux/amd64; add one for this platform to --runtime\n"},
		{"other program", own, []string{"--platform", "linux/amd64", "--runtime", os.Args[0]}, 1, " is not operon-runtime; add one"},
		{"no program", own, []string{"--runtime", "PROJECT"}, 1, "PROJECT is not a Go program; add one"},
		{"base without a base", own, []string{"--runtime", "base"}, 2, `--runtime "base": requires --base with an image that contains /usr/local/bin/helm-operator`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := imageCall(t, helmProject(t), c.change, append([]string{"-q", "image", "build", "--tarball", "x.tar"}, c.args...)...)
			if code != c.code || !strings.Contains(errOut, c.want) {
				t.Errorf("exit code %d\n%s%s", code, out, errOut)
			}
		})
	}
	if code, _, errOut := imageCall(t, imageProject(t), own, "image", "build", "--tarball", "x.tar", "--runtime", amd64); code != 2 || !strings.Contains(errOut, "is only supported in Helm and Ansible projects") {
		t.Errorf("in a Go project: exit code %d\n%s", code, errOut)
	}
	dir := helmProject(t)
	for text, wants := range map[string][]string{
		"- {version: v1, kind: A, chart: helm-charts/gone}\n- {version: v1, kind: B, chart: config}\n- {version: v1, kind: C, chart: /opt/helm/helm-charts/pond}\n": {
			`watches.yaml:1:3: chart "helm-charts/gone": the image would have no such chart`, `watches.yaml:2:3: chart "config": `,
		},
		"- {version: v1, kind: A, chart: x, color: red}\n": {`watches.yaml:1:36: unknown key "color"`},
	} {
		clitest.WriteFile(t, filepath.Join(dir, "watches.yaml"), text)
		code, _, errOut := imageCall(t, dir, own, "image", "build", "--tarball", "x.tar")
		for _, want := range wants {
			if code != 1 || !strings.Contains(errOut, want) || strings.Contains(errOut, "pond") {
				t.Errorf("exit code %d, want %q\n%s", code, want, errOut)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "x.tar")); !os.IsNotExist(err) {
			t.Errorf("an image was written (%v)", err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "watches.yaml")); err != nil {
		t.Fatal(err)
	}
	clitest.Symlink(t, os.Args[0], filepath.Join(dir, "helm-charts", "outside"))
	code, _, errOut := imageCall(t, dir, own, "image", "build", "--tarball", "x.tar")
	if code != 1 || !strings.Contains(errOut, "watches.yaml not found") || !strings.Contains(errOut, "helm-charts/outside: is not a regular file") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

// TestImageBuildCharts checks the image of a Go project with charts: they are in the working directory, readable for each user.
func TestImageBuildCharts(t *testing.T) {
	t.Parallel()
	dir, host := imageProject(t), clitest.StartRegistry(t)
	clitest.WriteFiles(t, dir, map[string]string{
		"watches.yaml": "- {version: v1, kind: A, chart: helm-charts/pond}\n- {version: v1, kind: B, chart: ./other/newt/}\n- {version: v1, kind: C, chart: helm-charts/pond}\n" +
			"- {version: v1, kind: D, chart: helm-charts/pond/charts/newt}\n",
		"helm-charts/pond/Chart.yaml": "name: pond\n", "helm-charts/pond/charts/newt/Chart.yaml": "name: newt\n",
		"helm-charts/unused/Chart.yaml": "name: unused\n", "other/newt/Chart.yaml": "name: newt\n", "other/newt/templates/_helpers.tpl": "",
	})
	if err := os.Chmod(filepath.Join(dir, "watches.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	imageDone(t, dir, "-q", "image", "build", "--image", host+"/pond:v1", "--push")
	config, files, headers := pulled(t, host+"/pond:v1", "linux/"+runtime.GOARCH)
	if config.Config.WorkingDir != "/" || len(config.RootFS.DiffIDs) != 4 {
		t.Errorf("got %+v", config)
	}
	for _, name := range []string{"watches.yaml", "helm-charts/pond/Chart.yaml", "helm-charts/pond/charts/newt/Chart.yaml", "other/newt/Chart.yaml", "other/newt/templates/_helpers.tpl"} {
		if h := headers[name]; h == nil || h.Mode != 0o644 {
			t.Errorf("%s is %+v", name, h)
		}
	}
	if h := headers["helm-charts/unused/Chart.yaml"]; h != nil {
		t.Errorf("the image contains %s", clitest.SortedKeys(files))
	}

	clitest.WriteFile(t, filepath.Join(dir, "watches.yaml"), "- {version: v1, kind: A, chart: gone}\n- {version: v1, kind: B, chart: ../x}\n- {version: v1, kind: C, chart: other}\n- {version: v1, kind: D, chart: /x}\n")
	code, _, errOut := imageCall(t, dir, nil, "image", "build", "--tarball", "x.tar")
	for _, want := range []string{
		"watches.yaml:1:3: gone not found", `watches.yaml:2:3: chart "../x": must be a directory in the project, relative to its root`,
		`watches.yaml:3:3: chart "other": is not a chart: it has no Chart.yaml`, `watches.yaml:4:3: chart "/x": must be`,
	} {
		if code != 1 || !strings.Contains(errOut, want) {
			t.Errorf("exit code %d, want %q\n%s", code, want, errOut)
		}
	}
	clitest.WriteFile(t, filepath.Join(dir, "watches.yaml"), "- {color: red}\n")
	if code, _, errOut := imageCall(t, dir, nil, "image", "build", "--tarball", "x.tar"); code != 1 || !strings.Contains(errOut, `unknown key "color"`) {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

// TestRuntimeIsStatic checks that operon-runtime, as make builds it, suits images without libraries.
func TestRuntimeIsStatic(t *testing.T) {
	t.Parallel()
	clitest.SkipIfShort(t, "it builds operon-runtime")
	program, err := clitest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Path != "github.com/operon-sdk/operon/cmd/operon-runtime" {
		t.Errorf("the package is %s", info.Path)
	}
}
