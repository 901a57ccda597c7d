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

// maxRestarts is the number of restarts after which a failing container is a permanent failure, after about half a minute. Fewer
// are common in programs that exit until another one is ready.
const maxRestarts = 3

// PermanentFailure returns why the newest pods of a Deployment will never become ready: the registry does not have the image or
// denies access, a container keeps failing, or the Pod Security Standard of the namespace forbids them. It returns "" if they may, or if they cannot be read.
func (c *Client) PermanentFailure(ctx context.Context, deployment *Object) string {
	query := podsOf(deployment)
	if IntAt(deployment.Object, "status", "observedGeneration") < deployment.GetGeneration() || query == nil {
		return ""
	}
	sets, err := c.List(ctx, replicaSets(), deployment.GetNamespace(), query)
	if err != nil || len(sets) == 0 {
		return ""
	}
	newest := slices.MaxFunc(sets, func(a, b *Object) int { return revision(a) - revision(b) })
	for _, c := range Conditions(newest) {
		if c.Type == "ReplicaFailure" && c.Status == "True" && strings.Contains(c.Message, "violates PodSecurity") {
			return "the namespace rejects its pods: " + c.Message
		}
	}
	return c.podFailure(ctx, deployment.GetNamespace(), query, newest.GetName())
}

// podsOf returns the query that selects the pods and ReplicaSets of a Deployment; nil if it has no selector.
func podsOf(deployment *Object) url.Values {
	match, _, _ := unstructured.NestedStringMap(deployment.Object, "spec", "selector", "matchLabels")
	if len(match) == 0 {
		return nil
	}
	return url.Values{"labelSelector": {labels.SelectorFromSet(match).String()}}
}

func replicaSets() Resource {
	return Resource{APIVersion: "apps/v1", Name: "replicasets", Kind: "ReplicaSet", Namespaced: true}
}

// PermanentPodFailure is like PermanentFailure for the pods that query selects.
func (c *Client) PermanentPodFailure(ctx context.Context, namespace string, query url.Values) string {
	return c.podFailure(ctx, namespace, query, "")
}

// revision returns the position of a ReplicaSet in the history of its Deployment.
func revision(set *Object) int {
	n, err := strconv.Atoi(set.GetAnnotations()["deployment.kubernetes.io/revision"])
	if err != nil {
		return 0
	}
	return n
}

// podFailure returns the permanent failure of the pods of an owner, or of all pods if it is empty.
func (c *Client) podFailure(ctx context.Context, namespace string, query url.Values, owner string) string {
	pods, err := c.List(ctx, Pods(), namespace, query)
	if err != nil {
		return ""
	}
	for _, pod := range pods {
		owners := pod.GetOwnerReferences()
		if owner != "" && (len(owners) == 0 || owners[0].Name != owner) {
			continue
		}
		if reason := PodFailure(pod); reason != "" {
			return reason
		}
	}
	return ""
}

// PodFailure is like PermanentFailure for one pod.
func PodFailure(pod *Object) string {
	if pod.GetDeletionTimestamp() != nil {
		return ""
	}
	for _, status := range containerStatuses(pod) {
		if reason := containerFailure(status); reason != "" {
			return fmt.Sprintf("pod %s: %s", pod.GetName(), reason)
		}
	}
	return ""
}

// containerStatuses returns the states of all containers of a pod.
func containerStatuses(pod *Object) []any {
	return slices.Concat(ListAt(pod.Object, "status", "initContainerStatuses"), ListAt(pod.Object, "status", "containerStatuses"))
}

func containerFailure(status any) string {
	text := func(fields ...string) string { return StringAt(status, fields...) }
	restarts, code := IntAt(status, "restartCount"), IntAt(status, "lastState", "terminated", "exitCode")
	switch reason := text("state", "waiting", "reason"); {
	case reason == "InvalidImageName", reason == "ErrImageNeverPull", reason == "ImagePullBackOff" && isRegistryError(text("state", "waiting", "message")):
		return fmt.Sprintf("the image %s of container %s cannot be pulled", text("image"), text("name"))
	case reason == "CrashLoopBackOff" && restarts >= maxRestarts && code != 0:
		return fmt.Sprintf("container %s has exited %d times, with code %d", text("name"), restarts+1, code)
	}
	return ""
}

// isRegistryError reports whether a message is a response of a registry, not a failed connection.
func isRegistryError(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc([]string{"not found", "manifest unknown", "name unknown", "unauthorized", "access denied", "denied:", "forbidden", "no match for platform"},
		func(word string) bool { return strings.Contains(message, word) })
}
