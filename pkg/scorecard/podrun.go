package scorecard

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/operon-sdk/operon/pkg/kube"
)

// podRun is the run of a test as a pod.
type podRun struct {
	*Cluster
	test v1alpha3.TestConfiguration
	// name is the pod's name, reported the last step.
	name, reported string
}

// podState is the relevant state of a pod.
type podState struct {
	Status struct {
		Phase, Reason, Message                   string
		InitContainerStatuses, ContainerStatuses []containerState
	}
}

type containerState struct {
	Name  string
	State struct {
		Waiting    *struct{ Reason, Message string }
		Running    *struct{}
		Terminated *struct {
			ExitCode        int
			Reason, Message string
		}
	}
}

// maxLog limits a test's log in bytes.
const maxLog = 16 << 20

// diagnosisTime is the maximum time for the diagnosis of a pod.
const diagnosisTime = 5 * time.Second

// pollInterval is the time between two reads of a pod.
const pollInterval = 300 * time.Millisecond

// report reports a step, unless it was reported last.
func (r *podRun) report(text string) {
	if text != r.reported {
		r.reported = text
		r.Progress(Event{Test: testName(r.test), Text: text})
	}
}

func (r *podRun) run(ctx context.Context) v1alpha3.TestStatus {
	if ctx.Err() != nil {
		return failed("", fmt.Sprintf("did not run: %v", context.Cause(ctx)))
	}
	if err := r.Client.Do(ctx, http.MethodPost, r.path("pods"), "", pod(r.name, r.configMap, r.uid, r.test, r.PodOptions), nil); err != nil {
		text := fmt.Sprintf("cannot create the pod: %v", cause(ctx, err))
		if kube.IsForbidden(err) && strings.Contains(err.Error(), "PodSecurity") && !r.Restricted {
			text += "; pass --pod-security restricted"
		}
		return failed("", text)
	}
	r.report("created pod " + r.name)
	ended, err := r.wait(ctx)
	if err != nil {
		return r.explain(ctx, err)
	}
	if err := r.gather(ctx); err != nil {
		return r.explain(ctx, fmt.Errorf("cannot fetch its files: %w", cause(ctx, err)))
	}
	return r.status(ctx, ended)
}

// wait waits until the test has exited and reports its log. It is an error if the pod cannot run.
func (r *podRun) wait(ctx context.Context) (containerState, error) {
	following, stop := context.WithCancel(ctx)
	followed := make(chan struct{})
	started := false
	defer func() {
		if started {
			// The log ends shortly after the container, if the connection holds.
			timer := time.AfterFunc(diagnosisTime, stop)
			<-followed
			timer.Stop()
		}
		stop()
	}()
	var result containerState
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		var state podState
		if err := r.Client.Do(ctx, http.MethodGet, kube.PodPath(r.Namespace, r.name), "", nil, &state); err != nil {
			return false, fmt.Errorf("cannot read the pod: %w", err)
		}
		for _, c := range state.Status.ContainerStatuses {
			if c.Name != testContainer {
				continue
			}
			if !started && (c.State.Running != nil || c.State.Terminated != nil) {
				started = true
				r.report("running")
				go func() {
					defer close(followed)
					r.follow(following)
				}()
			}
			if c.State.Terminated != nil {
				result = c
				return true, nil
			}
		}
		if reason := permanentFailure(state); reason != "" {
			return false, fmt.Errorf("the pod cannot run: %s", reason)
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		err = noResult(ctx)
	}
	return result, err
}

// noResult returns the error of a test that was running when ctx ended.
func noResult(ctx context.Context) error {
	return fmt.Errorf("no result: %w", context.Cause(ctx))
}

// permanentFailure returns why a pod will never run its test; empty if it may.
func permanentFailure(state podState) string {
	permanent := []string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"}
	for _, c := range slices.Concat(state.Status.InitContainerStatuses, state.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && (slices.Contains(permanent, w.Reason) || w.Reason == "ErrImagePull" && strings.Contains(w.Message, "not found")) {
			return fmt.Sprintf("container %s: %s", c.Name, w.Reason)
		}
	}
	for _, c := range state.Status.InitContainerStatuses {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return fmt.Sprintf("container %s, which unpacks the bundle, exited with code %d", c.Name, t.ExitCode)
		}
	}
	if state.Status.Phase == "Failed" {
		return strings.TrimPrefix(state.Status.Reason+": "+state.Status.Message, ": ")
	}
	return ""
}

// follow reports the lines of the log, up to the result.
func (r *podRun) follow(ctx context.Context) {
	stream, err := r.Client.Logs(ctx, r.Namespace, r.name, testContainer, true)
	if err != nil {
		return // status reads the log again and reports the error
	}
	defer func() { _ = stream.Close() }()
	lines := bufio.NewReader(io.LimitReader(stream, maxLog))
	for {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, "{") {
			_, _ = io.Copy(io.Discard, lines)
			return
		}
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			r.Progress(Event{Test: testName(r.test), Text: line, Log: true})
		}
		if err != nil {
			return
		}
	}
}

// explain returns the result of a test without one: the reason, and the state of its pod.
func (r *podRun) explain(ctx context.Context, why error) v1alpha3.TestStatus {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), diagnosisTime)
	defer cancel()
	found := r.Client.ExplainPods(ctx, r.Namespace, url.Values{"fieldSelector": {"metadata.name=" + r.name}})
	texts := []string{why.Error()}
	for _, f := range found {
		texts = append(texts, strings.TrimSpace(f.Problem))
	}
	// The log so far can contain the cause.
	log := ""
	if stream, err := r.Client.Logs(ctx, r.Namespace, r.name, testContainer, false); err == nil {
		data, _ := io.ReadAll(io.LimitReader(stream, maxLog))
		_ = stream.Close()
		log = string(data)
	}
	return failed(log, texts...)
}

// status returns the result in the log.
func (r *podRun) status(ctx context.Context, ended containerState) v1alpha3.TestStatus {
	stream, err := r.Client.Logs(ctx, r.Namespace, r.name, testContainer, false)
	if err != nil {
		return failed("", fmt.Sprintf("cannot read its log: %v", cause(ctx, err)))
	}
	defer func() { _ = stream.Close() }()
	log, err := io.ReadAll(io.LimitReader(stream, maxLog))
	if err != nil {
		return failed(string(log), fmt.Sprintf("cannot read its log: %v", cause(ctx, err)))
	}
	var status v1alpha3.TestStatus
	if err := json.Unmarshal(log, &status); err != nil {
		how := fmt.Sprintf("it exited with code %d", ended.State.Terminated.ExitCode)
		if reason := ended.State.Terminated.Reason; reason != "" && reason != "Completed" && reason != "Error" {
			how += ", " + strings.TrimSuffix(reason+": "+ended.State.Terminated.Message, ": ")
		}
		return failed(string(log), fmt.Sprintf("its output is not a test result (%v); %s", err, how))
	}
	return status
}

// gather fetches the output files of a test with storage.
func (r *podRun) gather(ctx context.Context) error {
	mount := r.test.Storage.Spec.MountPath.Path
	if mount == "" {
		return nil
	}
	root, err := r.OpenOutput()
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	dir := "."
	for _, label := range []string{"suite", "test"} {
		if value := r.test.Labels[label]; value != "" && filepath.IsLocal(value) {
			dir = filepath.Join(dir, value)
		}
	}
	reader, writer := io.Pipe()
	var errOut bytes.Buffer
	done := make(chan error, 1)
	go func() {
		err := r.Client.Exec(ctx, r.Namespace, r.name, storageContainer, []string{"tar", "cf", "-", mount}, writer, &errOut)
		_ = writer.CloseWithError(err) // it never fails
		done <- err
	}()
	err = unpack(reader, root, dir, mount, maxOutput())
	_ = reader.CloseWithError(err)
	if failure := <-done; failure != nil && err == nil {
		err = failure
	}
	if text := strings.TrimSpace(errOut.String()); err != nil && text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return err
}
