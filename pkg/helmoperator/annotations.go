package helmoperator

import (
	"errors"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/helmoperator/release"
)

const annotationPrefix = "helm.sdk.operatorframework.io/"

// The annotations of a custom resource that change how its release is handled. Their names are operator-sdk's.
const (
	// AnnotationUpgradeForce makes upgrades replace objects that cannot be patched, if it is "true".
	AnnotationUpgradeForce = annotationPrefix + "upgrade-force"
	// AnnotationRollbackForce makes the rollback after a failed upgrade replace objects, if it is "true". The default is "false",
	// unlike in operator-sdk.
	AnnotationRollbackForce = annotationPrefix + "rollback-force"
	// AnnotationUninstallWait keeps a deleted custom resource until no object of its release exists, if it is "true".
	AnnotationUninstallWait = annotationPrefix + "uninstall-wait"
	// AnnotationReconcilePeriod is the time between two passes without changes, such as "5m". It takes precedence over
	// WithReconcilePeriod.
	AnnotationReconcilePeriod = annotationPrefix + "reconcile-period"
	// AnnotationInstallRetries and AnnotationUpgradeRetries are how often a failed operation is tried again, -1 without limit. They
	// take precedence over WithInstallRemediation and WithUpgradeRemediation, and are Operon's.
	AnnotationInstallRetries = annotationPrefix + "install-retries"
	AnnotationUpgradeRetries = annotationPrefix + "upgrade-retries"
	// AnnotationInstallStrategy and AnnotationUpgradeStrategy are what happens after a failed operation: "uninstall", "none" or, for
	// upgrades, "rollback".
	AnnotationInstallStrategy = annotationPrefix + "install-strategy"
	AnnotationUpgradeStrategy = annotationPrefix + "upgrade-strategy"
	// AnnotationTimeout limits the wait for one hook of the chart, such as "1h"; "0" means no limit. It takes precedence over
	// WithTimeout. It does not exist in operator-sdk.
	AnnotationTimeout = annotationPrefix + "timeout"
	// AnnotationDriftDetection is "enabled", "warn" or "disabled". It takes precedence over the mode of WithDriftDetection.
	AnnotationDriftDetection = annotationPrefix + "drift-detection"
	// AnnotationTest says whether the chart's tests are run after installations and upgrades, "true" or "false". It takes precedence over
	// Tests.Enable.
	AnnotationTest = annotationPrefix + "test"
	// AnnotationPaused keeps the operator from changing anything while it is "true". It does not exist in operator-sdk.
	AnnotationPaused = annotationPrefix + "paused"
	// AnnotationReconcileRequestedAt requests a pass with each new value, such as a time. The pass tries a failed operation once more.
	// status.lastHandledReconcileAt is the last value for which there was a pass. It does not exist in operator-sdk.
	AnnotationReconcileRequestedAt = annotationPrefix + "reconcile-requested-at"
	// AnnotationOperator is written together with the finalizer. It names the operator that has taken over the resource, and its selector.
	AnnotationOperator = annotationPrefix + "operator"
	// AnnotationTargetNamespace is written before the installation for a cluster-scoped resource. It is the namespace of its release.
	AnnotationTargetNamespace = annotationPrefix + "target-namespace"
)

// The finalizers that uninstall a release before its custom resource is removed.
const (
	// Finalizer is added before the installation.
	Finalizer = annotationPrefix + "uninstall-release"
	// LegacyFinalizer comes from old versions of operator-sdk and from helm-operator-plugins. A resource that has it does not get
	// Finalizer. Both are removed after the removal of the release.
	LegacyFinalizer = "uninstall-helm-release"
)

func isFinalizer(name string) bool { return name == Finalizer || name == LegacyFinalizer }

// hasFinalizer reports whether obj is protected until its release is uninstalled.
func hasFinalizer(obj *unstructured.Unstructured) bool {
	return slices.ContainsFunc(obj.GetFinalizers(), isFinalizer)
}

// settings are the annotations of one custom resource, parsed.
type settings struct {
	upgradeForce, rollbackForce, uninstallWait bool
	period, timeout                            time.Duration
	drift                                      release.DriftMode
	test                                       bool
}

// readSettings parses the annotations of obj. Settings whose annotation is missing or invalid have their defaults; the error names all
// invalid ones.
func (r *Reconciler) readSettings(obj metav1.Object) (settings, error) {
	s := settings{period: r.kind.Period, timeout: r.timeout, drift: r.drift, test: r.tests.Enable}
	err := errors.Join(customresource.ReadBool(obj, AnnotationUpgradeForce, &s.upgradeForce),
		customresource.ReadBool(obj, AnnotationRollbackForce, &s.rollbackForce),
		customresource.ReadBool(obj, AnnotationUninstallWait, &s.uninstallWait),
		customresource.ReadPeriod(obj, AnnotationReconcilePeriod, &s.period),
		customresource.ReadPeriod(obj, AnnotationTimeout, &s.timeout),
		customresource.ReadBool(obj, AnnotationTest, &s.test),
		readDriftMode(obj, &s.drift))
	_, paused := customresource.IsPaused(obj, AnnotationPaused)
	return s, errors.Join(err, paused)
}
