package scorecard

import (
	"context"
	"sync"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
)

// Runner runs one test. What keeps a test from running is its result.
type Runner interface {
	RunTest(ctx context.Context, test v1alpha3.TestConfiguration) v1alpha3.TestStatus
}

// Run runs stages one after the other, the tests of a parallel one at the same time. Results are in the
// order of the configuration.
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

// Passed tells whether all results are good.
func Passed(list v1alpha3.TestList) bool {
	for _, test := range list.Items {
		for _, result := range test.Status.Results {
			if result.State != v1alpha3.PassState {
				return false
			}
		}
	}
	return true
}

// failed is the result of a test that gave none.
func failed(log string, errs ...string) v1alpha3.TestStatus {
	return v1alpha3.TestStatus{Results: []v1alpha3.TestResult{{State: v1alpha3.FailState, Errors: errs, Log: log}}}
}
