package source

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	memory "github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v4/pkg/registry"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// newRegistry returns the host of a registry with charts. It requires a password unless user is empty.
func newRegistry(t *testing.T, user, password string, charts ...helmchart.Files) string {
	t.Helper()
	store := memory.New(memory.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gotUser, gotPassword, _ := r.BasicAuth(); user != "" && (gotUser != user || gotPassword != password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		store.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	options := []registry.ClientOption{registry.ClientOptPlainHTTP(), registry.ClientOptCredentialsFile(filepath.Join(t.TempDir(), "none"))}
	if user != "" {
		options = append(options, registry.ClientOptBasicAuth(user, password))
	}
	client, err := registry.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range charts {
		name, version := headOf(files)
		if _, err := client.Push(archiveOf(t, files), fmt.Sprintf("%s/charts/%s:%s", host, name, version)); err != nil {
			t.Fatal(err)
		}
	}
	return host
}

// credentials returns a file with the credentials of a host, in the format of Helm and docker.
func credentials(host, user, password string) []byte {
	return fmt.Appendf(nil, `{"auths": {%q: {"auth": %q}}}`, host, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// TestFetchRegistry checks references of registries: tags, digests, versions and constraints.
func TestFetchRegistry(t *testing.T) {
	t.Parallel()
	newest := minimal("app", "1.1.0", "")
	host := newRegistry(t, "", "", minimal("app", "1.0.0", ""), newest, minimal("app", "2.0.0-rc.1", ""), minimal("app", "0.9.0+build.1", ""))
	reference := "oci://" + host + "/charts/app"
	for _, test := range []struct{ chart, repo, version, want string }{
		{chart: reference, want: "1.1.0"},
		{chart: reference, version: "1.0.0", want: "1.0.0"},
		{chart: reference, version: "<1.1", want: "1.0.0"},
		{chart: reference, version: ">=2.0.0-0", want: "2.0.0-rc.1"},
		{chart: reference, version: "0.9.0+build.1", want: "0.9.0+build.1"},
		{chart: reference + ":1.0.0", want: "1.0.0"},
		{chart: reference + ":1.0.0", version: "1.x", want: "1.0.0"},
		{chart: "app", repo: "oci://" + host + "/charts/", version: "1.x", want: "1.1.0"},
	} {
		answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: test.chart, Repo: test.repo, Version: test.version})
		if answer.Origin.Version != test.want || answer.Origin.Chart != test.chart {
			t.Errorf("%+v: %+v", test, answer.Origin)
		}
		if test.want == "1.1.0" && answer.Origin.Digest != archiveDigest(archiveOf(t, newest)) {
			t.Errorf("digest %s", answer.Origin.Digest)
		}
	}
	for request, want := range map[helmchart.FetchRequest]string{
		{Chart: reference, Version: "1.0.1"}:              reference + ": version 1.0.1 not found; the nearest are 2.0.0-rc.1, 1.1.0, 1.0.0, 0.9.0+build.1",
		{Chart: reference, Version: "~3"}:                 `no version matches "~3"; the newest are 2.0.0-rc.1, 1.1.0`,
		{Chart: reference + ":7.0.0"}:                     reference + ":7.0.0: not found in the registry",
		{Chart: reference + ":1.0.0", Version: "2"}:       `the chart has version 1.0.0, which does not match "2"`,
		{Chart: "oci://" + host + "/charts/other"}:        "/charts/other: not found in the registry",
		{Chart: "oci://" + host}:                          "must be oci://HOST/PATH, with :TAG or @DIGEST",
		{Chart: "oci://alice:s3cret@" + host + "/charts"}: "oci://" + host + "/charts: credentials are not supported in references; log in with 'helm registry login'",
	} {
		wantError(t, newFetcher(t), request, want)
	}
}

// TestFetchRegistryDigest checks that a chart can be named by the digest of its manifest.
func TestFetchRegistryDigest(t *testing.T) {
	t.Parallel()
	host := newRegistry(t, "", "", minimal("app", "1.0.0", ""))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, "http://"+host+"/v2/charts/app/manifests/1.0.0", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	digest := response.Header.Get("Docker-Content-Digest")
	answer := mustFetch(t, newFetcher(t), helmchart.FetchRequest{Chart: "oci://" + host + "/charts/app@" + digest})
	if answer.Origin.Version != "1.0.0" {
		t.Errorf("%+v", answer.Origin)
	}
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: "oci://" + host + "/charts/app@sha256:" + strings.Repeat("0", 64)}, "not found in the registry")
}

// TestFetchRegistryCredentials checks the sources of credentials. It changes variables, so it is not parallel.
func TestFetchRegistryCredentials(t *testing.T) {
	host := newRegistry(t, "alice", "s3cret", minimal("app", "1.0.0", ""))
	request := helmchart.FetchRequest{Chart: "oci://" + host + "/charts/app"}
	docker := t.TempDir()
	t.Setenv("DOCKER_CONFIG", docker)
	f := newFetcher(t)
	denied := "access denied; log in with 'helm registry login " + host + "' or 'docker login " + host + "'"
	wantError(t, f.again(), request, denied)

	write(t, f.settings.RegistryConfig, credentials(host, "alice", "s3cret"))
	mustFetch(t, f.again(), request)
	write(t, f.settings.RegistryConfig, credentials(host, "alice", "wr0ng"))
	wantError(t, f.again(), request, denied)
	write(t, f.settings.RegistryConfig, []byte("{"))
	wantError(t, f.again(), request, "credentials of registries: ")

	if err := os.Remove(f.settings.RegistryConfig); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(docker, "config.json"), credentials(host, "alice", "s3cret"))
	mustFetch(t, f.again(), request)

	if runtime.GOOS == "windows" {
		t.Skip("the credential helper is a shell script")
	}
	programs := t.TempDir()
	t.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	helper := filepath.Join(programs, "docker-credential-test")
	write(t, helper, []byte("#!/bin/sh\necho '{\"Username\": \"alice\", \"Secret\": \"s3cret\"}'\n"))
	if err := os.Chmod(helper, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(docker, "config.json"), fmt.Appendf(nil, `{"credHelpers": {%q: "test"}}`, host))
	mustFetch(t, f.again(), request)
}

// TestFetchRegistryTLS checks that plain HTTP is not tried where a loopback registry supports TLS, and never for other hosts.
func TestFetchRegistryTLS(t *testing.T) {
	t.Parallel()
	requests := make(chan bool, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.TLS != nil }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	wantError(t, newFetcher(t), helmchart.FetchRequest{Chart: "oci://" + strings.TrimPrefix(server.URL, "https://") + "/charts/app:1.0.0"}, "certificate")
	if len(requests) > 0 {
		t.Errorf("%d requests in spite of an unknown certificate authority", len(requests))
	}
	for host, want := range map[string]bool{
		"localhost:5000": true, "127.0.0.1": true, "127.9.9.9:80": true, "[::1]:5000": true, "::1": true, "kind.localhost": true,
		"example.com": false, "localhost.example.com:5000": false, "10.0.0.1:5000": false, "0.0.0.0": false,
	} {
		if isLoopback(host) != want {
			t.Errorf("isLoopback(%q) is %t", host, !want)
		}
	}
}
