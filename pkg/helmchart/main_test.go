package helmchart

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// plane is the control plane of the tests of this package, which the first test that needs it starts.
var plane struct {
	once   sync.Once
	server *apiServer
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if plane.server != nil {
		if err := plane.server.control.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// An apiServer is a client of the API server of a control plane.
type apiServer struct {
	control *controlplane.ControlPlane
	client  http.Client
}

// startServer returns a client of the control plane of the package.
func startServer(t *testing.T) *apiServer {
	t.Helper()
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	plane.once.Do(func() {
		options := controlplane.DefaultOptions(os.Environ())
		options.Parts = []string{controlplane.Etcd, controlplane.KubeAPIServer}
		options.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
		assets, err := controlplane.Ensure(context.Background(), options)
		if err != nil {
			plane.err = err
			return
		}
		control, err := controlplane.Start(context.Background(), assets, controlplane.StartOptions{Environ: os.Environ()})
		if err != nil {
			plane.err = err
			return
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(control.CAData)
		plane.server = &apiServer{control: control, client: http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}}
	})
	if plane.err != nil {
		t.Fatal(plane.err)
	}
	return plane.server
}

// request sends a request and returns the status and the object in the answer.
func (s *apiServer) request(t *testing.T, method, path string, body []byte) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.control.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.control.Token)
	r.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, data)
	}
	return response.StatusCode, object
}

// A servedKind is a kind of a chart that the API server has.
type servedKind struct {
	server *apiServer
	spec   CRDSpec
}

// kinds counts the kinds of tests, whose names are unique.
var kinds struct {
	sync.Mutex
	count int
}

// serve creates the CRD of a chart and waits until it is served. The test fails if the API server finds fault with its schema.
func (s *apiServer) serve(t *testing.T, charts ...Files) *servedKind {
	t.Helper()
	kinds.Lock()
	kinds.count++
	spec := CRDSpec{Group: "charts.example.com", Kind: fmt.Sprintf("Kind%d", kinds.count), Plural: fmt.Sprintf("kind%ds", kinds.count)}
	kinds.Unlock()
	for i, chart := range charts {
		spec.Versions = append(spec.Versions, CRDVersion{Name: fmt.Sprintf("v%d", i+1), Chart: chart})
	}
	manifest, err := CRD(spec)
	if err != nil {
		t.Fatal(err)
	}
	data, err := safeyaml.ToJSON(manifest)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	if status, answer := s.request(t, "POST", path+"?fieldValidation=Strict", data); status != http.StatusCreated {
		t.Fatalf("the API server rejects the CRD: %v", answer["message"])
	}
	name := spec.Plural + "." + spec.Group
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, answer := s.request(t, "GET", path+"/"+name, nil)
		conditions, _ := json.Marshal(answer["status"])
		if bytes.Contains(conditions, []byte("NonStructuralSchema")) {
			t.Fatalf("the schema is not structural: %s", conditions)
		}
		if bytes.Contains(conditions, []byte(`"status":"True","type":"Established"`)) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the CRD is not established: %s", conditions)
		}
	}
	k := &servedKind{server: s, spec: spec}
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if status, _ := s.request(t, "GET", k.path(), nil); status == http.StatusOK {
			return k
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not served", k.path())
		}
	}
}

func (k *servedKind) path() string {
	return "/apis/" + k.spec.Group + "/" + k.spec.Versions[0].Name + "/namespaces/default/" + k.spec.Plural
}

// create sends a resource with values to the API server, which validates and does not store it. It returns the values that would be
// stored, or the error.
func (k *servedKind) create(t *testing.T, values any) (map[string]any, string) {
	t.Helper()
	return k.send(t, values, "Strict")
}

// createLenient is create with unknown fields removed.
func (k *servedKind) createLenient(t *testing.T, values any) (map[string]any, string) {
	t.Helper()
	return k.send(t, values, "Ignore")
}

func (k *servedKind) send(t *testing.T, values any, validation string) (map[string]any, string) {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"apiVersion": k.spec.Group + "/" + k.spec.Versions[0].Name, "kind": k.spec.Kind,
		"metadata": map[string]any{"name": "sample"}, "spec": values,
	})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := k.server.request(t, "POST", k.path()+"?dryRun=All&fieldValidation="+validation, data)
	if status != http.StatusCreated {
		message, _ := answer["message"].(string)
		return nil, strings.TrimSpace(message)
	}
	stored, _ := answer["spec"].(map[string]any)
	return stored, ""
}

// decodeValues returns the values in a text of YAML.
func decodeValues(t *testing.T, data []byte) map[string]any {
	t.Helper()
	values := map[string]any{}
	for _, document := range documentMark.Split(string(data), -1) {
		var next map[string]any
		if err := safeyaml.UnmarshalJSON([]byte(document), &next); err != nil {
			t.Fatal(err)
		}
		for key, value := range next {
			values[key] = value
		}
	}
	return values
}
