package release

import (
	"fmt"
	"strings"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	helmrelease "helm.sh/helm/v4/pkg/release"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A recordDriver stores revisions with rewritten manifests. If a record is too large for a Secret, it is stored without the
// templates and files of the chart, which neither an upgrade nor a rollback requires.
type recordDriver struct {
	driver.Driver
	rewriter *rewriter
}

// Create implements driver.Driver. It changes the revision, which the action stores again when it has been applied.
func (d recordDriver) Create(key string, release helmrelease.Releaser) error {
	revision, ok := release.(*releasev1.Release)
	if !ok {
		return fmt.Errorf("unsupported release type %T", release)
	}
	manifest, err := d.rewriter.apply(revision.Manifest)
	if err != nil {
		return err
	}
	revision.Manifest = manifest
	if err = d.Driver.Create(key, revision); !isTooLarge(err) || revision.Chart == nil {
		return err
	}
	chart := revision.Chart
	revision.Chart = &chartv2.Chart{Metadata: chart.Metadata, Lock: chart.Lock, Values: chart.Values}
	if err = d.Driver.Create(key, revision); isTooLarge(err) {
		return fmt.Errorf("the release is larger than a Secret can be (1 MiB, compressed); reduce its objects: %w", err)
	}
	return err
}

// isTooLarge reports whether an object exceeds the limits of Secrets, of requests or of etcd.
func isTooLarge(err error) bool {
	return err != nil && (apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsInvalid(err) && strings.Contains(err.Error(), "Too long") ||
		strings.Contains(err.Error(), "request is too large"))
}
