package ansiblerole

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

var update = flag.Bool("update", false, "rewrite the expected results in testdata")

// plane is the control plane of the tests of this package, which the first test that needs it starts.
var plane struct {
	once    sync.Once
	control *controlplane.ControlPlane
	client  http.Client
	err     error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if plane.control != nil {
		if err := plane.control.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// startServer starts the control plane of the package.
func startServer(t *testing.T) {
	t.Helper()
	plane.once.Do(func() {
		options := controlplane.DefaultOptions(os.Environ())
		options.Parts = []string{controlplane.Etcd, controlplane.KubeAPIServer}
		options.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
		assets, err := controlplane.Ensure(context.Background(), options)
		if err != nil {
			plane.err = err
			return
		}
		plane.control, plane.err = controlplane.Start(context.Background(), assets, controlplane.StartOptions{Environ: os.Environ()})
		if plane.err != nil {
			return
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(plane.control.CAData)
		plane.client = http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	})
	if plane.err != nil {
		t.Fatal(plane.err)
	}
}

// request sends a request with an object to the API server and returns the status and the object in the answer.
func request(t *testing.T, method, path string, object any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, plane.control.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+plane.control.Token)
	r.Header.Set("Content-Type", "application/json")
	response, err := plane.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer map[string]any
	if err := json.Unmarshal(data, &answer); err != nil && response.StatusCode != http.StatusNotFound {
		t.Fatalf("%s %s: %v\n%s", method, path, err, data)
	}
	return response.StatusCode, answer
}

// serve creates a CRD and waits until the kind is served at a path. The test fails if the API server rejects the schema.
func serve(t *testing.T, object map[string]any, path string) {
	t.Helper()
	const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	status, answer := request(t, "POST", crds+"?fieldValidation=Strict", object)
	if status != http.StatusCreated {
		t.Fatalf("the API server rejects the CRD: %v", answer["message"])
	}
	name := answer["metadata"].(map[string]any)["name"].(string)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, answer := request(t, "GET", crds+"/"+name, nil)
		conditions, _ := json.Marshal(answer["status"])
		if bytes.Contains(conditions, []byte("NonStructuralSchema")) {
			t.Fatalf("the schema is not structural: %s", conditions)
		}
		if status, _ := request(t, "GET", path, nil); status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not served: %s", path, conditions)
		}
	}
}

// archives runs a test for each archive that matches a pattern.
func archives(t *testing.T, pattern string, test func(t *testing.T, archive *expected)) {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			e := &expected{archive: archive, files: Files{}}
			for _, f := range archive.Files {
				e.files[f.Name] = f.Data
			}
			test(t, e)
			if *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// An expected is an archive with files and expected results in want.
type expected struct {
	archive *txtar.Archive
	files   Files
}

// compare compares a result with the expected one, or updates that.
func (e *expected) compare(t *testing.T, name, got string) {
	t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	for i, f := range e.archive.Files {
		if f.Name != "want/"+name {
			continue
		}
		if *update {
			e.archive.Files[i].Data = []byte(got)
		} else if string(f.Data) != got {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, f.Data)
		}
		return
	}
	if *update {
		e.archive.Files = append(e.archive.Files, txtar.File{Name: "want/" + name, Data: []byte(got)})
		return
	}
	t.Errorf("want/%s is missing:\n%s", name, got)
}
