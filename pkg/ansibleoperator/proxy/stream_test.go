package proxy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/proxy"
	"github.com/operon-sdk/operon/testdata/ansible"
)

// kubelet is the server of a node without containers, which an API server contacts for exec, port-forward and logs.
type kubelet struct{ *testing.T }

// ServeHTTP implements http.Handler.
func (k kubelet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch kind, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); kind {
	case "exec", "attach", "portForward":
		k.stream(w, r, kind)
	case "containerLogs":
		for i := range 3 {
			fmt.Fprintf(w, "line %d\n", i)
			w.(http.Flusher).Flush()
		}
		if r.URL.Query().Get("follow") == "true" {
			<-r.Context().Done()
		}
	default:
		http.NotFound(w, r)
	}
}

// stream copies the input of a command, or of a connection to a port, to its output.
func (k kubelet) stream(w http.ResponseWriter, r *http.Request, kind string) {
	if wsstream.IsWebSocketRequest(r) {
		channels := []wsstream.ChannelType{wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.ReadChannel}
		conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{"v4.channel.k8s.io": {Binary: true, Channels: channels}})
		_, streams, err := conn.Open(w, r)
		if err != nil {
			k.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.Copy(streams[1], streams[0])
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io", "portforward.k8s.io"}); err != nil {
		k.Error(err)
		return
	}
	streams := make(chan httpstream.Stream, 10)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error { streams <- s; return nil })
	if conn == nil {
		k.Error("the connection is not upgraded")
		return
	}
	defer conn.Close()
	found := map[string]httpstream.Stream{}
	copied := make(chan struct{})
	for {
		select {
		case s := <-streams:
			found[s.Headers().Get("streamType")] = s
			switch {
			case kind == "portForward" && found["data"] != nil:
				data := found["data"]
				delete(found, "data")
				go func() { _, _ = io.Copy(data, data); data.Close() }()
			case kind != "portForward" && found["error"] != nil && found["stdin"] != nil && found["stdout"] != nil:
				stdin, stdout, status := found["stdin"], found["stdout"], found["error"]
				delete(found, "stdin")
				go func() {
					fmt.Fprintf(stdout, "%s %s: ", kind, strings.Join(r.URL.Query()["command"], " "))
					_, _ = io.Copy(stdout, stdin)
					stdout.Close()
					_ = json.NewEncoder(status).Encode(metav1.Status{Status: metav1.StatusSuccess})
					status.Close()
					close(copied)
				}()
			}
		case <-copied:
			time.Sleep(100 * time.Millisecond) // until the streams are received
			return
		case <-conn.CloseChan():
			return
		}
	}
}

// startPod creates a pod that runs on a node with a kubelet of the test.
func (e *env) startPod() {
	e.Helper()
	server := httptest.NewTLSServer(kubelet{e.T})
	e.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: e.namespace + "-node"}}
	if err := e.client.Create(e.Context(), node); err != nil {
		e.Fatal(err)
	}
	node.Status = corev1.NodeStatus{
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(port)}},
	}
	if err := e.client.Status().Update(e.Context(), node); err != nil {
		e.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "pod"}, Spec: corev1.PodSpec{
		NodeName: node.Name, Containers: []corev1.Container{{Name: "main", Image: "example.com/main", Stdin: true}},
	}}
	if err := e.client.Create(e.Context(), pod); err != nil {
		e.Fatal(err)
	}
	pod.Status.Phase = corev1.PodRunning
	if err := e.client.Status().Update(e.Context(), pod); err != nil {
		e.Fatal(err)
	}
}

// kubectl returns a command of kubectl through the proxy.
func (e *env) kubectl(args ...string) *exec.Cmd {
	e.Helper()
	return e.command(proxy.Settings{}, filepath.Join(programs, "kubectl"), args...)
}

// mustRun runs a command and returns its output.
func (e *env) mustRun(c *exec.Cmd) string {
	e.Helper()
	out, err := c.CombinedOutput()
	if err != nil {
		e.Fatalf("%s: %v\n%s", c.Args, err, out)
	}
	return string(out)
}

// TestStreams checks exec, attach, port-forward and logs with kubectl, over WebSocket and SPDY, and with Python over WebSocket.
func TestStreams(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.startPod()
	for _, webSockets := range []string{"true", "false"} {
		c := e.kubectl("exec", "-i", "pod", "--", "cat", "file")
		c.Env = append(c.Env, "KUBECTL_REMOTE_COMMAND_WEBSOCKETS="+webSockets)
		c.Stdin = strings.NewReader(strings.Repeat("x", 100_000) + "end")
		if out := e.mustRun(c); !strings.HasPrefix(out, "exec cat file: xxx") || !strings.HasSuffix(out, "xend") || len(out) != len("exec cat file: ")+100_003 {
			t.Errorf("exec with WebSockets %s: %d bytes of output", webSockets, len(out))
		}
		c = e.kubectl("attach", "-i", "pod")
		c.Env = append(c.Env, "KUBECTL_REMOTE_COMMAND_WEBSOCKETS="+webSockets)
		c.Stdin = strings.NewReader("text")
		if out := e.mustRun(c); !strings.Contains(out, "attach : text") {
			t.Errorf("attach with WebSockets %s: %q", webSockets, out)
		}
		e.portForward(webSockets)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := e.kubectl("logs", "-f", "pod")
	follow := exec.CommandContext(ctx, c.Path, c.Args[1:]...)
	follow.Env = c.Env
	lines := &logs{}
	follow.Stdout = writer(lines.add)
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	e.eventually("lines of the log while it is followed", func() error {
		if text := lines.String(); !strings.Contains(text, "line 2") {
			return errors.New(text)
		}
		return nil
	})
	cancel()
	_ = follow.Wait()

	ansible.Require(t)
	out := e.mustRun(e.command(proxy.Settings{}, "/usr/bin/python3", "-c", `
import sys
from kubernetes import client, config, stream
config.load_kube_config()
response = stream.stream(client.CoreV1Api().connect_get_namespaced_pod_exec, "pod", sys.argv[1], command=["cat"],
    stdin=True, stdout=True, stderr=False, tty=False, _preload_content=False)
response.write_stdin("hello\n")
while "hello" not in "".join(text := response.read_stdout(timeout=60)):
    pass
print("found", text)
response.close()
`, e.namespace))
	if !strings.HasPrefix(out, "found ") {
		t.Errorf("exec of Python: %q", out)
	}
}

// portForward sends text through a forwarded port.
func (e *env) portForward(webSockets string) {
	e.Helper()
	ctx, cancel := context.WithCancel(e.Context())
	defer cancel()
	c := e.kubectl("port-forward", "pod", ":80")
	forward := exec.CommandContext(ctx, c.Path, c.Args[1:]...)
	forward.Env = append(c.Env, "KUBECTL_PORT_FORWARD_WEBSOCKETS="+webSockets)
	lines := &logs{}
	forward.Stdout, forward.Stderr = writer(lines.add), writer(lines.add)
	if err := forward.Start(); err != nil {
		e.Fatal(err)
	}
	defer func() { _ = forward.Wait() }()
	defer cancel()
	var port int
	e.eventually("a forwarded port", func() error {
		_, text, _ := strings.Cut(lines.String(), "127.0.0.1:")
		text, _, _ = strings.Cut(text, " ")
		var err error
		if port, err = strconv.Atoi(text); err != nil {
			return errors.New(lines.String())
		}
		return nil
	})
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		e.Fatal(err)
	}
	defer conn.Close()
	want := bytes.Repeat([]byte("text"), 1000)
	if _, err := conn.Write(want); err != nil {
		e.Fatal(err)
	}
	got := make([]byte, len(want))
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, want) {
		e.Errorf("port-forward with WebSockets %s: %v: %q\n%s", webSockets, err, got[:20], lines)
	}
}

type writer func(string)

func (w writer) Write(p []byte) (int, error) { w(string(p)); return len(p), nil }

// TestKubectl checks the owner of objects that kubectl creates and replaces.
func TestKubectl(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	run := func(input string, args ...string) string {
		t.Helper()
		c := e.kubectl(args...)
		c.Stdin = strings.NewReader(input)
		return e.mustRun(c)
	}
	text := func(name, value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  a: \"" + value + "\"\n"
	}
	for name, args := range map[string][]string{
		"created": {"replace", "-f", "-"}, "applied": {"apply", "-f", "-"}, "server": {"apply", "--server-side", "-f", "-"}, "forced": {"replace", "--force", "-f", "-"},
	} {
		first := args
		if args[0] == "replace" {
			first = []string{"create", "-f", "-"}
		}
		run(text(name, "1"), first...)
		e.wantOwner(e.configMap(name))
		run(text(name, "2"), args...)
		u := e.configMap(name)
		e.wantOwner(u)
		if value, _, _ := unstructured.NestedString(u.Object, "data", "a"); value != "2" {
			t.Errorf("%s is not changed: %v", name, u.Object)
		}
	}
}
