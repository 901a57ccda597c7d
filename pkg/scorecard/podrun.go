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

	"github.com/operon-sdk/operon/pkg/kube"
)

// podRun is one test on its way.
type podRun struct {
	*Cluster
	test v1alpha3.TestConfiguration
	// name is the pod's.
	name string
	told string
}

// podState is what is read of a pod.
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

// maxLog bounds what is read of a test's log.
const maxLog = 16 << 20

// explainTime is how long it may take to find out why a pod does not run.
const explainTime = 5 * time.Second

// pollInterval is how often a pod is looked at.
const pollInterval = 300 * time.Millisecond

func (r *podRun) tell(text string) {
	if text != r.told {
		r.told = text
		r.Tell(Event{Test: TestName(r.test), Text: text})
	}
}

func (r *podRun) run(ctx context.Context) v1alpha3.TestStatus {
	if ctx.Err() != nil {
		return failed("", fmt.Sprintf("did not run: %v", context.Cause(ctx)))
	}
	if err := r.Client.Do(ctx, http.MethodPost, r.folder("pods"), "", pod(r.name, r.configMap, r.uid, r.test, r.PodOptions), nil); err != nil {
		text := fmt.Sprintf("the pod cannot be made: %v", cause(ctx, err))
		if kube.IsForbidden(err) && strings.Contains(err.Error(), "PodSecurity") && !r.Restricted {
			text += "; --pod-security restricted makes pods that are let in"
		}
		return failed("", text)
	}
	r.tell("pod " + r.name + " is made")
	ended, err := r.wait(ctx)
	if err != nil {
		return r.explain(ctx, err)
	}
	if err := r.gather(ctx); err != nil {
		return r.explain(ctx, fmt.Errorf("its files cannot be fetched: %w", cause(ctx, err)))
	}
	return r.status(ctx, ended)
}

// wait waits until the test has ended, while its log is shown. An error tells why it never will.
func (r *podRun) wait(ctx context.Context) (containerState, error) {
	following, stop := context.WithCancel(ctx)
	shown := make(chan struct{})
	started := false
	defer func() {
		if started {
			// The log ends shortly after the container, if the connection holds.
			timer := time.AfterFunc(explainTime, stop)
			<-shown
			timer.Stop()
		}
		stop()
	}()
	for {
		var state podState
		if err := r.Client.Do(ctx, http.MethodGet, kube.PodPath(r.Namespace, r.name), "", nil, &state); err != nil {
			if ctx.Err() != nil {
				return containerState{}, noResult(ctx)
			}
			return containerState{}, fmt.Errorf("the pod cannot be looked at: %w", err)
		}
		for _, c := range state.Status.ContainerStatuses {
			if c.Name != testContainer {
				continue
			}
			if !started && (c.State.Running != nil || c.State.Terminated != nil) {
				started = true
				r.tell("runs")
				go func() {
					defer close(shown)
					r.follow(following)
				}()
			}
			if c.State.Terminated != nil {
				return c, nil
			}
		}
		if why := hopeless(state); why != "" {
			return containerState{}, fmt.Errorf("the pod cannot run: %s", why)
		}
		if pause(ctx, pollInterval) != nil {
			return containerState{}, noResult(ctx)
		}
	}
}

// noResult is the error of a test that had not ended when ctx did.
func noResult(ctx context.Context) error {
	return fmt.Errorf("there is no result: %w", context.Cause(ctx))
}

// hopeless tells why a pod will never run its test, in a word; empty for one that may.
func hopeless(state podState) string {
	final := []string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"}
	for _, c := range slices.Concat(state.Status.InitContainerStatuses, state.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && (slices.Contains(final, w.Reason) || w.Reason == "ErrImagePull" && strings.Contains(w.Message, "not found")) {
			return fmt.Sprintf("container %s: %s", c.Name, w.Reason)
		}
	}
	for _, c := range state.Status.InitContainerStatuses {
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 {
			return fmt.Sprintf("container %s, which unpacks the bundle, ended with code %d", c.Name, t.ExitCode)
		}
	}
	if state.Status.Phase == "Failed" {
		return strings.TrimPrefix(state.Status.Reason+": "+state.Status.Message, ": ")
	}
	return ""
}

// follow shows what the test writes, up to its result.
func (r *podRun) follow(ctx context.Context) {
	stream, err := r.Client.Logs(ctx, r.Namespace, r.name, testContainer, true)
	if err != nil {
		return // status reads the log again, and tells
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
			r.Tell(Event{Test: TestName(r.test), Text: line, Log: true})
		}
		if err != nil {
			return
		}
	}
}

// explain is the result of a test that gave none: why, and what the cluster says about its pod.
func (r *podRun) explain(ctx context.Context, why error) v1alpha3.TestStatus {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTime)
	defer cancel()
	found := &kube.Cause{}
	r.Client.ExplainPods(ctx, found, r.Namespace, url.Values{"fieldSelector": {"metadata.name=" + r.name}})
	texts := []string{why.Error()}
	for _, line := range found.Lines {
		texts = append(texts, strings.TrimSpace(line))
	}
	// What it has written so far may say more.
	log := ""
	if stream, err := r.Client.Logs(ctx, r.Namespace, r.name, testContainer, false); err == nil {
		data, _ := io.ReadAll(io.LimitReader(stream, maxLog))
		_ = stream.Close()
		log = string(data)
	}
	return failed(log, texts...)
}

// status reads the result from the log.
func (r *podRun) status(ctx context.Context, ended containerState) v1alpha3.TestStatus {
	stream, err := r.Client.Logs(ctx, r.Namespace, r.name, testContainer, false)
	if err != nil {
		return failed("", fmt.Sprintf("its log cannot be read: %v", cause(ctx, err)))
	}
	defer func() { _ = stream.Close() }()
	log, err := io.ReadAll(io.LimitReader(stream, maxLog))
	if err != nil {
		return failed(string(log), fmt.Sprintf("its log cannot be read: %v", cause(ctx, err)))
	}
	var status v1alpha3.TestStatus
	if err := json.Unmarshal(log, &status); err != nil {
		how := fmt.Sprintf("it ended with code %d", ended.State.Terminated.ExitCode)
		if reason := ended.State.Terminated.Reason; reason != "" && reason != "Completed" && reason != "Error" {
			how += ", " + strings.TrimSuffix(reason+": "+ended.State.Terminated.Message, ": ")
		}
		return failed(string(log), fmt.Sprintf("its output is no result of a test (%v); %s", err, how))
	}
	return status
}

// gather fetches the files of a test that has a storage.
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
