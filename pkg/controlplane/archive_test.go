package controlplane

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// packed returns the archive that Pack writes for a platform.
func packed(t *testing.T, goos, arch string) []byte {
	t.Helper()
	var out bytes.Buffer
	g := &fakeGo{}
	if err := Pack(t.Context(), PackOptions{OS: goos, Arch: arch, Dir: t.TempDir(), Modified: time.Unix(1e9, 0), Run: g.run}, &out); err != nil {
		t.Fatal(err)
	}
	if env := strings.Join(g.builds[0].Env, " "); !strings.Contains(env, "GOOS="+goos+" GOARCH="+arch) {
		t.Errorf("the build's environment: %s", env)
	}
	return out.Bytes()
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestPack(t *testing.T) {
	t.Parallel()
	archive := packed(t, "windows", "amd64")
	if !bytes.Equal(archive, packed(t, "windows", "amd64")) {
		t.Error("a second archive differs")
	}
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for content := tar.NewReader(compressed); ; {
		header, err := content.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		listed = append(listed, strings.TrimSpace(header.FileInfo().Mode().String()+" "+header.Name+" "+header.Linkname+string(data)))
	}
	const want = `-rwxr-xr-x etcd.exe program
-rwxr-xr-x kube-apiserver.exe etcd.exe
-rwxr-xr-x kube-controller-manager.exe etcd.exe
-rwxr-xr-x kube-scheduler.exe etcd.exe
-rwxr-xr-x kubectl.exe etcd.exe`
	if got := strings.Join(listed, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if name, err := ArchiveName("linux", "arm64"); err != nil || !strings.HasPrefix(name, "operon-control-plane_"+Version+"-linux-arm64-") {
		t.Errorf("name %s, %v", name, err)
	}
}

// serve serves a file at /v1/, a redirect to a server without TLS at /plain/, and nothing else.
func serve(t *testing.T, data []byte) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path.Dir(r.URL.Path) {
		case "/v1":
			_, _ = w.Write(data)
		case "/plain":
			http.Redirect(w, r, "http://localhost/v1/archive", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestReleaseArchive checks where Ensure gets the control plane from, what it prints, and that it never uses other bytes than the release's.
func TestReleaseArchive(t *testing.T) {
	t.Parallel()
	host := hostPlatform()
	archive := packed(t, host.OS, host.Arch)
	var linked bytes.Buffer
	compressed := gzip.NewWriter(&linked)
	content := tar.NewWriter(compressed)
	if err := errors.Join(content.WriteHeader(&tar.Header{Name: "etcd", Typeflag: tar.TypeSymlink, Linkname: "/bin/sh"}), content.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	server, other := serve(t, archive), serve(t, linked.Bytes())
	mirror := t.TempDir()
	if err := os.WriteFile(filepath.Join(mirror, "archive"), archive, 0o644); err != nil {
		t.Fatal(err)
	}
	const compiled = "building etcd and kube-apiserver"
	for name, test := range map[string]struct {
		server      *httptest.Server
		at, sum     string // of the archive; none without
		mirror, env string
		printed     []string
		builds      int
		err         string
	}{
		"downloaded":                     {server, "/v1/archive", digest(archive), "", "", []string{"from the release"}, 0, ""},
		"not in the release":             {server, "/v2/archive", digest(archive), "", "", []string{"404 Not Found", compiled}, 1, ""},
		"unreachable":                    {nil, "/v1/archive", digest(archive), "", "", []string{"can't be used", compiled}, 1, ""},
		"other bytes":                    {other, "/v1/archive", digest(archive), "", "", []string{"archive has the SHA-256 digest " + digest(linked.Bytes()) + " instead of", compiled}, 1, ""},
		"no program":                     {other, "/v1/archive", digest(linked.Bytes()), "", "", []string{"etcd in the archive isn't a program", compiled}, 1, ""},
		"redirect without TLS":           {server, "/plain/archive", digest(archive), "", "", []string{"must be an https URL", compiled}, 1, ""},
		"no downloads":                   {server, "/v1/archive", digest(archive), "", "GOPROXY=off", []string{compiled}, 1, ""},
		"mirror directory":               {nil, "/v2/archive", digest(archive), mirror, "GOPROXY=off", []string{"from the release"}, 0, ""},
		"mirror directory without it":    {server, "/v1/archive", digest(archive), t.TempDir(), "", nil, 0, "OPERON_MIRROR="},
		"mirror directory, other bytes":  {server, "/v1/archive", digest(nil), mirror, "", nil, 0, "instead of " + digest(nil)},
		"mirror URL":                     {server, "/v2/archive", digest(archive), server.URL + "/v1/", "", []string{"from the release"}, 0, ""},
		"mirror URL with a password":     {server, "/v2/archive", digest(archive), strings.Replace(server.URL, "//", "//user:secret@", 1), "", nil, 0, "user:xxxxx@"},
		"mirror URL without TLS":         {server, "/v1/archive", digest(archive), "http://localhost/v1", "", nil, 0, "must be an https URL"},
		"mirror, but no release":         {nil, "", "", mirror, "", []string{"OPERON_MIRROR isn't used", compiled}, 1, ""},
		"neither a mirror nor a release": {nil, "", "", "", "", []string{compiled}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, progress := &fakeGo{}, messages{}
			o := offline(t, g)
			o.Progress, o.Mirror, o.Environ = progress.add, test.mirror, []string{test.env}
			address := "https://127.0.0.1:1"
			if test.server != nil {
				o.HTTP, address = test.server.Client().Transport, test.server.URL
			}
			if test.at != "" {
				o.Archive = &Archive{URL: address + test.at, SHA256: test.sum}
			}
			built, err := Ensure(t.Context(), o)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %s", err, test.err)
				} else if strings.Contains(err.Error(), "secret") {
					t.Errorf("the error has a password: %v", err)
				}
			} else if missing := missingParts(built.Dir, partsOf(host)); err != nil || len(missing) > 0 {
				t.Errorf("error %v, missing %v", err, missing)
			}
			for _, want := range test.printed {
				if !strings.Contains(progress.String(), want) {
					t.Errorf("printed\n%s\nwithout %q", &progress, want)
				}
			}
			if g.count() != test.builds || test.builds == 0 && strings.Contains(progress.String(), compiled) {
				t.Errorf("%d builds, want %d", g.count(), test.builds)
			}
			noBuildDirectories(t, o)
		})
	}
}
