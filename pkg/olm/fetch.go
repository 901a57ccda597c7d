package olm

import (
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

// releases is where OLM is published.
const releases = "https://github.com/operator-framework/operator-lifecycle-manager/releases"

// Latest stands for the newest release that is published.
const Latest = "latest"

// mostManifest bounds what is read of a release's file; the CRDs of v0.46.0 have 1.2 MB.
const mostManifest = 32 << 20

// Canonical writes a version as OLM's releases do: v0.46.0, and 0.16.1 without the v before 0.17.
func Canonical(version string) (string, error) {
	if version == Latest {
		return version, nil
	}
	v := "v" + strings.TrimPrefix(version, "v")
	if !semver.IsValid(v) || semver.Canonical(v) != v {
		return "", errors.New("is no version like 0.46.0")
	}
	if semver.Compare(v, "v0.17.0") < 0 {
		return v[1:], nil
	}
	return v, nil
}

// sameVersion compares with and without the v.
func sameVersion(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }

// Older tells that version a came before b.
func Older(a, b string) bool {
	return semver.Compare("v"+strings.TrimPrefix(a, "v"), "v"+strings.TrimPrefix(b, "v")) < 0
}

// Get returns the release of a version as Canonical writes it: from the program, or over transport from where OLM is
// published. A downloaded release must have the checksums that are pinned, or known where pinned is nil; otherwise the
// error is a *ChecksumError. Releases without known checksums are not Pinned.
func Get(ctx context.Context, transport http.RoundTripper, version string, pinned *Checksums) (*Release, error) {
	if version == DefaultVersion {
		return Embedded()
	}
	r, err := fetch(ctx, transport, version, pinned)
	if _, ok := errors.AsType[*ChecksumError](err); ok {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("fetching OLM %s: %w; the objects of %s are part of this program and need no network", version, err, DefaultVersion)
	}
	return r, nil
}

func fetch(ctx context.Context, transport http.RoundTripper, version string, pinned *Checksums) (*Release, error) {
	base := releases + "/download/" + version
	if version == Latest {
		base = releases + "/latest/download"
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case r.URL.Scheme != "https":
			return fmt.Errorf("it leads to %s, which is not encrypted", r.URL.Redacted())
		case len(via) > 5:
			return errors.New("it leads from address to address")
		}
		return nil
	}}
	r := &Release{Version: version}
	crds, err := fetchFile(ctx, client, base+"/"+crdsFile)
	if err != nil {
		return nil, err
	}
	objects, err := fetchFile(ctx, client, base+"/"+olmFile)
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
	return r, r.verify(pinned) // once more, as check finds the version of the latest release
}

func fetchFile(ctx context.Context, client *http.Client, address string) ([]byte, error) {
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
		return nil, fmt.Errorf("there is no %s; see %s for the versions there are", address, releases)
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %s", address, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, mostManifest+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", address, err)
	}
	if len(text) > mostManifest {
		return nil, fmt.Errorf("%s has more than %d MB, which no release of OLM needs", address, mostManifest>>20)
	}
	return text, nil
}

// check holds that what was fetched is OLM, and fills in the version that it says it has.
func (r *Release) check() error {
	for _, crd := range r.CRDs {
		if crd.GetKind() != kube.CRDKind || !strings.HasSuffix(crd.GetName(), "."+Group) {
			return fmt.Errorf("crds.yaml holds the %s, which is no part of OLM", kube.FullName(crd))
		}
	}
	csv := r.find(CSVKind, packageServer)
	if csv == nil || r.find("Deployment", olmOperator) == nil || r.find("Deployment", catalogOperator) == nil || len(r.CRDs) == 0 {
		return errors.New("its files hold no olm-operator, catalog-operator and packageserver: this is no release of OLM")
	}
	if spec, ok := csv.Object["spec"].(map[string]any); ok {
		if version, ok := spec["version"].(string); ok {
			spec["version"] = strings.TrimPrefix(version, "v") // as OLM itself writes it when it looks at it first
		}
	}
	if r.Version == Latest {
		r.Version = versionOf(csv)
		if r.Version == "" {
			return errors.New("it does not say which version it is")
		}
	}
	return nil
}

// find gives the release's object of a kind and name, nil if it has none.
func (r *Release) find(kind, name string) *kube.Object {
	i := slices.IndexFunc(r.Objects, func(o *kube.Object) bool { return o.GetKind() == kind && o.GetName() == name })
	if i < 0 {
		return nil
	}
	return r.Objects[i]
}
