package controlplane

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// archive is a download as the index offers it.
func archive(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	files := tar.NewWriter(zip)
	for _, name := range names {
		content := "downloaded " + name
		header := &tar.Header{Name: "controller-tools/envtest/" + executable(name), Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg}
		if err := errors.Join(files.WriteHeader(header), func() error { _, err := files.Write([]byte(content)); return err }()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(files.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// serveIndex serves an index with versions for this platform and returns its address.
func serveIndex(t *testing.T, sum string, data []byte, offered ...string) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	if sum == "" {
		digest := sha512.Sum512(data)
		sum = hex.EncodeToString(digest[:])
	}
	index := "releases:\n"
	for _, version := range offered {
		name := fmt.Sprintf("envtest-v%s-%s-%s.tar.gz", version, runtime.GOOS, runtime.GOARCH)
		index += fmt.Sprintf("  v%s:\n    %s:\n      hash: %s\n      selfLink: %s/%s\n", version, name, sum, server.URL, name)
	}
	mux.HandleFunc("/index.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(index)) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
	return server.URL + "/index.yaml"
}

// silentIndex accepts connections and sends nothing, like a network that drops packets.
func silentIndex(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String() + "/index.yaml"
}

// TestStalledDownload checks that the download of an archive ends when nothing more of it arrives, and not before.
func TestStalledDownload(t *testing.T) {
	t.Parallel()
	const timeout = 300 * time.Millisecond
	for name, parts := range map[string]int{"stalls": 2, "is slow": 8} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const part, all = "part", 8
			sum := sha512.Sum512([]byte(strings.Repeat(part, all)))
			archives := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(all*len(part)))
				for range parts {
					time.Sleep(timeout / 4)
					_, _ = io.WriteString(w, part)
					w.(http.Flusher).Flush()
				}
				if parts < all {
					<-r.Context().Done()
				}
			}))
			t.Cleanup(archives.Close)
			name := fmt.Sprintf("envtest-v1.36.2-%s-%s.tar.gz", runtime.GOOS, runtime.GOARCH)
			list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, "releases:\n  v1.36.2:\n    %s:\n      hash: %s\n      selfLink: %s/%[1]s\n", name, hex.EncodeToString(sum[:]), archives.URL)
			}))
			t.Cleanup(list.Close)
			client := newIndexClient(t.Context(), logr.Discard(), list.URL)
			client.archiveTimeout = timeout
			platform := versions.PlatformItem{Platform: hostPlatform(), Hash: &versions.Hash{Type: versions.SHA512HashType, Encoding: versions.HexHashEncoding, Value: hex.EncodeToString(sum[:])}}
			err := client.GetVersion(t.Context(), versions.Concrete{Major: 1, Minor: 36, Patch: 2}, platform, io.Discard)
			if stalled := err != nil && err.Error() == "no data of the archive received within 300ms"; stalled != (parts < all) || err != nil && !stalled {
				t.Errorf("got %v", err)
			}
		})
	}
}

// noIndex refuses connections.
const noIndex = "http://127.0.0.1:1/index.yaml"

func TestEnsureDownloads(t *testing.T) {
	t.Parallel()
	g := &fakeGo{}
	o := offline(t, g)
	var progress messages
	o.NoDownload, o.Progress = false, progress.add
	o.IndexURL = serveIndex(t, "", archive(t, Etcd, KubeAPIServer, Kubectl), "1.36.1", "1.36.2", "1.37.0")
	got := ensure(t, o)
	if got.Source != fromStore || got.Version != "1.36.2" || got.Dir != storeFolder(o.StoreDirs[0], "1.36.2") || g.count() != 0 {
		t.Errorf("%+v", got)
	}
	if !strings.Contains(progress.String(), "downloading etcd and kube-apiserver v1.36.2") {
		t.Errorf("progress: %s", &progress)
	}
	o.IndexURL = noIndex
	if again := ensure(t, o); again != got {
		t.Errorf("the second time: %+v", again)
	}
}

func TestEnsureBuildsWithoutDownload(t *testing.T) {
	t.Parallel()
	programs := archive(t, Etcd, KubeAPIServer)
	for name, index := range map[string]string{
		"refused":    noIndex,
		"silent":     silentIndex(t),
		"lacking":    serveIndex(t, "", programs, "1.35.0"),
		"checksum":   serveIndex(t, strings.Repeat("0", 128), programs, "1.36.2"),
		"incomplete": serveIndex(t, "", archive(t, Etcd), "1.36.2"),
		"no archive": serveIndex(t, "", []byte("no archive"), "1.36.2"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := offline(t, &fakeGo{})
			o.NoDownload, o.IndexURL = false, index
			if got := ensure(t, o); got.Source != fromBuild {
				t.Errorf("%+v", got)
			}
		})
	}
}

// tool runs the command line with its own bin directory.
type tool struct {
	t     *testing.T
	build *fakeGo
	bin   string
	index string
	env   map[string]string
	in    string
	o     EnsureOptions
}

func newTool(t *testing.T, index string) *tool {
	g := &fakeGo{}
	return &tool{t: t, build: g, bin: t.TempDir(), index: index, env: map[string]string{}, o: offline(t, g)}
}

func (c *tool) run(args ...string) (out, errOut string, code int) {
	c.t.Helper()
	var stdout, stderr bytes.Buffer
	err := SetupEnvtest(c.t.Context(), append(args, "--bin-dir", c.bin, "--index", c.index), SetupEnvtestOptions{
		Name: "operon tool setup-envtest", In: strings.NewReader(c.in), Out: &stdout, Err: &stderr,
		Getenv: func(name string) string { return c.env[name] }, Ensure: c.o,
	})
	var exit *ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.Code
		stderr.WriteString(err.Error())
	case err != nil:
		c.t.Errorf("not an ExitError: %v", err)
	}
	return stdout.String(), stderr.String(), code
}

func (c *tool) want(code int, out, errOut string, args ...string) {
	c.t.Helper()
	gotOut, gotErr, gotCode := c.run(args...)
	if gotCode != code || gotOut != out || !strings.Contains(gotErr, errOut) || errOut == "" && gotErr != "" {
		c.t.Errorf("%q:\n code %d, want %d\n out %q\nwant %q\n err %q\nwant %q", args, gotCode, code, gotOut, out, gotErr, errOut)
	}
}

func TestSetupEnvtestOffline(t *testing.T) {
	t.Parallel()
	c := newTool(t, noIndex)
	own := storeFolder(c.bin, Version)

	c.want(2, "", "no applicable on-disk versions", "use", "1.36", "-i", "-p", "path")
	c.want(0, own, "the index cannot be reached, and Kubernetes 1.36.* is not installed: using Operon's build of "+Version, "use", "1.36", "-p", "path")
	if missing := missingParts(own, []string{Etcd, KubeAPIServer, Kubectl}); len(missing) > 0 || c.build.count() != 1 {
		t.Errorf("no %v after %d builds", missing, c.build.count())
	}
	c.want(0, own, "", "use", "1.36", "-p", "path")
	c.want(0, "export KUBEBUILDER_ASSETS='"+own+"'\n", "", "use", Version, "-i", "--print", "env")
	c.want(0, fmt.Sprintf("Version: %s\nOS/Arch: %s\nPath: %s\n", Version, hostPlatform(), own), "", "use", "~1.36.1")
	c.want(0, own, "using the newest installed version", "use", "-p", "path")
	c.want(0, own, "using the newest installed version", "use", "1.36.x!", "-p", "path")
	c.want(0, own, "Kubernetes 1.35.* is not installed: using Operon's build of "+Version, "use", "1.35", "-p", "path")
	c.want(0, own, "Kubernetes 1.36.9 is not installed: using Operon's build of "+Version, "use", "1.36.9", "-p", "path")
	c.want(2, "", "no applicable on-disk", "use", "1.35", "-i", "-p", "path")
	c.want(2, "", "unable to", "use", "1.36", "--os", "solaris", "-p", "path")
	c.want(0, fmt.Sprintf("(installed)  v%s  %s\n", Version, hostPlatform()), "", "list", "-i")
	c.want(2, fmt.Sprintf("(installed)  v%s  %s\n", Version, hostPlatform()), "unable", "list")
	c.want(0, fmt.Sprintf("removed %s (%s)\n", Version, hostPlatform()), "", "cleanup", "<1.37")
	if c.build.count() != 1 {
		t.Errorf("%d builds", c.build.count())
	}
	// Operon's cache still has it: neither the index nor a build is needed.
	c.want(0, own, "", "use", "1.36", "-i", "-p", "path")
	c.want(0, fmt.Sprintf("removed %s (%s)\n", Version, hostPlatform()), "", "cleanup", "<1.37")
	c.want(0, own, "", "use", "1.36", "-p", "path")

	c.env["ENVTEST_INSTALLED_ONLY"] = "1"
	c.want(2, "", "no such version (1.34.0)", "use", "1.34.0")
	delete(c.env, "ENVTEST_INSTALLED_ONLY")

	c.env["KUBEBUILDER_ASSETS"] = putPrograms(t, filepath.Join(t.TempDir(), "it's"), Etcd, KubeAPIServer, Kubectl)
	c.want(0, own, "", "use", "1.36", "-p", "path")
	c.want(0, c.env["KUBEBUILDER_ASSETS"], "", "use", "1.36", "-p", "path", "--use-env")
	c.env["ENVTEST_USE_ENV"] = "1"
	c.want(0, "export KUBEBUILDER_ASSETS='"+strings.ReplaceAll(c.env["KUBEBUILDER_ASSETS"], "'", `'"'"'`)+"'\n", "", "use", "1.36", "-p", "env")
}

func TestSetupEnvtestSilentIndex(t *testing.T) {
	t.Parallel()
	c := newTool(t, silentIndex(t))
	c.want(0, storeFolder(c.bin, Version), "the index cannot be reached", "use", "-p", "path")
}

func TestSetupEnvtestDownloads(t *testing.T) {
	t.Parallel()
	data := archive(t, Etcd, KubeAPIServer, Kubectl)
	c := newTool(t, serveIndex(t, "", data, "1.35.0", "1.36.1", "1.36.2"))
	c.want(0, fmt.Sprintf("(available)  v1.36.2  %[1]s\n(available)  v1.36.1  %[1]s\n(available)  v1.35.0  %[1]s\n", hostPlatform()), "", "list")
	c.want(0, storeFolder(c.bin, "1.36.1"), "", "use", "1.36.1", "-p", "path")
	c.want(0, storeFolder(c.bin, "1.36.1"), "", "use", "1.36", "-p", "path")
	c.want(0, storeFolder(c.bin, "1.36.2"), "", "use", "1.36!", "-p", "path")
	c.want(0, storeFolder(c.bin, "1.36.2"), "", "use", "--force", "--verify=false", "1.36.2", "-p", "path")
	if content, err := os.ReadFile(filepath.Join(storeFolder(c.bin, "1.36.2"), executable(Etcd))); err != nil || string(content) != "downloaded etcd" {
		t.Errorf("%s, %v", content, err)
	}
	c.want(2, "", "unable to", "use", "1.34", "-p", "path")
	if c.build.count() != 0 {
		t.Errorf("%d builds", c.build.count())
	}
	c.want(0, storeFolder(c.bin, Version), "the index has no Kubernetes "+Version, "use", Version, "-p", "path")

	c.in = string(data)
	c.want(0, storeFolder(c.bin, "1.20.1"), "", "sideload", "1.20.1", "-p", "path")
	c.want(2, "", "must specify a concrete version", "sideload")

	bad := newTool(t, serveIndex(t, strings.Repeat("0", 128), data, "1.36.2"))
	bad.want(2, "", "checksum mismatch", "use", "1.36", "-p", "path")
	if bad.build.count() != 0 {
		t.Error("a wrong checksum is covered up by a build")
	}
}

func TestSetupEnvtestArguments(t *testing.T) {
	t.Parallel()
	c := newTool(t, noIndex)
	c.want(2, "", "pass a command")
	c.want(2, "", "pass a command", "use", "1.36", "more")
	c.want(2, "", `unknown command "get"`, "get")
	c.want(2, "", "unknown flag: --nope", "use", "--nope")
	c.want(2, "", "unknown print format", "use", "-p", "json")
	c.want(2, "", `version "one"`, "use", "one")
	c.want(2, "", "too large", "use", "99999999999999999999.1")
	c.want(2, "", "cannot both skip", "use", "-i", "--force")
	c.want(2, "", "-v loud", "use", "-v", "loud")
	if out, _, code := c.run("--help"); code != 0 || !strings.Contains(out, "Usage: operon tool setup-envtest") || !strings.Contains(out, "--installed-only") {
		t.Errorf("code %d: %s", code, out)
	}
	if out, _, code := c.run("version"); code != 0 || !strings.HasPrefix(out, "setup-envtest version: ") {
		t.Errorf("code %d: %s", code, out)
	}
	if _, errOut, _ := c.run("list", "-i", "-v", "debug"); !strings.Contains(errOut, "ensuring base binaries dir exists") {
		t.Errorf("nothing is logged: %s", errOut)
	}
	if left, _ := os.ReadDir(c.o.CacheDir); len(left) > 0 {
		t.Errorf("wrong arguments made %v", left)
	}
}
