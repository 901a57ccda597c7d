package image

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/image"
)

// hangingRegistry starts a registry that does not respond to requests whose path contains a text. It returns its host, and
// a channel that receives these requests.
func hangingRegistry(t *testing.T, path string) (host string, asked <-chan string) {
	t.Helper()
	hanging := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, path) {
			_, _ = io.Copy(io.Discard, r.Body)
			hanging <- r.Method + " " + r.URL.Path
			<-r.Context().Done()
			return
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/v2/"):
		case r.Method == http.MethodPost:
			w.Header().Set("Location", "/v2/x/blobs/uploads/1")
			w.WriteHeader(http.StatusAccepted)
		case r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/manifests/"):
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			_, _ = fmt.Fprintf(w, `{"config":{"size":2,"digest":"sha256:%064d"},"layers":[]}`, 1)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), hanging
}

// savedLayout returns an OCI layout with one image.
func savedLayout(t *testing.T) string {
	t.Helper()
	layer, err := image.NewLayer("a file", []image.File{image.Text("a", 0o644, []byte("a"))}, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	img, err := image.Options{}.Build(t.Context(), image.Recipe{Base: image.Scratch, Parts: []image.Part{{Platform: "linux/amd64", Layers: []*image.Layer{layer}}}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "layout")
	if err := image.WriteLayout(t.Context(), afero.NewOsFs(), dir, []*image.Image{img}); err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(dir)
}

// hangingCommands are commands that use a registry, with part of the path of a request without a response.
func hangingCommands() map[string]string {
	return map[string]string{
		"bundle validate HOST/x/op:v1":              "/v2/",
		"scorecard HOST/x/op:v1 --list":             "/manifests/",
		"generate catalog --bundle HOST/x/op:v1":    "/blobs/",
		"image save HOST/x/op:v1 --tarball out.tar": "/blobs/",
		"image save HOST/x/op:v1 --oci-layout out":  "/manifests/",
		"image load LAYOUT HOST/x/op:v1":            "/uploads/",
	}
}

// TestHangingRegistry checks that --timeout ends a command.
func TestHangingRegistry(t *testing.T) {
	t.Parallel()
	layout := savedLayout(t)
	for args, path := range hangingCommands() {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			host, _ := hangingRegistry(t, path)
			dir := t.TempDir()
			start := time.Now()
			code, _, errOut := clitest.Run(t, dir, t.TempDir(), append(strings.Fields(strings.NewReplacer("HOST", host, "LAYOUT", layout).Replace(args)), "--timeout", "300ms")...)
			if took := time.Since(start); code != 1 || took > 10*time.Second {
				t.Errorf("exit code %d after %s", code, took)
			}
			clitest.CheckContains(t, errOut, "not done within --timeout 300ms")
			if files := clitest.SortedKeys(clitest.ReadTree(t, dir)); len(files) > 0 {
				t.Errorf("left %q", files)
			}
		})
	}
	if code, _, errOut := clitest.Run(t, t.TempDir(), t.TempDir(), "image", "save", "x:1", "--tarball", "y", "--timeout", "-1s"); code != 2 || !strings.Contains(errOut, `--timeout "-1s": must not be negative`) {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
}

// TestWaitingForRegistry checks that a command reports which registry it waits for.
func TestWaitingForRegistry(t *testing.T) {
	t.Parallel()
	host, _ := hangingRegistry(t, "/v2/")
	_, _, errOut := clitest.Run(t, t.TempDir(), t.TempDir(), "bundle", "validate", host+"/x/op:v1", "--timeout", "2300ms")
	clitest.CheckContains(t, errOut, "waiting for "+host+" to respond\n", "not done within --timeout 2.3s")
}

// TestWaitingForRelease checks that the download of a release of OLM reports what it waits for.
func TestWaitingForRelease(t *testing.T) {
	t.Parallel()
	code, _, errOut := imageCall(t, t.TempDir(), func(e *cmd.Env) { e.HTTP = silent{} }, "olm", "install", "--version", "0.39.0", "--dry-run", "--timeout", "2300ms")
	clitest.CheckContains(t, errOut, "waiting for github.com to accept the connection\n", "not done within 2.3s")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
}

// silent is a network without responses.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// TestInterruptAtRegistry interrupts commands while a registry does not respond.
func TestInterruptAtRegistry(t *testing.T) {
	t.Parallel()
	layout := savedLayout(t)
	for args, path := range hangingCommands() {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			host, asked := hangingRegistry(t, path)
			dir := t.TempDir()
			p := clitest.StartProcess(t, dir, nil, strings.Fields(strings.NewReplacer("HOST", host, "LAYOUT", layout).Replace(args))...)
			select {
			case <-asked:
			case <-p.Done:
				t.Fatal("it did not wait for the registry")
			}
			p.Interrupt()
			start := time.Now()
			p.MustEnd(1)
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("ended after %s", took)
			}
			if files := clitest.SortedKeys(clitest.ReadTree(t, dir)); len(files) > 0 {
				t.Errorf("left %q", files)
			}
		})
	}
}
