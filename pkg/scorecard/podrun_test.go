package scorecard

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"

	"github.com/operon-sdk/operon/pkg/kube"
)

func TestHopeless(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		`{"phase":"Pending"}`: "",
		`{"phase":"Pending","containerStatuses":[{"name":"scorecard-test","state":{"waiting":{"reason":"PodInitializing"}}}]}`:                              "",
		`{"phase":"Pending","containerStatuses":[{"name":"scorecard-test","state":{"waiting":{"reason":"ErrImagePull","message":"connection refused"}}}]}`:  "",
		`{"phase":"Pending","containerStatuses":[{"name":"scorecard-test","state":{"waiting":{"reason":"ErrImagePull","message":"a/b:c: not found"}}}]}`:    "container scorecard-test: ErrImagePull",
		`{"phase":"Pending","containerStatuses":[{"name":"scorecard-test","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}`:                             "container scorecard-test: ImagePullBackOff",
		`{"phase":"Pending","initContainerStatuses":[{"name":"scorecard-untar","state":{"waiting":{"reason":"CreateContainerConfigError"}}}]}`:              "container scorecard-untar: CreateContainerConfigError",
		`{"phase":"Running","containerStatuses":[{"name":"scorecard-gather","state":{"waiting":{"reason":"InvalidImageName"}}}]}`:                           "container scorecard-gather: InvalidImageName",
		`{"phase":"Pending","initContainerStatuses":[{"name":"scorecard-untar","state":{"terminated":{"exitCode":2}}}]}`:                                    "container scorecard-untar, which unpacks the bundle, exited with code 2",
		`{"phase":"Running","initContainerStatuses":[{"name":"scorecard-untar","state":{"terminated":{"exitCode":0}}}]}`:                                    "",
		`{"phase":"Failed","reason":"Evicted","message":"The node was low on memory."}`:                                                                     "Evicted: The node was low on memory.",
		`{"phase":"Running","containerStatuses":[{"name":"scorecard-test","state":{"running":{}}},{"name":"x","state":{"waiting":{"reason":"Starting"}}}]}`: "",
	} {
		var state podState
		if err := json.Unmarshal([]byte(`{"status":`+status+`}`), &state); err != nil {
			t.Fatal(err)
		}
		if got := permanentFailure(state); got != want {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
}

// packEntries makes a tar stream; files have as many bytes as their headers state.
func packEntries(t *testing.T, headers ...tar.Header) io.Reader {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, strings.Repeat("x", int(h.Size))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

func fileEntry(name string, size int64) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size, Mode: 0o644}
}

// openRoot opens a new directory that is at the path "to" of its parent.
func openRoot(t *testing.T) (root *os.Root, parent string) {
	t.Helper()
	parent = t.TempDir()
	if err := os.Mkdir(filepath.Join(parent, "to"), 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(parent, "to"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root, parent
}

// TestUnpackRepository verifies that a test writes nothing that git would run.
func TestUnpackRepository(t *testing.T) {
	t.Parallel()
	root, _ := openRoot(t)
	err := unpack(packEntries(t, fileEntry("out/git~1/config", 3)), root, ".", "/out/", maxOutput())
	if err == nil || !strings.Contains(err.Error(), "directory of version control") {
		t.Errorf("got %v", err)
	}
}

// TestUnpackInside verifies that a test writes no files outside its directory.
func TestUnpackInside(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"other/a", "outer/a", "out/../../etc/passwd", "/etc/passwd", "a"} {
		root, parent := openRoot(t)
		if err := unpack(packEntries(t, fileEntry(name, 3)), root, ".", "/out/", maxOutput()); err == nil || !strings.Contains(err.Error(), "which is not in /out/") {
			t.Errorf("%s: got %v", name, err)
		}
		if found, err := filepath.Glob(filepath.Join(parent, "*", "*")); err != nil || len(found) > 0 {
			t.Errorf("%s: wrote %q, %v", name, found, err)
		}
	}
	root, parent := openRoot(t)
	link := tar.Header{Name: "out/link", Typeflag: tar.TypeSymlink, Linkname: "/etc"}
	entries := packEntries(t, tar.Header{Name: "out/", Typeflag: tar.TypeDir}, fileEntry("./out/a", 3), fileEntry("/out/b/c", 3), link)
	if err := unpack(entries, root, "suite", "/out", maxOutput()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"suite/a": true, "suite/b/c": true, "suite/link": false} {
		if _, err := os.Lstat(filepath.Join(parent, "to", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnpackLinks verifies that files are not written through symbolic links that lead out of the directory.
func TestUnpackLinks(t *testing.T) {
	t.Parallel()
	for link, entry := range map[string]string{"suite": "out/victim", "victim": "out/../out/victim"} {
		root, parent := openRoot(t)
		dir, target := "suite", parent
		if link == "victim" {
			dir, target = ".", filepath.Join(parent, "victim")
		}
		if err := os.Symlink(target, filepath.Join(parent, "to", link)); err != nil {
			t.Skipf("this system does not let the test create symbolic links: %v", err)
		}
		if err := unpack(packEntries(t, fileEntry(entry, 3)), root, dir, "/out", maxOutput()); err == nil || !strings.Contains(err.Error(), "escapes") {
			t.Errorf("%s: got %v", link, err)
		}
		if _, err := os.Lstat(filepath.Join(parent, "victim")); err == nil {
			t.Errorf("%s: wrote a file outside the directory", link)
		}
	}
}

func TestUnpackLimits(t *testing.T) {
	t.Parallel()
	limits := outputLimits{entries: 3, file: 1 << 20, total: 2 << 20}
	var many bytes.Buffer
	w := tar.NewWriter(&many)
	endless := io.MultiReader(&many, zeros{}) // the archive of a test that never ends
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		stream io.Reader
		want   string
	}{
		{"as many as permitted", packEntries(t, fileEntry("out/a", 1<<20), fileEntry("out/b", 1<<20), fileEntry("out/c", 0)), ""},
		{"entries", packEntries(t, fileEntry("out/a", 0), fileEntry("out/b", 0), fileEntry("out/c", 0), fileEntry("out/d", 0)), "the test's files are more than 3"},
		{"file", packEntries(t, fileEntry("out/a", 1<<20+1)), `the test's file "out/a" has 1048577 bytes; the maximum is 1048576`},
		{"total", packEntries(t, fileEntry("out/a", 1<<20), fileEntry("out/b", 1<<20), fileEntry("out/c", 1)), "the test's files are larger than 2 MiB"},
		{"padding", endless, "the test's files are larger than 2 MiB"},
	} {
		root, _ := openRoot(t)
		switch err := unpack(test.stream, root, ".", "/out", limits); {
		case test.want == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.want != "" && (err == nil || err.Error() != test.want):
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestArchiveTooLarge(t *testing.T) {
	t.Parallel()
	small := Bundle{Name: "b", FS: fstest.MapFS{"manifests/a": {Data: random(1000)}}}
	first, err := archive(small)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := archive(small); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the same bundle gives other bytes: %v", err)
	}
	_, err = archive(Bundle{Name: "b", FS: fstest.MapFS{"manifests/a": {Data: random(2 << 20)}}})
	if err == nil || !strings.Contains(err.Error(), "the maximum of its ConfigMap is 1048576") {
		t.Errorf("got %v", err)
	}
}

// random are bytes that do not compress, the same at each run.
func random(n int) []byte {
	data, x := make([]byte, n), uint64(1)
	for i := range data {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		data[i] = byte(x)
	}
	return data
}

// TestTimeIsUpDuringRequest lets the time end while the API server has not yet answered a request for the pod.
func TestTimeIsUpDuringRequest(t *testing.T) {
	t.Parallel()
	up := errors.New("the time is up")
	ctx, cancel := context.WithCancelCause(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case ctx.Err() != nil: // what explains the state of the pod
			_, _ = io.WriteString(w, `{"items":[]}`)
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `{}`)
		default:
			cancel(up)
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	client, err := kube.New(fmt.Appendf(nil, `{"apiVersion": "v1", "kind": "Config", "current-context": "c",
"contexts": [{"name": "c", "context": {"cluster": "c"}}], "clusters": [{"name": "c", "cluster": {"server": %q}}]}`, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{Client: client, Progress: func(Event) {}}
	status := c.RunTest(ctx, v1alpha3.TestConfiguration{})
	if want := []string{"no result: the time is up", "it has no pods"}; len(status.Results) != 1 || !slices.Equal(status.Results[0].Errors, want) {
		t.Errorf("got %+v, want one result with %q", status.Results, want)
	}
}
