package kube

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// mostRestarts is how often a container may end with an error before nobody waits for it any longer; that is after about half a
// minute. Fewer are common where a program waits for another by ending.
const mostRestarts = 3

// Hopeless is why the newest pods of a Deployment will not become ready however long one waits, or nothing: the registry
// says that there is no such image or that it may not be had, or a container keeps ending. What cannot be read gives no reason.
func (c *Client) Hopeless(ctx context.Context, deployment *Object) string {
	seen, _, _ := unstructured.NestedInt64(deployment.Object, "status", "observedGeneration")
	match, _, _ := unstructured.NestedStringMap(deployment.Object, "spec", "selector", "matchLabels")
	if seen < deployment.GetGeneration() || len(match) == 0 {
		return ""
	}
	query := url.Values{"labelSelector": {labels.SelectorFromSet(match).String()}}
	sets, err := c.List(ctx, Resource{APIVersion: "apps/v1", Name: "replicasets", Kind: "ReplicaSet"}, deployment.GetNamespace(), query)
	if err != nil || len(sets) == 0 {
		return ""
	}
	newest := slices.MaxFunc(sets, func(a, b *Object) int { return revision(a) - revision(b) })
	return c.hopeless(ctx, deployment.GetNamespace(), query, newest.GetName())
}

// HopelessPods is as Hopeless, of the pods that query selects.
func (c *Client) HopelessPods(ctx context.Context, namespace string, query url.Values) string {
	return c.hopeless(ctx, namespace, query, "")
}

// revision counts the ReplicaSets of a Deployment.
func revision(set *Object) int {
	n, err := strconv.Atoi(set.GetAnnotations()["deployment.kubernetes.io/revision"])
	if err != nil {
		return 0
	}
	return n
}

// hopeless looks at the pods of an owner, or of all where it is empty.
func (c *Client) hopeless(ctx context.Context, namespace string, query url.Values, owner string) string {
	pods, err := c.List(ctx, Resource{APIVersion: "v1", Name: "pods", Kind: "Pod"}, namespace, query)
	if err != nil {
		return ""
	}
	for _, pod := range pods {
		owners := pod.GetOwnerReferences()
		if owner != "" && (len(owners) == 0 || owners[0].Name != owner) {
			continue
		}
		if reason := HopelessPod(pod); reason != "" {
			return reason
		}
	}
	return ""
}

// HopelessPod is as Hopeless, of one pod.
func HopelessPod(pod *Object) string {
	if pod.GetDeletionTimestamp() != nil {
		return ""
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", list)
		for _, item := range statuses {
			if status, ok := item.(map[string]any); ok {
				if reason := hopelessContainer(status); reason != "" {
					return fmt.Sprintf("pod %s: %s", pod.GetName(), reason)
				}
			}
		}
	}
	return ""
}

func hopelessContainer(status map[string]any) string {
	text := func(fields ...string) string { s, _, _ := unstructured.NestedString(status, fields...); return s }
	number := func(fields ...string) int64 { n, _, _ := unstructured.NestedInt64(status, fields...); return n }
	restarts, code := number("restartCount"), number("lastState", "terminated", "exitCode")
	switch reason := text("state", "waiting", "reason"); {
	case reason == "InvalidImageName", reason == "ErrImageNeverPull", reason == "ImagePullBackOff" && isFinal(text("state", "waiting", "message")):
		return fmt.Sprintf("the image %s of container %s cannot be pulled", text("image"), text("name"))
	case reason == "CrashLoopBackOff" && restarts >= mostRestarts && code != 0:
		return fmt.Sprintf("container %s has ended %d times, with code %d", text("name"), restarts+1, code)
	}
	return ""
}

// isFinal tells a registry's answer, which stays the same, from a registry that was not reached.
func isFinal(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"not found", "manifest unknown", "name unknown", "unauthorized", "access denied", "denied:", "forbidden", "no match for platform"},
		func(word string) bool { return strings.Contains(message, word) })
}
