package kube

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"k8s.io/client-go/tools/remotecommand"
)

// Exec runs a command in a container and copies its output. It is an error if the command fails.
func (c *Client) Exec(ctx context.Context, namespace, pod, container string, command []string, out, errOut io.Writer) error {
	query := url.Values{"container": {container}, "command": command, "stdout": {"true"}, "stderr": {"true"}}
	address := c.URL + PodPath(namespace, pod) + "/exec?" + query.Encode()
	// Version 5 only signals the end of stdin; version 4 is supported by servers before Kubernetes 1.29, too.
	executor, err := remotecommand.NewWebSocketExecutorForProtocols(c.settings, http.MethodGet, address, "v5.channel.k8s.io", "v4.channel.k8s.io")
	if err != nil {
		return err
	}
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: out, Stderr: errOut})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
