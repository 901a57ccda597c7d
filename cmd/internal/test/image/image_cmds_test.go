package image

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	ggcrname "github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// imageProject is a project whose manager prints one line, so that it compiles quickly.
func imageProject(t *testing.T) string {
	t.Helper()
	return clitest.NewDir(t, map[string]string{
		"PROJECT":     "domain: example.com\nlayout:\n- go.kubebuilder.io/v4\nprojectName: pond\nrepo: github.com/example/pond\nversion: \"3\"\n",
		"go.mod":      "module github.com/example/pond\n\ngo 1.26\n\nrequire example.com/newt v1.2.3\n\nreplace example.com/newt v1.2.3 => ./newt\n",
		"newt/go.mod": "module example.com/newt\n",
		"newt/a.go":   "package newt\n\nconst Usage = \"Usage of the manager\"\n",
		"cmd/main.go": "package main\n\nimport \"example.com/newt\"\n\nfunc main() { println(newt.Usage) }\n",
	})
}

// imageCall runs a command for images.
func imageCall(t *testing.T, dir string, change func(*cmd.Env), args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	env, err := cmd.System()
	if err != nil {
		t.Fatal(err)
	}
	env.In, env.Out, env.Err, env.Dir = strings.NewReader(""), &o, &e, dir
	env.SlowAfter = clitest.NeverSlow
	if change != nil {
		change(env)
	}
	code = cmd.Main(t.Context(), env, append([]string{"operon"}, args...))
	if strings.Contains(o.String()+e.String(), dir) {
		t.Errorf("the path of the machine is printed:\n%s%s", o.String(), e.String())
	}
	return code, o.String(), e.String()
}

// imageDone runs a command that must succeed.
func imageDone(t *testing.T, dir string, args ...string) string {
	t.Helper()
	code, out, errOut := imageCall(t, dir, nil, args...)
	if code != 0 {
		t.Fatalf("%q: exit code %d\n%s%s", args, code, out, errOut)
	}
	return out
}

// pulled is an image of a registry with its files.
func pulled(t *testing.T, ref, platform string) (*v1.ConfigFile, map[string]string, map[string]*tar.Header) {
	t.Helper()
	p, err := v1.ParsePlatform(platform)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ggcrname.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(parsed, remote.WithPlatform(*p))
	if err != nil {
		t.Fatal(err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	files, headers := map[string]string{}, map[string]*tar.Header{}
	for r := tar.NewReader(mutate.Extract(img)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return config, files, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name], headers[h.Name] = string(data), h
	}
}

// TestImageBuild builds the image of a manager in two directories, pushes one to a registry, and runs the pushed manager.
func TestImageBuild(t *testing.T) {
	t.Parallel()
	host := clitest.StartRegistry(t)
	own := "linux/" + runtime.GOARCH
	platforms := own + ",linux/" + map[bool]string{true: "arm64", false: "amd64"}[runtime.GOARCH == "amd64"]
	one, two := imageProject(t), imageProject(t)
	digest := func(out string) string { return out[strings.Index(out, "sha256:"):] }
	made := imageDone(t, one, "image", "build", "--image", host+"/pond/op:v1", "--platform", platforms, "--push")
	if want := "pushed   " + host + "/pond/op@sha256:"; !strings.HasPrefix(made, want) {
		t.Errorf("got %s, want %s", made, want)
	}
	written := imageDone(t, filepath.Join(two, "cmd"), "image", "build", "--platform", platforms, "--oci-layout", "../out")
	if digest(written) != digest(made) {
		t.Errorf("the image built in another directory has digest %s, want %s", digest(written), digest(made))
	}
	config, files, headers := pulled(t, host+"/pond/op:v1", own)
	c := config.Config
	if c.User != "65532:65532" || strings.Join(c.Entrypoint, " ") != "/manager" || c.Labels["org.opencontainers.image.title"] != "pond" ||
		c.Labels["org.opencontainers.image.source"] != "https://github.com/example/pond" || config.Created.Unix() != 0 || len(config.RootFS.DiffIDs) != 3 {
		t.Errorf("got %+v", config)
	}
	if h := headers["manager"]; h == nil || h.Uid != 65532 || h.Mode != 0o555 || h.ModTime.Unix() != 0 {
		t.Fatalf("got %+v", h)
	}
	list := files["usr/share/sbom/manager.spdx.json"]
	for _, want := range []string{`"name": "example.com/newt"`, `"versionInfo": "v1.2.3"`, `"sourceInfo": "replaced by a local directory"`, `"name": "stdlib"`, `"name": "github.com/example/pond"`} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s:\n%s", want, list)
		}
	}
	if headers["etc/ssl/certs/ca-certificates.crt"] == nil || headers["tmp"] == nil {
		t.Errorf("the floor is missing: %s", clitest.SortedKeys(files))
	}
	if strings.Contains(files["manager"], one) {
		t.Error("the manager contains the path of its directory")
	}
	if runtime.GOOS != "linux" {
		return
	}
	program := filepath.Join(t.TempDir(), "manager")
	if err := os.WriteFile(program, []byte(files["manager"]), 0o755); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command(program, "--help").CombinedOutput(); err != nil || string(said) != "Usage of the manager\n" {
		t.Errorf("got %q, %v", said, err)
	}
}

// TestImageBuildOptions checks the flags one by one, with one compilation.
func TestImageBuildOptions(t *testing.T) {
	t.Parallel()
	dir, host := imageProject(t), clitest.StartRegistry(t)
	imageDone(t, dir, "-q", "image", "build", "--image", host+"/base:v1", "--base", "scratch", "--push")
	config, files, _ := pulled(t, host+"/base:v1", "linux/"+runtime.GOARCH)
	if len(config.RootFS.DiffIDs) != 2 || files["etc/passwd"] != "" {
		t.Errorf("scratch holds %s", clitest.SortedKeys(files))
	}
	code, out, errOut := imageCall(t, dir, func(e *cmd.Env) { e.Environ = append(e.Environ, "SOURCE_DATE_EPOCH=1700000000") },
		"-q", "build", host+"/next:v1", "--base", host+"/base:v1", "--label", "team=newts", "--push", "--tarball", "next.tar")
	if code != 0 || errOut != "" || !strings.Contains(out, "wrote    next.tar  sha256:") {
		t.Fatalf("exit code %d\n%s%s", code, out, errOut)
	}
	config, _, headers := pulled(t, host+"/next:v1", "linux/"+runtime.GOARCH)
	if len(config.RootFS.DiffIDs) != 4 || config.Config.Labels["team"] != "newts" || config.Config.Labels["org.opencontainers.image.base.name"] != host+"/base:v1" ||
		config.Created.Unix() != 1700000000 || headers["manager"].ModTime.Unix() != 1700000000 {
		t.Errorf("got %+v", config)
	}
	// Without a place for it, the image is kept where make image-build keeps it, and can be pushed from there.
	code, out, errOut = imageCall(t, filepath.Join(dir, "cmd"), nil, "build", host+"/kept:v1")
	if want := "note: 'operon build' is now 'operon image build --image " + host + "/kept:v1 --oci-layout ../bin/image'\n"; code != 0 || !strings.HasPrefix(errOut, want) ||
		!strings.Contains(errOut, "next: push it with 'operon image load ../bin/image:"+host+"/kept:v1 "+host+"/kept:v1'\n") || !strings.HasPrefix(out, "wrote    ../bin/image  sha256:") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
	imageDone(t, dir, "image", "load", "bin/image:"+host+"/kept:v1", host+"/kept:v1")
	if _, files, _ := pulled(t, host+"/kept:v1", "linux/"+runtime.GOARCH); files["manager"] == "" {
		t.Errorf("the image holds %s", clitest.SortedKeys(files))
	}
	code, out, errOut = imageCall(t, dir, nil, "image", "build", "--dry-run", "--tarball", "x.tar")
	if code != 0 || out != "" || !strings.Contains(errOut, "would build ./cmd for linux/"+runtime.GOARCH) {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}

// exited is the error of a command.
type exited struct{}

func (exited) Error() string { return "exit status 1" }

func (exited) ExitCode() int { return 1 }

// TestImageBuildRefused checks errors of image build, after which nothing is written.
func TestImageBuildRefused(t *testing.T) {
	t.Parallel()
	guarded := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(guarded.Close)
	host := strings.TrimPrefix(guarded.URL, "http://")
	run := func(result error, output string) func(*cmd.Env) {
		return func(e *cmd.Env) {
			e.Run = func(_ context.Context, c cmd.Command) error {
				if c.Args[0] == "env" && output != "" {
					_, err := io.WriteString(c.Out, "{}")
					return err
				}
				if c.Args[0] != "env" && (c.Name != "go" || !strings.Contains(strings.Join(c.Environ, " "), " CGO_ENABLED=0 GOOS=linux GOARCH=arm GOARM=7 GOPROXY=off ") ||
					!strings.HasPrefix(strings.Join(c.Args, " "), "build -v -trimpath -buildvcs=false -o ")) {
					t.Errorf("ran %v %s %v", c.Environ, c.Name, c.Args)
				}
				_, _ = io.WriteString(c.Err, output)
				return result
			}
		}
	}
	never := func(e *cmd.Env) {
		e.Run = func(context.Context, cmd.Command) error {
			t.Error("something was compiled")
			return nil
		}
	}
	const arm = "linux/arm/v7"
	for _, c := range []struct {
		name   string
		change func(*cmd.Env)
		args   string
		code   int
		want   string
	}{
		{"nowhere", nil, "image build", 2, "--push, --tarball FILE or --oci-layout DIR is required"},
		{"all at once", nil, "image build --push --platform linux,linux/amd64,linux/amd64 --label x --registry-mirror y", 2, `--registry-mirror "y": must be registry=mirror, such as docker.io=mirror.example.com
error: --image is required with --push
error: --label "x": must be KEY=VALUE, such as org.opencontainers.image.version=1.2.3
error: --platform "linux": must be OS/ARCH or OS/ARCH/VARIANT, such as linux/amd64 or linux/arm/v7
error: --platform "linux/amd64": is given twice
`},
		{"name", nil, "image build --push --image https://x/y", 2, `--image "https://x/y": must be an image reference such as registry.example.com/team/operator:v1, without https://; did you mean "x/y"?`},
		{"no name", nil, "image build --push --image X", 2, `--image "X": must be in lower case before the tag`},
		{"one letter", never, "image build --push --image " + host + "/o:v1", 1, "pushing " + host + "/o:v1: " + host + " denied the push (401); log in with"},
		{"digest", nil, "image build --push --image x.io/aa@sha256:" + strings.Repeat("0", 64), 2, "must have a tag instead of a digest"},
		{"time", func(e *cmd.Env) { e.Environ = []string{"SOURCE_DATE_EPOCH=now"} }, "image build --tarball x.tar", 2, `SOURCE_DATE_EPOCH "now": must be a number of seconds`},
		{"does not compile", run(exited{}, "cmd/main.go:3: no"), "image build --tarball x.tar --platform " + arm, 1, "the manager does not build for linux/arm/v7: go build ./cmd:\n  cmd/main.go:3: no\n"},
		{"no go", run(fs.ErrNotExist, ""), "image build --tarball x.tar --platform " + arm, 1, "go command not found"},
		{"refused", never, "image build --push --image " + host + "/op:v1", 1, "pushing " + host + "/op:v1: " + host + " denied the push (401); log in with"},
		{"no base", nil, "image build --tarball x.tar --base " + host + "/base:v1", 1, "the base: image " + host + "/base:v1: " + host + " denied access (401)"},
		{"directory", never, "image build --oci-layout cmd", 1, "--oci-layout cmd: is a directory with other content"},
		{"old name alone", nil, "build", 2, "takes one argument: the name of the image"},
		{"old flags", never, "build x.io/a:1 --image-builder podman --go-build-args=-v", 2, `--image-builder "podman": is not needed: no other program builds the image; to build the Dockerfile, run 'make docker-build CONTAINER_TOOL=…'
error: --go-build-args "-v": is replaced by the variable GOFLAGS`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := imageProject(t)
			before := clitest.ReadTree(t, dir)
			code, out, errOut := imageCall(t, dir, c.change, strings.Fields(c.args)...)
			if code != c.code || out != "" || !strings.Contains(errOut, c.want) {
				t.Errorf("exit code %d\n%s%s", code, out, errOut)
			}
			if after := clitest.ReadTree(t, dir); len(after) != len(before) {
				t.Errorf("it left %s", clitest.SortedKeys(after))
			}
		})
	}
	compiling := func(e *cmd.Env) {
		run(exited{}, "# example.com/pond/cmd\ncmd/main.go:3:2: undefined: x\n\tmore\ncmd/main.go:4: no")(e)
		e.Environ = append(e.Environ, "GITHUB_ACTIONS=true")
	}
	_, _, errOut := imageCall(t, imageProject(t), compiling, "image", "build", "--tarball", "x.tar", "--platform", arm)
	clitest.CheckContains(t, errOut, "::error::the manager does not build for linux/arm/v7: go build ./cmd:\n"+
		"::error file=cmd/main.go,line=3,col=2::undefined: x%0A\tmore\n::error file=cmd/main.go,line=4::no\n")
	older := clitest.NewDir(t, map[string]string{"PROJECT": "domain: example.com\nlayout:\n- go.kubebuilder.io/v3\nrepo: example.com/pond\nversion: \"3\"\n", "main.go": "package main\n"})
	if code, _, errOut := imageCall(t, older, run(exited{}, ""), "image", "build", "--tarball", "x.tar", "--platform", arm); code != 1 || !strings.Contains(errOut, "error: go build .: exit status 1\n") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	empty := t.TempDir()
	if code, _, errOut := imageCall(t, empty, nil, "image", "build", "--tarball", "x.tar"); code != 1 || !strings.Contains(errOut, "PROJECT") {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

// TestImageBuildInterrupted checks that no files remain of an interrupted build.
func TestImageBuildInterrupted(t *testing.T) {
	t.Parallel()
	dir, temp := imageProject(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	env, err := cmd.System()
	if err != nil {
		t.Fatal(err)
	}
	env.Out, env.Err, env.Dir, env.Environ = &out, &out, dir, []string{"TMPDIR=" + temp, "HOME=" + dir}
	env.Run = func(ctx context.Context, _ cmd.Command) error {
		if entries, err := os.ReadDir(temp); err != nil || len(entries) != 1 {
			t.Errorf("the manager was written to another directory: %v, %v", entries, err)
		}
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	if code := cmd.Main(ctx, env, []string{"operon", "image", "build", "--tarball", "x.tar"}); code != 1 || !strings.HasSuffix(out.String(), "error: interrupted\n") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
	entries, err := os.ReadDir(temp)
	if _, missing := os.Stat(filepath.Join(dir, "x.tar")); err != nil || len(entries) > 0 || missing == nil {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
