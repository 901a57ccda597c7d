//go:build linux

package node

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The network between the node and the process through which the API server connects to pods and the kubelet. On most clusters the API
// server is on another machine than the pods, so that network policies apply to it. They never apply to what comes from the pod's own node.
const (
	egressLink        = "egress"
	egressNodeAddress = "10.245.0.1"
	egressAddress     = "10.245.0.2"
)

// startEgress starts the process in a network of its own, and returns when it accepts connections.
func startEgress(ctx context.Context, s settings, ended chan<- error) error {
	cmd := exec.Command("/proc/self/exe", egressRole)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	linked, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	gone, err := startDaemon(s, "egress", cmd, ended)
	if err != nil {
		return err
	}
	if err := run(ctx,
		fmt.Sprintf("ip link add %s type veth peer name eth0 netns %d", egressLink, cmd.Process.Pid),
		fmt.Sprintf("ip address add %s/30 dev %s", egressNodeAddress, egressLink),
		fmt.Sprintf("ip link set %s up", egressLink),
	); err != nil {
		return err
	}
	if err := linked.Close(); err != nil {
		return err
	}
	return waitSocket(ctx, egressSocket, gone)
}

// runEgress is the process through which the API server connects to pods. It returns the exit code.
func runEgress() int {
	// The node closes this process's input when the link is there.
	_, err := io.Copy(io.Discard, os.Stdin)
	if err == nil {
		err = run(context.Background(),
			fmt.Sprintf("ip address add %s/30 dev eth0", egressAddress),
			"ip link set eth0 up",
			"ip route add default via "+egressNodeAddress)
	}
	var listener net.Listener
	if err == nil {
		listener, err = net.Listen("unix", egressSocket)
	}
	if err == nil {
		err = http.Serve(listener, http.HandlerFunc(connect))
	}
	fmt.Fprintf(os.Stderr, "egress: %v\n", err)
	return 1
}

// connect answers the method CONNECT.
func connect(w http.ResponseWriter, r *http.Request) {
	target, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(r.Context(), "tcp", r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = target.Close() }()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = client.Close() }()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	// A side that has nothing more to send may still receive.
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(target, buffered)
		_ = target.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(client, target)
	_ = client.(*net.UnixConn).CloseWrite()
	<-sent
}
