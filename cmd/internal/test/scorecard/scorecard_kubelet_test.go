//go:build unix

package scorecard

import (
	"archive/tar"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
	"github.com/operon-sdk/operon/pkg/kube"
)

// scorecardCluster is a control plane behind a server that answers what a kubelet would be asked for:
// the logs of containers, and commands in them. It records all requests.
type scorecardCluster struct {
	*clitest.WorkloadCluster
	kubeconfig string

	mu      sync.Mutex
	history []scorecardRequest
	pod     func()
}

type scorecardRequest struct{ method, path, body string }

func startScorecardCluster(t *testing.T) *scorecardCluster {
	t.Helper()
	c := &scorecardCluster{WorkloadCluster: clitest.StartWorkloadCluster(t)}
	config, err := clientcmd.RESTConfigFromKubeConfig(c.Plane.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	target, err := url.Parse(c.Client.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has disconnected
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		c.mu.Lock()
		c.history = append(c.history, scorecardRequest{r.Method, r.URL.Path, string(body)})
		hook := c.pod
		c.mu.Unlock()
		parent, what, _ := strings.Cut(r.URL.Path, "/pods/")
		switch name, sub, _ := strings.Cut(what, "/"); sub {
		case "log":
			c.log(w, r, parent+"/pods/"+name)
		case "exec":
			c.exec(t, w, r, parent+"/pods/"+name)
		default:
			proxy.ServeHTTP(w, r)
			if hook != nil && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods") {
				hook()
			}
		}
	}))
	t.Cleanup(server.Close)
	c.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],
clusters: [{name: c, cluster: {server: %q}}], users: [{name: u, user: {}}]}`, server.URL)
	if err := os.WriteFile(c.kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// log is what the containers of a pod write, by their command.
func (c *scorecardCluster) log(w http.ResponseWriter, r *http.Request, pod string) {
	var object struct {
		Spec struct{ Containers []struct{ Command []string } }
	}
	if err := c.Client.Do(r.Context(), http.MethodGet, pod, "", nil, &object); err != nil || r.URL.Query().Get("container") != "scorecard-test" {
		http.Error(w, fmt.Sprintf("no log: %v", err), http.StatusNotFound)
		return
	}
	text := map[string]string{
		"good":     `{"results":[{"name":"good","state":"pass"}]}`,
		"failing":  `{"results":[{"name":"failing","state":"fail","errors":["too small"]}]}`,
		"babbling": "babble\nbabble\n",
	}[object.Spec.Containers[0].Command[0]]
	if r.URL.Query().Get("follow") == "true" && strings.HasPrefix(text, "{") {
		text = "starting\n" + text // logs do not separate stderr
	}
	_, _ = io.WriteString(w, text)
}

// exec responds like tar in a container, over a WebSocket.
func (c *scorecardCluster) exec(t *testing.T, w http.ResponseWriter, r *http.Request, pod string) {
	query := r.URL.Query()
	if want := []string{"tar", "cf", "-", "/out"}; !slices.Equal(query["command"], want) || query.Get("container") != "scorecard-gather" || r.Header.Get("Upgrade") != "websocket" {
		t.Errorf("exec is asked for %v", query)
	}
	var object struct {
		Spec struct{ Containers []struct{ Image string } }
	}
	if err := c.Client.Do(r.Context(), http.MethodGet, pod, "", nil, &object); err != nil {
		t.Error(err)
	}
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = connection.Close() }()
	frame := func(head byte, payload string) []byte {
		data := []byte{head, byte(len(payload))}
		if len(payload) > 125 {
			data = binary.BigEndian.AppendUint16([]byte{head, 126}, uint16(len(payload)))
		}
		return append(data, payload...)
	}
	accept := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	stream := fmt.Appendf(nil, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Protocol: v4.channel.k8s.io\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(accept[:]))
	stream = append(stream, frame(0x82, "\x01")...) // servers open each channel with an empty message
	if strings.Contains(object.Spec.Containers[1].Image, "broken") {
		stream = append(stream, frame(0x82, "\x02tar: no such thing\n")...)
		stream = append(stream, frame(0x82, "\x03"+`{"status":"Failure","message":"command terminated with exit code 2"}`)...)
	} else {
		var archive bytes.Buffer
		files := tar.NewWriter(&archive)
		for _, e := range []struct{ name, text string }{{"out/", ""}, {"out/deep/", ""}, {"out/deep/result.txt", "a file\n"}} {
			header := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
			if e.text == "" {
				header.Typeflag = tar.TypeDir
			}
			if err := files.WriteHeader(header); err != nil {
				t.Error(err)
			}
			if _, err := io.WriteString(files, e.text); err != nil {
				t.Error(err)
			}
		}
		if err := files.Close(); err != nil {
			t.Error(err)
		}
		text := archive.String()
		stream = append(stream, frame(0x02, "\x01"+text[:700])...) // a message in two frames, with a ping between
		stream = append(stream, frame(0x89, "ping")...)
		stream = append(stream, frame(0x80, text[700:])...)
		stream = append(stream, frame(0x82, "\x03"+`{"status":"Success"}`)...)
	}
	stream = append(stream, frame(0x88, "\x03\xe8")...) // closes the connection normally
	if _, err := connection.Write(stream); err != nil {
		t.Error(err)
	}
}

// requests replaces the recorded requests.
func (c *scorecardCluster) requests(history []scorecardRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = history
}

func (c *scorecardCluster) seen() []scorecardRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.history)
}

// onPod calls hook whenever a pod has been made.
func (c *scorecardCluster) onPod(hook func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pod = hook
}

// posted are the objects of a kind that have been made.
func (c *scorecardCluster) posted(kind string) (bodies []string) {
	for _, r := range c.seen() {
		if r.method == http.MethodPost && strings.HasSuffix(r.path, "/"+kind) {
			bodies = append(bodies, r.body)
		}
	}
	return bodies
}

// left names what runs of scorecard have left in a namespace.
func (c *scorecardCluster) left(t *testing.T, namespace string) (names []string) {
	t.Helper()
	for kind, plural := range map[string]string{"Pod": "pods", "ConfigMap": "configmaps"} {
		objects, err := c.Client.List(t.Context(), kube.Resource{APIVersion: "v1", Name: plural, Kind: kind}, namespace, url.Values{"labelSelector": {"app=scorecard-test"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			names = append(names, kube.FullName(o))
		}
	}
	return names
}

// empty checks that a run has left nothing.
func (c *scorecardCluster) empty(t *testing.T, namespace string) {
	t.Helper()
	if left := c.left(t, namespace); len(left) > 0 {
		t.Errorf("%q are left in %s", left, namespace)
	}
}

// schedulable lets the node take pods, or not.
func (c *scorecardCluster) schedulable(t *testing.T, yes bool) {
	t.Helper()
	nodes, err := c.Client.List(t.Context(), kube.Resource{APIVersion: "v1", Name: "nodes", Kind: "Node"}, "", nil)
	if err != nil || len(nodes) != 1 {
		t.Fatal(nodes, err)
	}
	c.WorkloadCluster.Patch(t, nodes[0], "", fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, !yes))
}
