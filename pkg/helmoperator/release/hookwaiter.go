package release

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"
)

// A hookWaiter waits for the objects of hooks. The objects of releases are not waited for.
type hookWaiter struct{ *hooks }

// Wait implements kube.Waiter. It is called between the hooks before and after the change of the objects.
func (w hookWaiter) Wait(kube.ResourceList, time.Duration) error {
	w.applied()
	return nil
}

// WaitWithJobs implements kube.Waiter.
func (w hookWaiter) WaitWithJobs(kube.ResourceList, time.Duration) error {
	w.applied()
	return nil
}

// WaitForDelete implements kube.Waiter. An object of a hook has to be gone before it can be created again.
func (w hookWaiter) WaitForDelete(infos kube.ResourceList, _ time.Duration) error {
	hook := w.hookOf(infos)
	if hook == nil {
		w.applied()
		return nil
	}
	run := w.runs[hook]
	if run == nil || run.created || run.isFinished { // the next run waits for it
		return nil
	}
	for i, info := range infos {
		if run.adopted[i] != nil || info.Name == "" {
			continue
		}
		waiting := Waiting{Object: describeObject(info), Hook: w.event(), Deletion: true}
		err := w.release.await(w.ctx, waiting, info, w.release.hookTimeout(), func(live *unstructured.Unstructured) (bool, error) {
			return live == nil || live.GetDeletionTimestamp() == nil, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WatchUntilReady implements kube.Waiter. Jobs and Pods have to finish; other objects have to exist only.
func (w hookWaiter) WatchUntilReady(infos kube.ResourceList, _ time.Duration) error {
	if run := w.runs[w.hookOf(infos)]; run != nil && run.isFinished {
		return nil
	}
	for _, info := range infos {
		if !isRun(info) {
			continue
		}
		waiting := Waiting{Object: describeObject(info), Hook: w.event()}
		timeout := w.release.hookTimeout()
		if object, ok := info.Object.(metav1.Object); ok && timeout > 0 {
			// A run that is continued may have used up a part of its time, or all.
			if created := object.GetCreationTimestamp(); !created.IsZero() {
				timeout = max(timeout-time.Since(created.Time), time.Second)
			}
		}
		err := w.release.await(w.ctx, waiting, info, min(timeout, w.release.hookTimeout()), func(live *unstructured.Unstructured) (bool, error) {
			if live == nil {
				return false, errors.New("it was deleted before it finished")
			}
			return runProgress(live)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", describeObject(info), err)
		}
	}
	return nil
}

// hookTimeout returns the limit of the wait for a hook; 0 means none.
func (r *Release) hookTimeout() time.Duration {
	if r.options.HookTimeout > 0 {
		return r.options.HookTimeout
	}
	return r.factory.hookTimeout
}

// isRun reports whether an object runs to completion.
func isRun(info *resource.Info) bool {
	kind := info.Mapping.GroupVersionKind.GroupKind()
	return kind.Group == "batch" && kind.Kind == "Job" || kind.Group == "" && kind.Kind == "Pod"
}

// runProgress reports whether a Job or Pod has completed. The error is why it has failed.
func runProgress(live *unstructured.Unstructured) (done bool, err error) {
	if live.GetKind() == "Pod" {
		switch phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); phase {
		case "Succeeded":
			return true, nil
		case "Failed":
			message, _, _ := unstructured.NestedString(live.Object, "status", "message")
			return false, failedRun("the pod has failed", message)
		}
		return false, nil
	}
	if _, ok := conditionMessage(live, "Complete", "True"); ok {
		return true, nil
	}
	if message, ok := conditionMessage(live, "Failed", "True"); ok {
		return false, failedRun("the job has failed", message)
	}
	return false, nil
}

func failedRun(problem, message string) error {
	return errors.New(strings.Join(slices.DeleteFunc([]string{problem, message}, func(s string) bool { return s == "" }), ": "))
}
