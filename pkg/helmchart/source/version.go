package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// maxNamed is the number of versions that an error lists.
const maxNamed = 5

// selectVersion returns the newest of the available versions that matches a version or a constraint; an empty one is matched
// by all versions that are not pre-releases. Other texts than versions are ignored.
func selectVersion(available []string, want string) (string, error) {
	if want != "" && slices.Contains(available, want) {
		return want, nil
	}
	versions := parseVersions(available)
	if exact, err := semver.StrictNewVersion(strings.TrimPrefix(want, "v")); err == nil {
		for _, v := range versions {
			if v.Equal(exact) && (exact.Metadata() == "" || v.Metadata() == exact.Metadata()) {
				return v.Original(), nil
			}
		}
		return "", fmt.Errorf("version %s not found; the nearest are %s", want, nearest(versions, exact))
	}
	constraint, err := parseConstraint(want)
	if err != nil {
		return "", err
	}
	for _, v := range versions {
		if constraint.Check(v) {
			return v.Original(), nil
		}
	}
	if want == "" {
		return "", fmt.Errorf("there is no release; pass one of the pre-releases %s", newest(versions))
	}
	return "", fmt.Errorf("no version matches %q; the newest are %s", want, newest(versions))
}

// parseConstraint parses a constraint. An empty one is matched by all releases.
func parseConstraint(want string) (*semver.Constraints, error) {
	if want == "" {
		want = "*"
	}
	constraint, err := semver.NewConstraint(want)
	if err != nil {
		return nil, fmt.Errorf("version %q must be a semantic version or a constraint, such as 1.2.3, ~1.2 or >=1.2 <2", want)
	}
	return constraint, nil
}

func versionMatches(want, version string) bool {
	_, err := selectVersion([]string{version}, want)
	return err == nil
}

// parseVersions returns the versions among texts, newest first.
func parseVersions(texts []string) []*semver.Version {
	var versions []*semver.Version
	for _, text := range texts {
		if v, err := semver.NewVersion(text); err == nil {
			versions = append(versions, v)
		}
	}
	slices.SortStableFunc(versions, func(a, b *semver.Version) int { return b.Compare(a) })
	return versions
}

// newest lists the newest versions for a message.
func newest(versions []*semver.Version) string {
	var names []string
	for _, v := range versions[:min(len(versions), maxNamed)] {
		names = append(names, v.Original())
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// nearest lists the versions around one that does not exist, for a message.
func nearest(versions []*semver.Version, want *semver.Version) string {
	at, _ := slices.BinarySearchFunc(versions, want, func(v, want *semver.Version) int { return want.Compare(v) })
	from := max(0, min(at-maxNamed/2, len(versions)-maxNamed))
	return newest(versions[from:])
}
