package kube

import (
	"context"
	"io"
	"net/http"
	"net/url"
)

// PodPath is where the server keeps a pod.
func PodPath(namespace, name string) string {
	return "/api/v1/namespaces/" + url.PathEscape(namespace) + "/pods/" + url.PathEscape(name)
}

// Logs opens what a container has written. Followed, it stays open until the container ends.
func (c *Client) Logs(ctx context.Context, namespace, pod, container string, follow bool) (io.ReadCloser, error) {
	query := url.Values{"container": {container}}
	if follow {
		query.Set("follow", "true")
	}
	return c.open(ctx, http.MethodGet, PodPath(namespace, pod)+"/log?"+query.Encode(), "", nil, "*/*")
}
