package release

import (
	"fmt"

	helmrelease "helm.sh/helm/v4/pkg/release"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
)

// A recordDriver stores revisions with rewritten manifests.
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
	return d.Driver.Create(key, revision)
}
