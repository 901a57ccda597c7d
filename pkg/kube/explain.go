package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A Cause describes why a workload is not ready.
type Cause struct {
	// Lines are conditions, states of pods and containers, events, and last lines of logs.
	Lines []string
	// Images could not be pulled. Unscheduled, Crashed and Refused report whether pods have no node, exit, or are rejected by the
	// cluster.
	Images                        []string
	Unscheduled, Crashed, Refused bool
}

const (
	// maxPods and maxEvents limit the description of one workload.
	maxPods   = 3
	maxEvents = 3
	// The last readLines of a log are read. The last logLines of them are printed, after at most maxOlder that look like causes.
	logLines  = 8
	maxOlder  = 3
	readLines = 100
)

// ExplainWorkload describes why the pods of a Deployment are not ready, as far as it can be read.
func (c *Client) ExplainWorkload(ctx context.Context, o *Object) *Cause {
	cause := &Cause{}
	for _, condition := range Conditions(o) {
		bad := condition.Status == "False" && condition.Type != "ReplicaFailure" || condition.Status == "True" && condition.Type == "ReplicaFailure"
		if bad {
			cause.add("condition %s=%s: %s", condition.Type, condition.Status, condition.text())
			cause.Refused = cause.Refused || condition.Type == "ReplicaFailure"
		}
	}
	if query := podsOf(o); query != nil {
		c.ExplainPods(ctx, cause, o.GetNamespace(), query)
	}
	return cause
}

// ExplainPods adds to cause why the pods that query selects are not ready.
func (c *Client) ExplainPods(ctx context.Context, cause *Cause, namespace string, query url.Values) {
	pods, err := c.List(ctx, Pods(), namespace, query)
	if err != nil {
		cause.add("cannot read its pods: %v", err)
		return
	}
	if len(pods) == 0 {
		cause.add("it has no pods")
		sets, err := c.List(ctx, replicaSets(), namespace, query)
		if err == nil && len(sets) > 0 {
			c.events(ctx, cause, sets[len(sets)-1])
		}
		return
	}
	explained := 0
	for _, pod := range pods {
		if IsPodReady(pod) || explained == maxPods {
			continue
		}
		explained++
		c.explainPod(ctx, cause, pod)
	}
}

// IsPodReady reports whether a pod has the condition Ready.
func IsPodReady(pod *Object) bool {
	return slices.ContainsFunc(Conditions(pod), func(c Condition) bool { return c.Type == "Ready" && c.Status == "True" })
}

func (c *Client) explainPod(ctx context.Context, cause *Cause, pod *Object) {
	cause.add("pod %s is %s", pod.GetName(), StringAt(pod.Object, "status", "phase"))
	images := len(cause.Images)
	for _, condition := range Conditions(pod) {
		if condition.Type == "PodScheduled" && condition.Status == "False" {
			cause.add("  no node accepts it: %s", condition.text())
			cause.Unscheduled = true
		}
	}
	for _, status := range containerStatuses(pod) {
		c.explainContainer(ctx, cause, pod, status)
	}
	if len(cause.Images) == images { // otherwise events repeat it
		c.events(ctx, cause, pod)
	}
}

func (c *Client) explainContainer(ctx context.Context, cause *Cause, pod *Object, status any) {
	if ValueAt(status, "ready") == true {
		return
	}
	text := func(fields ...string) string { return StringAt(status, fields...) }
	name, image := text("name"), text("image")
	if reason := text("state", "waiting", "reason"); reason != "" {
		cause.add("  container %s is waiting: %s", name, Condition{Reason: reason, Message: text("state", "waiting", "message")}.text())
		if strings.Contains(reason, "ImagePull") || strings.Contains(reason, "InvalidImageName") {
			cause.Images = append(cause.Images, image)
			return // it has no log
		}
	}
	for _, state := range []string{"state", "lastState"} {
		if ValueAt(status, state, "terminated") != nil {
			cause.add("  container %s exited with code %d: %s", name, IntAt(status, state, "terminated", "exitCode"),
				Condition{Reason: text(state, "terminated", "reason"), Message: text(state, "terminated", "message")}.text())
			cause.Crashed = true
			break
		}
	}
	c.log(ctx, cause, pod, name, IntAt(status, "restartCount") > 0)
}

// log adds the last lines of a container's log; of a restarted container, those before the restart.
func (c *Client) log(ctx context.Context, cause *Cause, pod *Object, container string, previous bool) {
	query := url.Values{"container": {container}, "tailLines": {fmt.Sprint(readLines)}, "limitBytes": {"65536"}}
	if previous {
		query.Set("previous", "true")
	}
	path := PodPath(pod.GetNamespace(), pod.GetName()) + "/log?" + query.Encode()
	stream, err := c.open(ctx, http.MethodGet, path, "", nil, "*/*")
	if err != nil {
		return
	}
	defer func() { _ = stream.Close() }()
	text, err := io.ReadAll(io.LimitReader(stream, 1<<16))
	if err != nil || strings.TrimSpace(string(text)) == "" {
		return
	}
	cause.add("  from its log:")
	for _, line := range relevantLines(string(text)) {
		cause.add("    %s", line)
	}
}

// relevantLines returns the last lines of a log, after older ones that look like causes: a program that rejects one of its flags
// prints that before its usage, for example.
func relevantLines(text string) []string {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r", ""), "\n"), "\n")
	end := max(0, len(lines)-logLines)
	var relevant []string
	for _, line := range lines[:end] {
		lower := strings.ToLower(line)
		if len(relevant) < maxOlder && slices.ContainsFunc([]string{"error", "fatal", "panic", "fail", "flag provided", "unknown", "forbidden", "no such"},
			func(word string) bool { return strings.Contains(lower, word) }) {
			relevant = append(relevant, line)
		}
	}
	return append(relevant, lines[end:]...)
}

// events adds the newest warnings about an object.
func (c *Client) events(ctx context.Context, cause *Cause, o *Object) {
	query := url.Values{"fieldSelector": {"type=Warning,involvedObject.name=" + o.GetName() + ",involvedObject.kind=" + o.GetKind()}}
	events, err := c.List(ctx, Resource{APIVersion: "v1", Name: "events", Kind: "Event"}, o.GetNamespace(), query)
	if err != nil {
		return
	}
	slices.SortStableFunc(events, func(a, b *Object) int { return strings.Compare(eventTime(a), eventTime(b)) })
	if len(events) > maxEvents {
		events = events[len(events)-maxEvents:]
	}
	for _, event := range events {
		text := func(field string) string { return StringAt(event.Object, field) }
		if slices.ContainsFunc(cause.Lines, func(line string) bool { return strings.Contains(line, text("message")) }) {
			continue
		}
		cause.add("  event %s", Condition{Reason: text("reason"), Message: text("message")}.text())
	}
}

func eventTime(event *Object) string {
	for _, field := range []string{"lastTimestamp", "eventTime", "firstTimestamp"} {
		if stamp := StringAt(event.Object, field); stamp != "" {
			return stamp
		}
	}
	return ""
}

func (c *Cause) add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if !slices.Contains(c.Lines, line) {
		c.Lines = append(c.Lines, line)
	}
}
