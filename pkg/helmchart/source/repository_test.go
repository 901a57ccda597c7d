package source

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// A repository serves charts.
type repository struct {
	*httptest.Server
	t     *testing.T
	index map[string]any
	files map[string][]byte
	// redirects maps paths to URLs.
	redirects map[string]string
	// user and password are required if they are not empty.
	user, password string
	// stall, if not nil, is what requests wait for; stalled is called before.
	stall   chan struct{}
	stalled func()

	mu       sync.Mutex
	requests []string
}

func newRepository(t *testing.T) *repository {
	r := &repository{t: t, index: map[string]any{}, files: map[string][]byte{}, redirects: map[string]string{}}
	r.Server = httptest.NewUnstartedServer(r)
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // some tests break off handshakes
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP serves the index and the files.
func (r *repository) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	user, password, _ := request.BasicAuth()
	r.mu.Lock()
	r.requests = append(r.requests, strings.TrimSpace(request.URL.Path+" "+user))
	r.mu.Unlock()
	if r.stall != nil {
		r.stalled()
		<-r.stall
	}
	if r.user != "" && (user != r.user || password != r.password) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if target, ok := r.redirects[request.URL.Path]; ok {
		http.Redirect(w, request, target, http.StatusFound)
		return
	}
	data, ok := r.files[request.URL.Path]
	if request.URL.Path == "/charts/index.yaml" {
		var err error
		data, err = yaml.Marshal(map[string]any{"apiVersion": "v1", "entries": r.index})
		ok = err == nil
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write(data)
}

// add adds a chart. The URL in the index is relative unless it is given.
func (r *repository) add(files helmchart.Files, url string) []byte {
	r.t.Helper()
	name, version := headOf(files)
	data := archiveOf(r.t, files)
	file := name + "-" + version + ".tgz"
	r.files["/charts/"+file] = data
	if url == "" {
		url = file
	}
	versions, _ := r.index[name].([]any)
	r.index[name] = append(versions, map[string]any{
		"apiVersion": "v2", "name": name, "version": version, "urls": []string{url},
		"digest": strings.TrimPrefix(archiveDigest(data), "sha256:"),
	})
	return data
}

// start starts the server without TLS, and returns the URL of the repository.
func (r *repository) start() string {
	r.Start()
	return r.URL + "/charts"
}

// seen returns the requests since the last call: the path and the user.
func (r *repository) seen() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.requests = nil }()
	return strings.Join(r.requests, ", ")
}

// configure writes repositories.yaml.
func (f *fetcher) configure(t *testing.T, entries ...map[string]any) {
	t.Helper()
	data, err := yaml.Marshal(map[string]any{"apiVersion": "", "repositories": entries})
	if err != nil {
		t.Fatal(err)
	}
	write(t, f.settings.RepositoryConfig, data)
}

// TestFetchRepository checks versions, credentials and the cache of a repository of the user.
func TestFetchRepository(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	server.user, server.password = "alice", "s3cret"
	for _, version := range []string{"1.0.0", "1.1.0", "2.0.0", "2.1.0-rc.1"} {
		server.add(minimal("app", version, ""), "")
	}
	server.add(minimal("early", "0.1.0-alpha", ""), "")
	server.add(minimal("app-tools", "1.0.0", ""), "")
	url := server.start()
	f := newFetcher(t)
	f.configure(t, map[string]any{"name": "private", "url": url, "username": "alice", "password": "s3cret"},
		map[string]any{"name": "wrong", "url": url, "username": "alice", "password": "wr0ng"})

	for want, version := range map[string]string{"2.0.0": "", "1.1.0": "~1", "1.0.0": "1.0.0", "2.1.0-rc.1": ">=2.1.0-0"} {
		answer := mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "private/app", Version: version})
		data := server.files["/charts/app-"+want+".tgz"]
		if answer.Origin != (helmchart.Origin{Chart: "private/app", Version: want, Digest: archiveDigest(data)}) {
			t.Errorf("version %q: %+v", version, answer.Origin)
		}
	}
	server.seen()
	if mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "app", Repo: url + "/", Version: "1.0.0"}); server.seen() != "/charts/index.yaml alice, /charts/app-1.0.0.tgz alice" {
		t.Error("the credentials of a URL in repositories.yaml were not used")
	}
	for request, want := range map[helmchart.FetchRequest]string{
		{Chart: "private/app", Version: "1.0.5"}:    "chart app in repository private: version 1.0.5 not found; the nearest are 2.1.0-rc.1, 2.0.0, 1.1.0, 1.0.0",
		{Chart: "private/app", Version: ">=3"}:      `chart app in repository private: no version matches ">=3"; the newest are 2.1.0-rc.1, 2.0.0, 1.1.0, 1.0.0`,
		{Chart: "private/app", Version: "newest"}:   `version "newest" must be a semantic version or a constraint`,
		{Chart: "private/early"}:                    "there is no release; pass one of the pre-releases 0.1.0-alpha",
		{Chart: "private/ap"}:                       "chart not found; similar names are app, app-tools",
		{Chart: "private/missing"}:                  "chart missing in repository private: chart not found",
		{Chart: "other/app"}:                        `repository "other" not found; use one of private, wrong, or add it with 'helm repo add other URL'`,
		{Chart: "wrong/app"}:                        "401 Unauthorized; add the repository with its credentials",
		{Chart: "a/b", Repo: url}:                   "a/b: must be the name of a chart, as a repository is given",
		{Chart: "app", Repo: "ftp://example.com"}:   `ftp://example.com: unsupported scheme "ftp"; use https, http or oci`,
		{Chart: "app", Repo: server.URL + "/other"}: "/other/index.yaml: 401 Unauthorized",
	} {
		_, err := f.again().fetch(t.Context(), request)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v\nwant %s", request, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "wr0ng")) {
			t.Errorf("the error has a password: %v", err)
		}
	}
}

// TestFetchIndexCache checks when the index in Helm's cache is used.
func TestFetchIndexCache(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	server.add(minimal("app", "1.0.0", ""), "")
	url := server.start()
	f := newFetcher(t)
	f.configure(t, map[string]any{"name": "r", "url": url})
	cached, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "entries": server.index})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(f.settings.RepositoryCache, "r-index.yaml"), cached)
	data := server.add(minimal("app", "1.1.0", ""), "")

	// An exact version in the cache needs no download, another one does.
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "r/app", Version: "1.0.0"})
	if got := server.seen(); got != "/charts/app-1.0.0.tgz" {
		t.Errorf("version in the cached index: %s", got)
	}
	for _, version := range []string{"", "1.1.0", "1.x"} {
		if answer := mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "r/app", Version: version}); answer.Origin.Version != "1.1.0" {
			t.Errorf("version %q: %+v", version, answer.Origin)
		}
		if got := server.seen(); got != "/charts/index.yaml, /charts/app-1.1.0.tgz" {
			t.Errorf("version %q: %s", version, got)
		}
	}

	// Archives in Helm's caches are used if their digest is the one in the index.
	write(t, filepath.Join(f.settings.RepositoryCache, "app-1.1.0.tgz"), data)
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "r/app"})
	if got := server.seen(); got != "/charts/index.yaml" {
		t.Errorf("archive in Helm 3's cache: %s", got)
	}
	write(t, filepath.Join(f.settings.RepositoryCache, "app-1.1.0.tgz"), []byte("another"))
	digest := strings.TrimPrefix(archiveDigest(data), "sha256:")
	write(t, filepath.Join(f.settings.ContentCache, digest[:2], digest+".chart"), data)
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "r/app"})
	if got := server.seen(); got != "/charts/index.yaml" {
		t.Errorf("archive in Helm 4's cache: %s", got)
	}

	// Without network, the caches are all that is used.
	f.offline = true
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "r/app", Version: "1.1.0"}, "version 1.1.0 not found; the nearest are 1.0.0")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "r/app"}, "chart app 1.0.0: "+url+"/app-1.0.0.tgz: network access is not allowed (--offline)")
	write(t, filepath.Join(f.settings.RepositoryCache, "app-1.0.0.tgz"), server.files["/charts/app-1.0.0.tgz"])
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "r/app"})
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "app", Repo: url + "/other"}, url+"/other/index.yaml: network access is not allowed (--offline)")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: url + "/a.tgz"}, url+"/a.tgz: network access is not allowed (--offline)")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "oci://localhost:1/a"}, "oci://localhost:1/a: network access is not allowed (--offline)")
	if got := server.seen(); got != "" {
		t.Errorf("requests although offline: %s", got)
	}

	// A repository that does not answer is replaced by its cached index, with a warning.
	f.offline = false
	server.Close()
	answer := mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "r/app"})
	if answer.Origin.Version != "1.0.0" || len(answer.Warnings) != 1 || !strings.Contains(answer.Warnings[0], "the index in Helm's cache was used") {
		t.Errorf("%+v", answer)
	}
}

// TestFetchDigest checks that an archive that differs from the index is refused.
func TestFetchDigest(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	server.add(minimal("app", "1.0.0", ""), "")
	server.files["/charts/app-1.0.0.tgz"] = archiveOf(t, minimal("app", "1.0.0", "description: changed\n"))
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: "app", Repo: server.start()}, "the archive has digest sha256:", "but the index of the repository has sha256:")
}

// TestFetchPassCredentials checks which hosts get the credentials of a repository.
func TestFetchPassCredentials(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		pass         bool
		index, other string
		redirect     bool
	}{
		{name: "another host", index: "alice", other: ""},
		{name: "another host, passed", pass: true, index: "alice", other: "alice"},
		{name: "redirect", redirect: true, index: "alice", other: ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server, other := newRepository(t), newRepository(t)
			files := minimal("app", "1.0.0", "")
			target := other.start() + "/app-1.0.0.tgz"
			other.add(files, "")
			if server.add(files, target); test.redirect {
				server.index = map[string]any{}
				server.add(files, "")
				server.redirects["/charts/app-1.0.0.tgz"] = target
			}
			f := newFetcher(t)
			f.configure(t, map[string]any{"name": "r", "url": server.start(), "username": "alice", "password": "x", "pass_credentials_all": test.pass})
			mustFetch(t, f, helmchart.FetchRequest{Chart: "r/app"})
			if got := server.seen(); !strings.HasPrefix(got, "/charts/index.yaml "+test.index) {
				t.Errorf("repository: %s", got)
			}
			if got := other.seen(); got != strings.TrimSpace("/charts/app-1.0.0.tgz "+test.other) {
				t.Errorf("other host: %s", got)
			}
		})
	}
}

// TestFetchTLS checks repositories with a certificate authority of their own, and with client certificates.
func TestFetchTLS(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	server.add(minimal("app", "1.0.0", ""), "")
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	dir := t.TempDir()
	certificate := server.TLS.Certificates[0]
	authority := filepath.Join(dir, "ca.pem")
	write(t, authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))
	cert, key := clientCertificate(t, dir)
	f := newFetcher(t)
	url := server.URL + "/charts"
	with := func(changes map[string]any) map[string]any {
		e := map[string]any{"url": url, "caFile": authority, "certFile": cert, "keyFile": key}
		for k, v := range changes {
			e[k] = v
		}
		return e
	}
	f.configure(t,
		with(map[string]any{"name": "good"}), with(map[string]any{"name": "skip", "caFile": "", "insecure_skip_tls_verify": true}),
		with(map[string]any{"name": "no-ca", "caFile": ""}), with(map[string]any{"name": "no-cert", "certFile": "", "keyFile": ""}),
		with(map[string]any{"name": "missing", "caFile": filepath.Join(dir, "none.pem")}), with(map[string]any{"name": "bad", "caFile": key}),
		with(map[string]any{"name": "pair", "certFile": key}),
	)
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "good/app"})
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: "skip/app"})
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: url + "/app-1.0.0.tgz"}) // with the configuration of the repository
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "no-ca/app"}, "certificate")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "no-cert/app"}, "certificate")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "missing/app"}, "repository missing: "+url+"/index.yaml: certificate authority "+filepath.Join(dir, "none.pem")+": no such file or directory")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "pair/app"}, "repository pair: "+url+"/index.yaml: client certificate: ")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "bad/app"}, "no certificate in PEM format")
	write(t, f.settings.RepositoryConfig, []byte("repositories: {"))
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "good/app"}, "repositories.yaml: ")
}

// TestFetchURL checks archives by URL.
func TestFetchURL(t *testing.T) {
	t.Parallel()
	server := newRepository(t)
	server.user, server.password = "alice", "s3cret"
	server.add(minimal("app", "1.0.0", ""), "")
	url := server.start()
	withUser := strings.Replace(url, "http://", "http://alice:s3cret@", 1) + "/app-1.0.0.tgz?token=abc"
	answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: withUser})
	if answer.Origin.Chart != url+"/app-1.0.0.tgz" || len(answer.Warnings) != 1 {
		t.Errorf("%+v %q", answer.Origin, answer.Warnings)
	}
	f := newFetcher(t)
	_, err := f.fetch(t.Context(), helmchart.FetchRequest{Chart: strings.Replace(withUser, "s3cret", "wr0ng", 1)})
	if err == nil || strings.Contains(err.Error(), "wr0ng") || strings.Contains(err.Error(), "abc") || !strings.Contains(err.Error(), "401 Unauthorized") {
		t.Errorf("got %v", err)
	}
	_, err = f.again().fetch(t.Context(), helmchart.FetchRequest{Chart: "app", Repo: "http://alice:s3cret@\x7f/"})
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
	// The credentials of a repository are used for archives in it, and for archives that its index lists.
	f.configure(t, map[string]any{"name": "r", "url": url, "username": "alice", "password": "s3cret"})
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: url + "/app-1.0.0.tgz"})
	server.files["/files/app.tgz"] = server.files["/charts/app-1.0.0.tgz"]
	wantError(t, f.again(), helmchart.FetchRequest{Chart: server.URL + "/files/app.tgz"}, "401 Unauthorized")
	write(t, filepath.Join(f.settings.RepositoryCache, "r-index.yaml"), fmt.Appendf(nil,
		"apiVersion: v1\nentries: {app: [{apiVersion: v2, name: app, version: 1.0.0, urls: [%q]}]}\n", server.URL+"/files/app.tgz"))
	mustFetch(t, f.again(), helmchart.FetchRequest{Chart: server.URL + "/files/app.tgz"})
	wantError(t, f.again(), helmchart.FetchRequest{Chart: url + "/none.tgz"}, url+"/none.tgz: 404 Not Found")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "https:///x.tgz"}, "the host is missing")
}

// TestFetchPlain checks that redirects and indexes do not turn off TLS.
func TestFetchPlain(t *testing.T) {
	t.Parallel()
	plain, secure := newRepository(t), newRepository(t)
	files := minimal("app", "1.0.0", "")
	plain.add(files, "")
	secure.add(files, plain.start()+"/app-1.0.0.tgz")
	secure.redirects["/charts/a.tgz"] = plain.URL + "/charts/app-1.0.0.tgz"
	secure.StartTLS()
	f := newFetcher(t)
	f.configure(t, map[string]any{"name": "s", "url": secure.URL + "/charts", "insecure_skip_tls_verify": true})
	wantError(t, f.again(), helmchart.FetchRequest{Chart: "s/app"}, "the index of repository s refers to a URL without TLS")
	wantError(t, f.again(), helmchart.FetchRequest{Chart: secure.URL + "/charts/a.tgz"}, "redirects to a URL without TLS")
	if got := plain.seen(); got != "" {
		t.Errorf("requests without TLS: %s", got)
	}
}

// TestFetchLeavesNothing checks that the user's configuration and the temporary directory are as before.
func TestFetchLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	home := t.TempDir()
	t.Setenv("HELM_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("HELM_CONFIG_HOME", filepath.Join(home, "config"))
	t.Setenv("HELM_DATA_HOME", filepath.Join(home, "data"))
	server := newRepository(t)
	server.add(minimal("app", "1.0.0", ""), "")
	write(t, filepath.Join(home, "config", "repositories.yaml"), []byte("repositories: [{name: r, url: "+server.start()+"}]\n"))
	if _, err := Fetch(t.Context(), helmchart.FetchRequest{Chart: "r/app"}); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, dir := range []string{home, temp} {
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Base(name) != "repositories.yaml" {
				left = append(left, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(left) > 0 {
		t.Errorf("files left: %q", left)
	}
}
