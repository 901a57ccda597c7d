package kube

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// The rules of findings that explain why a workload is not ready.
const (
	// Unpulled is the rule of an image that could not be pulled; it is the value of the finding.
	Unpulled = "unpulled-image"
	// Unscheduled means that no node accepts a pod.
	Unscheduled = "unscheduled-pod"
	// Crashed means that a container exits.
	Crashed = "crashed-container"
	// Refused means that the cluster rejects pods.
	Refused = "refused-pods"
)

// causes are findings that explain why a workload is not ready: conditions, states of pods and containers, events, and last lines of logs.
type causes diag.Findings

const (
	// maxPods and maxEvents limit the description of one workload.
	maxPods   = 3
	maxEvents = 3
	// The last readLines of a log are read. The last logLines of them are printed, after at most maxOlder that look like causes.
	logLines  = 8
	maxOlder  = 3
	readLines = 100
)

// ExplainWorkload describes why the pods of a Deployment are not ready, as far as it can be read: conditions, states of
// pods and containers, events, and last lines of logs.
func (c *Client) ExplainWorkload(ctx context.Context, o *Object) diag.Findings {
	var found causes
	for _, condition := range Conditions(o) {
		bad := condition.Status == "False" && condition.Type != "ReplicaFailure" || condition.Status == "True" && condition.Type == "ReplicaFailure"
		if bad {
			rule := ""
			if condition.Type == "ReplicaFailure" {
				rule = Refused
			}
			found.add(rule, "condition %s=%s: %s", condition.Type, condition.Status, condition.text())
		}
	}
	if query := podsOf(o); query != nil {
		c.explainPods(ctx, &found, o.GetNamespace(), query)
	}
	return diag.Findings(found)
}

// ExplainPods describes why the pods that query selects are not ready, like ExplainWorkload.
func (c *Client) ExplainPods(ctx context.Context, namespace string, query url.Values) diag.Findings {
	var found causes
	c.explainPods(ctx, &found, namespace, query)
	return diag.Findings(found)
}

func (c *Client) explainPods(ctx context.Context, found *causes, namespace string, query url.Values) {
	pods, err := c.List(ctx, Pods(), namespace, query)
	if err != nil {
		found.add("", "cannot read its pods: %v", err)
		return
	}
	if len(pods) == 0 {
		found.add("", "it has no pods")
		sets, err := c.List(ctx, replicaSets(), namespace, query)
		if err == nil && len(sets) > 0 {
			c.events(ctx, found, sets[len(sets)-1])
		}
		return
	}
	explained := 0
	for _, pod := range pods {
		if IsPodReady(pod) || explained == maxPods {
			continue
		}
		explained++
		c.explainPod(ctx, found, pod)
	}
}

// IsPodReady reports whether a pod has the condition Ready.
func IsPodReady(pod *Object) bool {
	return slices.ContainsFunc(Conditions(pod), func(c Condition) bool { return c.Type == "Ready" && c.Status == "True" })
}

func (c *Client) explainPod(ctx context.Context, found *causes, pod *Object) {
	found.add("", "pod %s is %s", pod.GetName(), StringAt(pod.Object, "status", "phase"))
	unpulled := false
	for _, condition := range Conditions(pod) {
		if condition.Type == "PodScheduled" && condition.Status == "False" {
			found.add(Unscheduled, "  no node accepts it: %s", condition.text())
		}
	}
	for _, status := range containerStatuses(pod) {
		unpulled = c.explainContainer(ctx, found, pod, status) || unpulled
	}
	if !unpulled { // otherwise events repeat it
		c.events(ctx, found, pod)
	}
}

// explainContainer describes a container, and reports whether its image cannot be pulled.
func (c *Client) explainContainer(ctx context.Context, found *causes, pod *Object, status any) (unpulled bool) {
	if ValueAt(status, "ready") == true {
		return false
	}
	text := func(fields ...string) string { return StringAt(status, fields...) }
	name, image := text("name"), text("image")
	if reason := text("state", "waiting", "reason"); reason != "" {
		waiting := Condition{Reason: reason, Message: text("state", "waiting", "message")}.text()
		if strings.Contains(reason, "ImagePull") || strings.Contains(reason, "InvalidImageName") {
			found.addAbout(image, Unpulled, "  container %s is waiting: %s", name, waiting)
			return true // it has no log
		}
		found.add("", "  container %s is waiting: %s", name, waiting)
	}
	for _, state := range []string{"state", "lastState"} {
		if ValueAt(status, state, "terminated") != nil {
			found.add(Crashed, "  container %s exited with code %d: %s", name, IntAt(status, state, "terminated", "exitCode"),
				Condition{Reason: text(state, "terminated", "reason"), Message: text(state, "terminated", "message")}.text())
			break
		}
	}
	c.log(ctx, found, pod, name, IntAt(status, "restartCount") > 0)
	return false
}

// log adds the last lines of a container's log; of a restarted container, those before the restart.
func (c *Client) log(ctx context.Context, found *causes, pod *Object, container string, previous bool) {
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
	found.add("", "  from its log:")
	for _, line := range relevantLines(string(text)) {
		found.add("", "    %s", line)
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
func (c *Client) events(ctx context.Context, found *causes, o *Object) {
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
		if slices.ContainsFunc(*found, func(f diag.Finding) bool { return strings.Contains(f.Problem, text("message")) }) {
			continue
		}
		found.add("", "  event %s", Condition{Reason: text("reason"), Message: text("message")}.text())
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

func (c *causes) add(rule, format string, args ...any) { c.addAbout("", rule, format, args...) }

// addAbout adds a finding about a value, unless one like it is there.
func (c *causes) addAbout(value, rule, format string, args ...any) {
	f := diag.Finding{Rule: rule, Value: value, Problem: fmt.Sprintf(format, args...)}
	if !slices.ContainsFunc(*c, func(other diag.Finding) bool { return other.Problem == f.Problem && other.Value == f.Value }) {
		*c = append(*c, f)
	}
}
