package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/Masterminds/semver/v3"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/provenance"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// Package returns the archive of a chart as 'helm package' writes it. The same files and the same time give the same bytes.
func Package(_ context.Context, request helmchart.PackageRequest) (*helmchart.PackageAnswer, error) {
	loaded, err := loadChart(request.Files)
	if err != nil {
		return nil, err
	}
	if request.Version != "" {
		if _, err := semver.NewVersion(request.Version); err != nil {
			return nil, fmt.Errorf("--version %q: must be a semantic version (MAJOR.MINOR.PATCH)", request.Version)
		}
		loaded.Metadata.Version = request.Version
	}
	if request.AppVersion != "" {
		loaded.Metadata.AppVersion = request.AppVersion
	}
	loaded.StampModTimes(request.Time)
	temp, err := tempdir.New("", "operon-chart")
	if err != nil {
		return nil, err
	}
	defer func() { _ = temp.Remove() }()
	file, err := chartutil.Save(loaded, temp.Path)
	if err != nil {
		return nil, shorten(withoutPath(err))
	}
	answer := &helmchart.PackageAnswer{Name: filepath.Base(file)}
	if answer.Archive, err = os.ReadFile(file); err != nil {
		return nil, withoutPath(err)
	}
	if request.Sign != nil {
		if answer.Provenance, err = sign(loaded, answer, *request.Sign); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// sign returns the provenance file of an archive, which Helm verifies.
func sign(c *chart.Chart, made *helmchart.PackageAnswer, key helmchart.SigningKey) ([]byte, error) {
	signer, err := provenance.NewFromKeyring(key.Keyring, key.Name)
	if err != nil {
		return nil, fmt.Errorf("--keyring %s: %w", filepath.ToSlash(key.Keyring), shorten(withoutPath(err)))
	}
	switch {
	case signer.Entity == nil:
		return nil, fmt.Errorf("--key %q: --keyring %s has no key with that name", key.Name, filepath.ToSlash(key.Keyring))
	case signer.Entity.PrivateKey == nil:
		return nil, fmt.Errorf("--keyring %s: has no private key of %q; export it with 'gpg --export-secret-keys'", filepath.ToSlash(key.Keyring), key.Name)
	}
	passphrase := func(string) ([]byte, error) {
		if key.Passphrase == "" {
			return nil, errors.New("is encrypted; pass its passphrase with --passphrase-file")
		}
		return []byte(key.Passphrase), nil
	}
	if err := signer.DecryptKey(passphrase); err != nil {
		return nil, fmt.Errorf("--key %q: %w", key.Name, shorten(err))
	}
	data, err := yaml.Marshal(c.Metadata)
	if err != nil {
		return nil, err
	}
	text, err := signer.ClearSign(made.Archive, made.Name, data)
	if err != nil {
		return nil, fmt.Errorf("signing %s: %w", made.Name, shorten(err))
	}
	return []byte(text), nil
}

// Describe returns what 'helm push' stores in a registry besides the archive of a chart. Its time is the time of Chart.yaml in the archive:
// the same archive always gives the same manifest.
func Describe(_ context.Context, request helmchart.DescribeRequest) (*helmchart.DescribeAnswer, error) {
	files, err := readArchive(request.Archive, newBudget())
	if err != nil {
		return nil, err
	}
	if _, err := loadChart(files); err != nil { // with its limits
		return nil, err
	}
	loaded, err := loader.LoadArchive(bytes.NewReader(request.Archive))
	if err != nil {
		return nil, shorten(err)
	}
	answer := &helmchart.DescribeAnswer{Chart: metadata(loaded), Annotations: annotations(loaded)}
	if answer.Config, err = json.Marshal(loaded.Metadata); err != nil {
		return nil, err
	}
	return answer, nil
}

// annotations returns the annotations that Helm adds to the manifest of a chart in a registry: those in Chart.yaml, and standard ones.
func annotations(c *chart.Chart) map[string]string {
	m := c.Metadata
	set := map[string]string{}
	add := func(key, value string) {
		if strings.TrimSpace(value) != "" {
			set[key] = value
		}
	}
	add(ocispec.AnnotationDescription, m.Description)
	add(ocispec.AnnotationURL, m.Home)
	if !c.ModTime.IsZero() {
		add(ocispec.AnnotationCreated, c.ModTime.UTC().Format("2006-01-02T15:04:05Z"))
	}
	if len(m.Sources) > 0 {
		add(ocispec.AnnotationSource, m.Sources[0])
	}
	var authors []string
	for _, maintainer := range m.Maintainers {
		author := maintainer.Name
		if maintainer.Email != "" {
			author += " (" + maintainer.Email + ")"
		}
		authors = append(authors, author)
	}
	add(ocispec.AnnotationAuthors, strings.Join(authors, ", "))
	for key, value := range m.Annotations {
		set[key] = value
	}
	add(ocispec.AnnotationTitle, m.Name)
	add(ocispec.AnnotationVersion, m.Version)
	return set
}
