package source

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/downloader"
	"helm.sh/helm/v4/pkg/helmpath"
	"helm.sh/helm/v4/pkg/registry"
	"helm.sh/helm/v4/pkg/repo/v1"

	"github.com/operon-sdk/operon/pkg/tempdir"
)

// An entry is a repository with its credentials and TLS configuration. The ones that are not in repositories.yaml have no name.
type entry struct{ repo.Entry }

// label returns the name of a repository, or its URL.
func (e *entry) label() string {
	if e.Name != "" {
		return e.Name
	}
	return displayed(e.URL)
}

func (f *fetcher) repositories() ([]*entry, error) {
	if f.entries != nil {
		return f.entries, nil
	}
	file, err := repo.LoadFile(f.settings.RepositoryConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", f.settings.RepositoryConfig, shorten(withoutPath(err)))
	}
	f.entries = []*entry{}
	if err == nil {
		for _, known := range file.Repositories {
			if known != nil {
				f.entries = append(f.entries, &entry{*known})
			}
		}
	}
	return f.entries, nil
}

func (f *fetcher) namedEntry(name string) (*entry, error) {
	entries, err := f.repositories()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("repository %q not found, as none is configured; add it with 'helm repo add %[1]s URL'", name)
	}
	return nil, fmt.Errorf("repository %q not found; use one of %s, or add it with 'helm repo add %[1]s URL'", name, strings.Join(names, ", "))
}

// entryOf returns the repository with a URL: the user's, or one without credentials. A URL without TLS that the user
// has not written is an error.
func (f *fetcher) entryOf(repository string, byUser bool) (*entry, error) {
	u, err := parseURL(repository)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%s: unsupported scheme %q; use https, http or oci", displayed(repository), u.Scheme)
	}
	entries, err := f.repositories()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if known, err := url.Parse(e.URL); err == nil && sameHost(known, u) && u.User == nil &&
			strings.TrimSuffix(known.Path, "/") == strings.TrimSuffix(u.Path, "/") {
			return e, nil
		}
	}
	if u.Scheme == "http" && !byUser {
		return nil, fmt.Errorf("%s: the repository is without TLS, and the chart that refers to it is an archive; add it with 'helm repo add' to trust it", displayed(repository))
	}
	return &entry{repo.Entry{URL: repository}}, nil
}

// An index is the list of charts in a repository.
type index struct{ *repo.IndexFile }

// fromRepository fetches a chart from a repository. An exact version that the user's cached index has needs no download of
// the index.
func (f *fetcher) fromRepository(ctx context.Context, e *entry, name, version string) (*fetched, error) {
	cached, cacheErr := f.cachedIndex(e)
	if cacheErr == nil && isExact(version) {
		if found, err := cached.find(name, version); err == nil {
			return f.fromIndex(ctx, e, found)
		}
	}
	current, err := f.downloadIndex(ctx, e)
	if err != nil && cacheErr == nil && ctx.Err() == nil {
		if !f.offline {
			f.warn("repository %s: %v; the index in Helm's cache was used", e.label(), err)
		}
		current, err = cached, nil
	}
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", name, err)
	}
	found, err := current.find(name, version)
	if err != nil {
		return nil, fmt.Errorf("chart %s in repository %s: %w", name, e.label(), err)
	}
	return f.fromIndex(ctx, e, found)
}

func (f *fetcher) cachedIndex(e *entry) (*index, error) {
	if e.Name == "" || filepath.Base(e.Name) != e.Name {
		return nil, fs.ErrNotExist
	}
	file, err := repo.LoadIndexFile(filepath.Join(f.settings.RepositoryCache, helmpath.CacheIndexFile(e.Name)))
	if err != nil {
		return nil, err
	}
	return &index{file}, nil
}

// downloadIndex downloads the index of a repository once.
func (f *fetcher) downloadIndex(ctx context.Context, e *entry) (*index, error) {
	if known, ok := f.indexes[e.URL]; ok {
		return known, nil
	}
	base, err := parseURL(e.URL)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", e.label(), err)
	}
	address := base.JoinPath("index.yaml")
	data, err := f.download(ctx, e, address)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %w", e.label(), err)
	}
	if len(data) > maxIndex {
		return nil, fmt.Errorf("repository %s: %s: larger than %d MiB", e.label(), displayed(address.String()), maxIndex>>20)
	}
	file, err := f.temporary("index.yaml", data)
	if err != nil {
		return nil, err
	}
	loaded, err := repo.LoadIndexFile(file)
	if err != nil {
		return nil, fmt.Errorf("repository %s: %s: not the index of a repository: %w", e.label(), displayed(address.String()), withoutName(err, file))
	}
	f.indexes[e.URL] = &index{loaded}
	return f.indexes[e.URL], nil
}

// temporary writes a file that Helm's library reads.
func (f *fetcher) temporary(name string, data []byte) (string, error) {
	if f.temp == nil {
		temp, err := tempdir.New("", "operon-chart")
		if err != nil {
			return "", err
		}
		f.temp = temp
	}
	file := filepath.Join(f.temp.Path, name)
	return file, os.WriteFile(file, data, 0o600)
}

// withoutName removes the path of a temporary file from an error.
func withoutName(err error, file string) error {
	return errors.New(oneLine(strings.ReplaceAll(err.Error(), file, filepath.Base(file))))
}

// find returns the version of a chart to use.
func (x *index) find(name, version string) (*repo.ChartVersion, error) {
	versions := x.Entries[name]
	if len(versions) == 0 {
		return nil, fmt.Errorf("chart not found%s", similarNames(name, sortedKeys(x.Entries)))
	}
	var available []string
	for _, v := range versions {
		if len(v.URLs) > 0 && !v.Removed {
			available = append(available, v.Version)
		}
	}
	selected, err := selectVersion(available, version)
	if err != nil {
		return nil, err
	}
	return versions[slices.IndexFunc(versions, func(v *repo.ChartVersion) bool { return v.Version == selected && len(v.URLs) > 0 })], nil
}

// similarNames lists names that contain a name or are contained in it, for a message.
func similarNames(name string, names []string) string {
	names = slices.DeleteFunc(names, func(other string) bool {
		return !strings.Contains(other, name) && (len(other) < 3 || !strings.Contains(name, other))
	})
	if len(names) == 0 {
		return ""
	}
	return "; similar names are " + strings.Join(names[:min(len(names), maxNamed)], ", ")
}

// fromIndex fetches a version of a chart from a repository, or from Helm's caches.
func (f *fetcher) fromIndex(ctx context.Context, e *entry, found *repo.ChartVersion) (*fetched, error) {
	label := found.Name + " " + found.Version
	if registry.IsOCI(found.URLs[0]) { // some repositories refer to registries
		return f.fromRegistry(ctx, found.URLs[0], "")
	}
	resolved, err := repo.ResolveReferenceURL(e.URL, found.URLs[0])
	if err != nil {
		return nil, fmt.Errorf("chart %s: %s: not a valid URL", label, displayed(found.URLs[0]))
	}
	u, err := parseURL(resolved)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", label, err)
	}
	digest := strings.TrimPrefix(found.Digest, "sha256:")
	if data, ok := f.cachedArchive(digest, path.Base(u.Path)); ok {
		return f.fromArchive(data)
	}
	if base, err := url.Parse(e.URL); err == nil && base.Scheme == "https" && u.Scheme == "http" {
		return nil, fmt.Errorf("chart %s: the index of repository %s refers to a URL without TLS: %s", label, e.label(), displayed(resolved))
	}
	data, err := f.download(ctx, e, u)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %w", label, err)
	}
	if actual := strings.TrimPrefix(archiveDigest(data), "sha256:"); digest != "" && !strings.EqualFold(actual, digest) {
		return nil, fmt.Errorf("chart %s: %s: the archive has digest sha256:%s, but the index of the repository has sha256:%s", label, displayed(resolved), actual, digest)
	}
	chart, err := f.fromArchive(data)
	if err != nil {
		return nil, fmt.Errorf("chart %s: %s: %w", label, displayed(resolved), err)
	}
	return chart, nil
}

// cachedArchive returns an archive with a digest from the caches of Helm 4 and Helm 3.
func (f *fetcher) cachedArchive(digest, name string) ([]byte, bool) {
	var key [32]byte
	if n, err := hex.Decode(key[:], []byte(digest)); err != nil || n != len(key) || len(digest) != 2*len(key) {
		return nil, false
	}
	files := []string{filepath.Join(f.settings.RepositoryCache, filepath.Base(name))}
	cache := downloader.DiskCache{Root: f.settings.ContentCache}
	if file, err := cache.Get(key, downloader.CacheChart); err == nil {
		files = append(files, file)
	}
	for _, name := range files {
		if file, err := os.Open(name); err == nil {
			data, err := readLimited(file)
			_ = file.Close()
			if err == nil && strings.EqualFold(archiveDigest(data), "sha256:"+digest) {
				return data, true
			}
		}
	}
	return nil, false
}

// fromURL downloads a chart archive. The credentials come from the URL, or from the user's repository that has it.
func (f *fetcher) fromURL(ctx context.Context, raw string) (*fetched, error) {
	u, err := parseURL(raw)
	if err != nil {
		return nil, err
	}
	if f.offline {
		return nil, fmt.Errorf("%s: %w", displayed(raw), errOffline)
	}
	entries, err := f.repositories()
	if err != nil {
		return nil, err
	}
	var owner *entry
	for _, e := range entries {
		if base, err := url.Parse(e.URL); err == nil && isBelow(u, base) && (owner == nil || len(e.URL) > len(owner.URL)) {
			owner = e
		}
	}
	if owner == nil {
		owner = f.listing(entries, raw)
	}
	if u.RawQuery != "" {
		f.warn("the query of %s is not recorded, as it can be secret; updates of the chart need the URL again", displayed(raw))
	}
	data, err := f.download(ctx, owner, u)
	if err != nil {
		return nil, err
	}
	return f.fromArchive(data)
}

// listing returns the repository of the user whose cached index lists a URL, or nil.
func (f *fetcher) listing(entries []*entry, raw string) *entry {
	for _, e := range entries {
		cached, err := f.cachedIndex(e)
		if err != nil {
			continue
		}
		for _, versions := range cached.Entries {
			for _, v := range versions {
				if slices.Contains(v.URLs, raw) {
					return e
				}
			}
		}
	}
	return nil
}
