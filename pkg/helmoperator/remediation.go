package helmoperator

import (
	"errors"
	"fmt"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
	"github.com/operon-sdk/operon/pkg/watches"
)

// A Remediation is what happens after an installation or upgrade of a release has failed. Operations that the API server refuses in
// a dry run are not failures: they have changed nothing, and start as soon as the server accepts them.
type Remediation struct {
	// Retries is how often the operation is tried again with the same custom resource, values and chart; negative is without limit.
	// The default is 0.
	Retries int
	// Strategy is what happens after each failure. The default is release.StrategyUninstall for installations and
	// release.StrategyRollback for upgrades.
	Strategy release.Strategy
}

// WithInstallRemediation sets what happens after a failed installation. AnnotationInstallRetries and AnnotationInstallStrategy take
// precedence.
func WithInstallRemediation(m Remediation) Option {
	return func(r *Reconciler) error {
		r.installRemediation = m
		return release.CheckStrategies(m.Strategy, "")
	}
}

// WithUpgradeRemediation sets what happens after a failed upgrade. AnnotationUpgradeRetries and AnnotationUpgradeStrategy take
// precedence.
func WithUpgradeRemediation(m Remediation) Option {
	return func(r *Reconciler) error {
		r.upgradeRemediation = m
		return release.CheckStrategies("", m.Strategy)
	}
}

// allows reports whether an operation may be tried again after a number of failures.
func (m Remediation) allows(failures int) bool { return m.Retries < 0 || failures <= m.Retries }

// override reads annotations, which take precedence.
func (m *Remediation) override(obj metav1.Object, retries, strategy string, check func(release.Strategy) error) error {
	return errors.Join(
		customresource.ReadAnnotation(obj, retries, &m.Retries, func(text string) (int, error) {
			n, err := customresource.ParseNumber(text, -1, math.MaxInt32)
			if err != nil {
				err = errors.New("must be a whole number, at least -1")
			}
			return n, err
		}),
		customresource.ReadAnnotation(obj, strategy, &m.Strategy, func(text string) (release.Strategy, error) {
			return release.Strategy(text), check(release.Strategy(text))
		}))
}

// remediations returns what happens after failures of the release of obj.
func (r *Reconciler) remediations(obj metav1.Object) (install, upgrade Remediation, err error) {
	install, upgrade = r.installRemediation, r.upgradeRemediation
	err = errors.Join(
		install.override(obj, AnnotationInstallRetries, AnnotationInstallStrategy, func(s release.Strategy) error {
			if s == "" || release.CheckStrategies(s, "") != nil {
				return fmt.Errorf("must be %s or %s", release.StrategyUninstall, release.StrategyNone)
			}
			return nil
		}),
		upgrade.override(obj, AnnotationUpgradeRetries, AnnotationUpgradeStrategy, func(s release.Strategy) error {
			if s == "" || release.CheckStrategies("", s) != nil {
				return fmt.Errorf("must be %s, %s or %s", release.StrategyRollback, release.StrategyUninstall, release.StrategyNone)
			}
			return nil
		}))
	return install, upgrade, err
}

// remediationOptions are the options of the keys install and upgrade of an entry.
func remediationOptions(w watches.Watch) []Option {
	var options []Option
	read := func(given watches.Remediation, with func(Remediation) Option) {
		if given == (watches.Remediation{}) {
			return
		}
		m := Remediation{Strategy: release.Strategy(given.Strategy)}
		if given.Retries != nil {
			m.Retries = *given.Retries
		}
		options = append(options, with(m))
	}
	read(w.Install, WithInstallRemediation)
	read(w.Upgrade, WithUpgradeRemediation)
	return options
}
