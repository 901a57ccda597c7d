package scorecard

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/afero"
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
		`{"phase":"Pending","initContainerStatuses":[{"name":"scorecard-untar","state":{"terminated":{"exitCode":2}}}]}`:                                    "container scorecard-untar, which unpacks the bundle, ended with code 2",
		`{"phase":"Running","initContainerStatuses":[{"name":"scorecard-untar","state":{"terminated":{"exitCode":0}}}]}`:                                    "",
		`{"phase":"Failed","reason":"Evicted","message":"The node was low on memory."}`:                                                                     "Evicted: The node was low on memory.",
		`{"phase":"Running","containerStatuses":[{"name":"scorecard-test","state":{"running":{}}},{"name":"x","state":{"waiting":{"reason":"Starting"}}}]}`: "",
	} {
		var state podState
		if err := json.Unmarshal([]byte(`{"status":`+status+`}`), &state); err != nil {
			t.Fatal(err)
		}
		if got := hopeless(state); got != want {
			t.Errorf("%s: got %q, want %q", status, got, want)
		}
	}
}

// TestUnpackInside holds that a test writes no files but below its folder.
func TestUnpackInside(t *testing.T) {
	t.Parallel()
	pack := func(headers ...tar.Header) io.Reader {
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
	file := func(name string) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 3, Mode: 0o644}
	}
	for _, name := range []string{"other/a", "outer/a", "out/../../etc/passwd", "/etc/passwd", "a"} {
		fs := afero.NewMemMapFs()
		if err := unpack(pack(file(name)), fs, "/to", "/out/"); err == nil || !strings.Contains(err.Error(), "which is not in /out/") {
			t.Errorf("%s: got %v", name, err)
		}
		if found, err := afero.Glob(fs, "/*"); err != nil || len(found) > 0 {
			t.Errorf("%s: wrote %q, %v", name, found, err)
		}
	}
	fs := afero.NewMemMapFs()
	link := tar.Header{Name: "out/link", Typeflag: tar.TypeSymlink, Linkname: "/etc"}
	if err := unpack(pack(tar.Header{Name: "out/", Typeflag: tar.TypeDir}, file("./out/a"), file("/out/b/c"), link), fs, "/to", "/out"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"/to/a": true, "/to/b/c": true, "/to/link": false} {
		if ok, err := afero.Exists(fs, name); err != nil || ok != want {
			t.Errorf("%s: %t, %v", name, ok, err)
		}
	}
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
	if err == nil || !strings.Contains(err.Error(), "a ConfigMap for its tests takes no more than 1048576") {
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
