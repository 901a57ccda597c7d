package kube

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// PodPath returns the path of a pod on the server.
func PodPath(namespace, name string) string {
	return "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods/" + url.PathEscape(name)
}

// Logs opens the log of a container. With follow, it stays open until the container exits.
func (c *Client) Logs(ctx context.Context, namespace, pod, container string, follow bool) (io.ReadCloser, error) {
	query := url.Values{"container": {container}}
	if follow {
		query.Set("follow", "true")
	}
	return c.open(ctx, http.MethodGet, PodPath(namespace, pod)+"/log?"+query.Encode(), "", nil, "*/*")
}
