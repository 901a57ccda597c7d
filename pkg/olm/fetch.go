package olm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/kube"
)

// releases is the URL of OLM's releases.
const releases = "https://github.com/operator-framework/operator-lifecycle-manager/releases"

// Latest is the version of the newest published release.
const Latest = "latest"

// maxManifestSize limits the size of a release's file in bytes; the CRDs of v0.46.0 have 1.2 MB.
const maxManifestSize = 32 << 20

// Canonical returns a version as OLM's releases spell it: v0.46.0, but 0.16.1 before v0.17.
func Canonical(version string) (string, error) {
	if version == Latest {
		return version, nil
	}
	v := "v" + strings.TrimPrefix(version, "v")
	if !semver.IsValid(v) || semver.Canonical(v) != v {
		return "", errors.New("must be a version such as 0.46.0")
	}
	if semver.Compare(v, "v0.17.0") < 0 {
		return v[1:], nil
	}
	return v, nil
}

// sameVersion reports whether versions are equal, with or without v.
func sameVersion(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }

// Older reports whether version a precedes b, with or without v.
func Older(a, b string) bool {
	return semver.Compare("v"+strings.TrimPrefix(a, "v"), "v"+strings.TrimPrefix(b, "v")) < 0
}

// Fetch returns the release of a version as Canonical spells it. DefaultVersion is part of the program; others are downloaded
// through transport and verified with the pinned checksums, or with published ones if pinned is nil. The error is a
// *checksumError if they differ. Releases without known checksums are not Pinned.
func Fetch(ctx context.Context, transport http.RoundTripper, version string, pinned *Checksums) (*Release, error) {
	if version == DefaultVersion {
		return Embedded()
	}
	r, err := download(ctx, transport, version, pinned)
	if _, ok := errors.AsType[*checksumError](err); ok {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("fetching OLM %s: %w; the objects of %s are part of this program and need no network", version, err, DefaultVersion)
	}
	return r, nil
}

// FetchInstalled returns the release of an installed version or, if that is unknown, of the expected one, which may be empty. It is
// customized for the installation. progress receives why another release is returned.
func FetchInstalled(ctx context.Context, transport http.RoundTripper, found *Installation, expected string, progress func(string)) (*Release, error) {
	version := cmp.Or(found.Version, expected, DefaultVersion)
	if found.Version == "" && expected == "" {
		progress(fmt.Sprintf("the installed version is unknown: comparing with %s; --version selects another one", version))
	}
	release, err := Fetch(ctx, transport, version, nil)
	if err != nil && version != DefaultVersion && ctx.Err() == nil {
		progress(fmt.Sprintf("%v\ncomparing with the objects of %s instead, without their fields", err, DefaultVersion))
		if release, err = Embedded(); err == nil {
			release = release.namesOnlyRelease()
		}
	}
	if err != nil {
		return nil, err
	}
	release.Customize(Settings{Namespace: found.Namespace})
	return release, nil
}

func download(ctx context.Context, transport http.RoundTripper, version string, pinned *Checksums) (*Release, error) {
	base := releases + "/download/" + version
	if version == Latest {
		base = releases + "/latest/download"
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case r.URL.Scheme != "https":
			return fmt.Errorf("redirects to the non-HTTPS URL %s", r.URL.Redacted())
		case len(via) > 5:
			return errors.New("too many redirects")
		}
		return nil
	}}
	r := &Release{Version: version}
	crds, err := downloadFile(ctx, client, base+"/"+crdsFile)
	if err != nil {
		return nil, err
	}
	objects, err := downloadFile(ctx, client, base+"/"+olmFile)
	if err != nil {
		return nil, err
	}
	r.Checksums = &Checksums{CRDs: fmt.Sprintf("%x", sha256.Sum256(crds)), OLM: fmt.Sprintf("%x", sha256.Sum256(objects))}
	if err := r.verify(pinned); err != nil {
		return nil, err
	}
	if r.CRDs, err = kube.Decode(crds); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", base, crdsFile, err)
	}
	if r.Objects, err = kube.Decode(objects); err != nil {
		return nil, fmt.Errorf("%s/%s: %w", base, olmFile, err)
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	return r, r.verify(pinned) // again, as check sets the version of the latest release
}

func downloadFile(ctx context.Context, client *http.Client, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s not found; see %s for the available versions", address, releases)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s returned %s", address, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxManifestSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	if len(text) > maxManifestSize {
		return nil, fmt.Errorf("%s is larger than %d MB, the limit for a file of OLM", address, maxManifestSize>>20)
	}
	return text, nil
}

// check verifies that the files belong to OLM, and sets the version of the latest release.
func (r *Release) check() error {
	for _, crd := range r.CRDs {
		if crd.GetKind() != kube.CRDKind || !strings.HasSuffix(crd.GetName(), "."+Group) {
			return fmt.Errorf("crds.yaml contains the %s, which is not part of OLM", kube.FullName(crd))
		}
	}
	csv := r.object(CSVKind, packageServer)
	if csv == nil || r.object("Deployment", olmOperator) == nil || r.object("Deployment", catalogOperator) == nil || len(r.CRDs) == 0 {
		return errors.New("not a release of OLM: its files must contain olm-operator, catalog-operator, packageserver and CRDs")
	}
	if spec, ok := csv.Object["spec"].(map[string]any); ok {
		if version, ok := spec["version"].(string); ok {
			spec["version"] = strings.TrimPrefix(version, "v") // as OLM writes it
		}
	}
	if r.Version == Latest {
		r.Version = versionOf(csv)
		if r.Version == "" {
			return errors.New("the files of the release do not contain its version")
		}
	}
	return nil
}

// object returns the object of a kind and name; nil if the release has none.
func (r *Release) object(kind, name string) *kube.Object {
	i := slices.IndexFunc(r.Objects, func(o *kube.Object) bool { return o.GetKind() == kind && o.GetName() == name })
	if i < 0 {
		return nil
	}
	return r.Objects[i]
}
