package helmoperator

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

// Tests are how releases are tested after installations and upgrades: by the chart's hooks of the event test.
type Tests struct {
	Enable bool
	// IgnoreFailures makes failed tests no failure of the installation or upgrade.
	IgnoreFailures bool
	// Timeout limits the wait for one test. 0, the default, stands for the timeout of hooks.
	Timeout time.Duration
}

// WithTests sets how releases are tested. By default, they aren't. AnnotationTest takes precedence over Tests.Enable.
func WithTests(t Tests) Option {
	return func(r *Reconciler) error {
		r.tests = t
		if t.Timeout < 0 {
			return errors.New("timeout of tests: must not be negative")
		}
		return nil
	}
}

// testOptions returns how the release of this pass is tested, or nil.
func (p *pass) testOptions() *release.Tests {
	if !p.settings.test {
		return nil
	}
	return &release.Tests{IgnoreFailures: p.tests.IgnoreFailures, Timeout: p.tests.Timeout}
}

// test tests a revision that was installed or upgraded, as soon as its objects are ready. It returns the condition Ready.
func (p *pass) test(ctx context.Context, revision int, ready condition) (condition, error) {
	action := p.release.PendingTest()
	p.tracked.testPending = action != release.None
	switch old := readCondition(p.obj, ConditionTestSuccess); {
	case p.tracked.testPending && ready.status != metav1.ConditionTrue:
		p.change.set(condition{ConditionTestSuccess, metav1.ConditionUnknown, ReasonTestPending, "The tests run as soon as all objects are ready"})
		return ready, nil
	case p.tracked.testPending:
	case p.operated || !p.settings.test || old.status == "":
		p.change.remove(ConditionTestSuccess)
		return ready, nil
	default: // also for the current generation
		p.change.set(old)
		return ready, nil
	}
	remediation, reason := p.upgrade, ReasonUpgradeError
	if action == release.Install {
		remediation, reason = p.install, ReasonInstallError
	}
	current, err := p.newAttempt(action, p.rendered)
	if err != nil {
		return ready, err
	}
	known, err := p.knownFailure(ctx, p.release, current)
	if err != nil {
		return ready, err
	}
	p.change.set(condition{ConditionTestSuccess, metav1.ConditionUnknown, ReasonTestPending, "The tests are running"})
	start := p.kind.Now()
	err = p.release.Test(ctx, p.upgradeOptions())
	if err != nil && ctx.Err() != nil {
		return ready, err
	}
	p.metrics.observe(p.kind.GVK, operationTest, p.kind.Now().Sub(start), err)
	var failed *release.TestError
	if err != nil && !errors.As(err, &failed) {
		return ready, &operationError{reason, err}
	}
	p.tracked.testPending = false
	if err == nil {
		message := fmt.Sprintf("The tests of revision %d of the release succeeded", revision)
		p.change.set(condition{ConditionTestSuccess, metav1.ConditionTrue, ReasonTestSucceeded, message})
		p.emit(p.obj, corev1.EventTypeNormal, ReasonTestSucceeded, message)
		return p.readyCondition(ctx, p.tracked), nil
	}
	message := p.secrets.Redact(failed.Error())
	p.change.set(condition{ConditionTestSuccess, metav1.ConditionFalse, ReasonTestFailed, message})
	if p.tests.IgnoreFailures {
		p.emit(p.obj, corev1.EventTypeWarning, ReasonTestFailed, message)
		return p.readyCondition(ctx, p.tracked), nil
	}
	p.describeUndone(action, err)
	return ready, p.failAttempt(ctx, p.release, current, known, remediation, &operationError{reason, err})
}

// describeUndone corrects what the status says about a revision whose tests failed.
func (p *pass) describeUndone(action release.Action, err error) {
	delete(p.change.conditions, ConditionDeployed)
	p.change.release = nil
	var uninstalled *release.UninstalledError
	if errors.As(err, &uninstalled) || action == release.Install && p.install.Strategy != release.StrategyNone {
		p.change.set(condition{ConditionDeployed, metav1.ConditionFalse, ReasonUninstallSuccessful, ""})
		p.change.release, p.tracked.objects = map[string]any{}, nil
	}
}
