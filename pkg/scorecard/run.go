package scorecard

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
)

// A Runner runs tests. The result of a test that cannot run is the error.
type Runner interface {
	RunTest(ctx context.Context, test v1alpha3.TestConfiguration) v1alpha3.TestStatus
}

// Run runs the tests of stages in order, and the tests of a parallel stage concurrently. Results have the order of the configuration.
func Run(ctx context.Context, stages []v1alpha3.StageConfiguration, runner Runner) v1alpha3.TestList {
	list := List(stages)
	next := 0
	for _, stage := range stages {
		items := list.Items[next : next+len(stage.Tests)]
		next += len(stage.Tests)
		var group sync.WaitGroup
		for i := range items {
			run := func() { items[i].Status = runner.RunTest(ctx, items[i].Spec) }
			if stage.Parallel {
				group.Go(run)
			} else {
				run()
			}
		}
		group.Wait()
	}
	return list
}

// CheckPassed returns an error with the names of tests that have not passed.
func CheckPassed(list v1alpha3.TestList) error {
	var names []string
	for _, test := range list.Items {
		if stateOf(test.Status) != v1alpha3.PassState {
			names = append(names, testName(test.Spec))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("tests have failed: %d of %d: %s", len(names), len(list.Items), strings.Join(names, ", "))
}

// stateOf returns the last state that is not passed, if there is one.
func stateOf(status v1alpha3.TestStatus) v1alpha3.State {
	state := v1alpha3.PassState
	for _, result := range status.Results {
		if result.State != v1alpha3.PassState {
			state = result.State
		}
	}
	return state
}

// failed returns the result of a test that returned none.
func failed(log string, errs ...string) v1alpha3.TestStatus {
	return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{{State: v1alpha3.FailState, Errors: errs, Log: log}}}
}
