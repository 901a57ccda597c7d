package release

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"helm.sh/helm/v4/pkg/action"
	rcommon "helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
)

// Tests are how a release is tested: by the chart's hooks of the event test.
type Tests struct {
	// IgnoreFailures makes failed tests no failure of the installation or upgrade.
	IgnoreFailures bool
	// Timeout limits the wait for one test. 0 stands for Options.HookTimeout.
	Timeout time.Duration
}

// A TestError is returned if a test of the chart failed.
type TestError struct{ Err error }

// Error implements error.
func (e *TestError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the test.
func (e *TestError) Unwrap() error { return e.Err }

var testHooks = hookEvents{before: releasev1.HookTest}

// testKey is the key of the state of tests in the Secret of a revision. It is absent if the operator doesn't test the revision.
const testKey = "test"

// The values of testKey.
const (
	testPending   = "pending"
	testSucceeded = "succeeded"
	testFailed    = "failed"
)

// noteTests makes the record of a new revision say that its tests have to be run.
func (r *Release) noteTests(revision *releasev1.Release, events hookEvents) {
	r.recordsTests = r.options.Tests != nil && (events == installHooks || events == upgradeHooks) &&
		slices.ContainsFunc(revision.Hooks, func(hook *releasev1.Hook) bool { return slices.Contains(hook.Events, releasev1.HookTest) })
}

// PendingTest returns the action whose result Test has to test, or None. Call it after Plan, Install or Upgrade; it sends no request.
func (r *Release) PendingTest() Action {
	if r.options.Tests == nil || r.pendingTest == "" {
		return None
	}
	return r.pendingTest
}

// Test runs the tests of the deployed revision, once. If a test fails, it returns a *TestError. Unless failures are ignored, the
// installation or upgrade has failed then, and Test follows the strategy. If the context ends, the next call continues.
func (r *Release) Test(ctx context.Context, o UpgradeOptions) error {
	revisions, err := r.history()
	if err != nil {
		return err
	}
	last := lastOf(revisions)
	if last == nil || last.Info.Status != rcommon.StatusDeployed || r.tests[last.Version] != testPending {
		return nil // another process has tested it
	}
	wasInstalled := situationOf(revisions, last).install
	err = r.redact(r.runTests(ctx, last), last)
	if err != nil && (ctx.Err() != nil || IsTransient(err)) {
		return err
	}
	result := testSucceeded
	if err != nil {
		result = testFailed
	}
	if recordErr := r.recordTest(ctx, last.Version, result); recordErr != nil {
		return recordErr
	}
	r.pendingTest = ""
	defer r.prune(ctx)
	if err == nil {
		return nil
	}
	err = &TestError{err}
	if r.options.Tests.IgnoreFailures {
		return err
	}
	return r.undoTested(ctx, last.Version, wasInstalled, o, err)
}

// runTests runs the test hooks of the last revision. The Jobs and Pods of an interrupted call are adopted.
func (r *Release) runTests(ctx context.Context, last *releasev1.Release) error {
	configuration, err := r.configuration(r.client(), nil)
	if err != nil {
		return err
	}
	if timeout := r.options.Tests.Timeout; timeout > 0 {
		before := r.options.HookTimeout
		r.options.HookTimeout = timeout
		defer func() { r.options.HookTimeout = before }()
	}
	h := r.runHooks(ctx, configuration, testHooks, []*releasev1.Release{last}, identifyHooks(last, testHooks))
	h.list, h.revision, h.adopt, h.completed, h.begun = last.Hooks, last.Version, true, last.Version-1, map[key]bool{}
	for _, hook := range last.Hooks {
		objects, err := parseManifest(hook.Manifest)
		if err != nil || !slices.Contains(hook.Events, releasev1.HookTest) {
			continue
		}
		for _, object := range objects {
			h.begun[r.keyOf(object.Unstructured)] = true
		}
	}
	_, shutdown, err := action.NewReleaseTesting(configuration).Run(r.name)
	if err != nil {
		err = r.errorf("test: %w", err)
	}
	if shutdownErr := shutdown(); err == nil && shutdownErr != nil { // it deletes what the policies say
		err = r.errorf("test: %w", shutdownErr)
	}
	return err
}

// recordTest writes the result of the tests to the record of a revision.
func (r *Release) recordTest(ctx context.Context, version int, result string) error {
	if err := r.extendRecord(ctx, version, testKey, []byte(result)); err != nil {
		return r.errorf("record the result of the tests: %w", err)
	}
	return nil
}

// undoTested records that a revision has failed, as if its installation or upgrade had, and follows the strategy.
func (r *Release) undoTested(ctx context.Context, version int, wasInstalled bool, o UpgradeOptions, cause error) error {
	revisions, err := r.history()
	if err != nil {
		return errors.Join(cause, err)
	}
	last := lastOf(revisions)
	if last == nil || last.Version != version || last.Info.Status != rcommon.StatusDeployed {
		return cause // another process works on the release
	}
	before := revisions[:len(revisions)-1]
	if target := rollbackTarget(before); !wasInstalled && target != nil && target.Info.Status == rcommon.StatusSuperseded {
		target.SetStatus(rcommon.StatusDeployed, target.Info.Description)
		if err := r.storage(nil).Update(target); err != nil {
			return errors.Join(cause, r.errorf("record that revision %d is deployed: %w", target.Version, err))
		}
	}
	last.SetStatus(rcommon.StatusFailed, fmt.Sprintf("Release %q failed: %v", r.name, cause))
	if err := r.storage(nil).Update(last); err != nil {
		return errors.Join(cause, r.errorf("record that revision %d has failed: %w", version, err))
	}
	r.undoable = version
	if !wasInstalled {
		return r.remediate(ctx, before, o, cause)
	}
	if r.options.InstallStrategy == StrategyNone {
		return cause
	}
	_, err = r.Uninstall(ctx, UninstallOptions{})
	return errors.Join(cause, err)
}

// mayUndo reports whether this pass has made a revision, or has found by tests that it has failed.
func (r *Release) mayUndo(version int) bool { return r.hasCreated(version) || r.undoable == version }
