package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// IsOwnVersion reports whether a version in the notation of setup-envtest selects the constant Version. It returns an error if it is not
// in that notation.
func IsOwnVersion(version string) (bool, error) {
	spec, err := parseVersion(version)
	return err == nil && spec.Matches(ownVersion()), err
}

// EnsureVersion is like Ensure, but returns no other version than the one of o, and does not use KUBEBUILDER_ASSETS.
func EnsureVersion(ctx context.Context, o EnsureOptions) (Assets, error) {
	o.KubebuilderAssets = ""
	spec, err := parseVersion(o.Version)
	if err != nil {
		return Assets{}, err
	}
	if spec.Matches(ownVersion()) {
		return EnsureBuilt(ctx, o)
	}
	o.NoBuild = true
	assets, err := Ensure(ctx, o)
	if ctx.Err() != nil || err == nil && matches(spec, assets.Version) {
		return assets, err
	}
	return Assets{}, fmt.Errorf("the control plane of Kubernetes %s is not installed and can't be downloaded; there is %s", o.Version, strings.Join(o.installed(ctx), ", "))
}

func matches(spec versions.Spec, version string) bool {
	found, err := versions.FromExpr(version)
	return err == nil && found.AsConcrete() != nil && spec.Matches(*found.AsConcrete())
}

// installed returns the versions in the stores and Operon's, which can be built, newest first.
func (o *EnsureOptions) installed(ctx context.Context) (names []string) {
	found := []versions.Concrete{ownVersion()}
	for _, dir := range o.StoreDirs {
		s := store.NewAt(dir)
		// A store that does not exist is an error.
		items, _ := s.List(logr.NewContext(ctx, logr.Discard()), store.Filter{Version: versions.AnyVersion, Platform: hostPlatform()})
		for _, item := range items {
			if path, err := s.Path(item); err == nil && len(missingParts(path, o.parts())) == 0 {
				found = append(found, item.Version)
			}
		}
	}
	slices.SortFunc(found, func(a, b versions.Concrete) int { return b.Compare(a) })
	for _, v := range slices.Compact(found) {
		names = append(names, v.String())
	}
	return names
}
