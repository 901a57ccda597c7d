package source

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/registry"
)

// A need is how much a chart needs the dependencies that are not in charts/.
type need int

const (
	// dependencyNeeded applies to the chart itself, and to unpacked charts that it refers to: Helm does not install without.
	dependencyNeeded need = iota
	// dependencyWanted applies to charts that were downloaded. Helm installs them as they are.
	dependencyWanted
	// dependencyLeft applies to charts that were in charts/.
	dependencyLeft
)

// addDependencies adds the dependencies of a chart that are missing in its charts/, at the versions in Chart.lock where it
// exists, and the dependencies of the dependencies.
func (f *fetcher) addDependencies(ctx context.Context, n *node, from fetched, needed need, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("more than %d nested dependencies", maxDepth)
	}
	dependencies, lock, err := dependenciesOf(n)
	if err != nil {
		return err
	}
	vendored := map[*node]string{}
	for dir, child := range n.children {
		vendored[child] = dir
	}
	var problems []error
	for _, dependency := range dependencies {
		if n.child(dependency) != nil {
			continue
		}
		err := f.addDependency(ctx, n, dependency, dependencies, lock, from, needed, depth)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && needed == dependencyNeeded:
			problems = append(problems, fmt.Errorf("dependency %s of %s: %w", dependency.Name, n.name, err))
		case err != nil:
			f.warn("dependency %s of %s: %v; Helm does not require it", dependency.Name, n.name, err)
		}
	}
	if len(problems) > 0 {
		return joined(problems)
	}
	for _, dir := range sortedKeys(n.children) {
		if child := n.children[dir]; vendored[child] == dir {
			below := from
			if from.dir != "" {
				below.dir = filepath.Join(from.dir, "charts", dir)
			}
			if err := f.addDependencies(ctx, child, below, dependencyLeft, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// joined returns one error for the problems of several dependencies.
func joined(problems []error) error {
	if len(problems) == 1 {
		return problems[0]
	}
	texts := make([]string, len(problems))
	for i, problem := range problems {
		texts[i] = problem.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

// dependenciesOf returns the dependencies in Chart.yaml or requirements.yaml, and the lock.
func dependenciesOf(n *node) ([]*chart.Dependency, *chart.Lock, error) {
	var own []*archive.BufferedFile
	for _, name := range []string{chartFile, "requirements.yaml", "Chart.lock", "requirements.lock"} {
		if data, ok := n.files[name]; ok {
			own = append(own, &archive.BufferedFile{Name: name, Data: data})
		}
	}
	loaded, err := loader.LoadFiles(own)
	if err != nil {
		return nil, nil, fmt.Errorf("chart %s: %w", n.name, shorten(err))
	}
	return loaded.Metadata.Dependencies, loaded.Lock, nil
}

// child returns the chart in charts/ for a dependency, or nil.
func (n *node) child(d *chart.Dependency) *node {
	for _, dir := range sortedKeys(n.children) {
		if child := n.children[dir]; child.name == d.Name && compatible(d.Version, child.version) {
			return child
		}
	}
	return nil
}

// compatible reports whether a version satisfies a dependency, whose version can be missing.
func compatible(constraint, version string) bool {
	return constraint == "" || chartutil.IsCompatibleRange(constraint, version)
}

// otherVersion returns the version of the chart in charts/ with the name of a dependency, or "".
func (n *node) otherVersion(name string) string {
	for _, dir := range sortedKeys(n.children) {
		if n.children[dir].name == name {
			return n.children[dir].version
		}
	}
	return ""
}

// addDependency fetches a dependency with its own dependencies.
func (f *fetcher) addDependency(
	ctx context.Context, n *node, d *chart.Dependency, all []*chart.Dependency, lock *chart.Lock, from fetched, needed need, depth int,
) error {
	if d.Name == "" || !chartName.MatchString(d.Name) {
		return fmt.Errorf("name %q is not valid", d.Name)
	}
	if other := n.otherVersion(d.Name); other != "" && d.Repository == "" { // Helm installs it, but not under an alias
		f.warn("dependency %s of %s: version %q is required, but charts/ has %s", d.Name, n.name, d.Version, other)
		return nil
	}
	if needed == dependencyLeft {
		return fmt.Errorf("version %q is not in charts/", d.Version)
	}
	version, err := lockedVersion(d, lock)
	if err != nil {
		return err
	}
	found, err := f.fetchDependency(ctx, d, version, from)
	if errors.Is(err, errOffline) {
		return fmt.Errorf("version %q is not in charts/: %w", d.Version, err)
	}
	if err != nil {
		return err
	}
	child, err := newNode(found.files, f.budget, depth+1)
	if err != nil {
		return err
	}
	if child.name != d.Name || !compatible(d.Version, child.version) {
		return fmt.Errorf("%s has chart %s %s instead of version %q", displayed(d.Repository), child.name, child.version, d.Version)
	}
	next := dependencyWanted
	if found.dir != "" {
		next = dependencyNeeded
	}
	if err := f.addDependencies(ctx, child, *found, next, depth+1); err != nil {
		return err
	}
	n.removeUnused(d.Name, all)
	n.add(child)
	return nil
}

// removeUnused removes the versions of a chart in charts/ that no dependency refers to.
func (n *node) removeUnused(name string, all []*chart.Dependency) {
	for dir, child := range n.children {
		if child.name != name {
			continue
		}
		used := false
		for _, d := range all {
			used = used || d.Name == name && compatible(d.Version, child.version)
		}
		if !used {
			delete(n.children, dir)
		}
	}
}

// lockedVersion returns the version of a dependency to fetch: the locked one, or the constraint without a lock.
func lockedVersion(d *chart.Dependency, lock *chart.Lock) (string, error) {
	if _, err := parseConstraint(d.Version); err != nil {
		return "", err
	}
	if lock == nil {
		return d.Version, nil
	}
	locked := ""
	for _, entry := range lock.Dependencies {
		if entry != nil && entry.Name == d.Name {
			if compatible(d.Version, entry.Version) {
				return entry.Version, nil
			}
			locked = entry.Version
		}
	}
	if locked == "" {
		return "", errors.New("it is not in the lock file (Chart.lock); update the lock file with 'helm dependency update', or remove it")
	}
	return "", fmt.Errorf("the lock file (Chart.lock) has version %s, but Chart.yaml requires %q; update the lock file with 'helm dependency update', or remove it", locked, d.Version)
}

func (f *fetcher) fetchDependency(ctx context.Context, d *chart.Dependency, version string, from fetched) (*fetched, error) {
	switch repository := d.Repository; {
	case repository == "":
		return nil, fmt.Errorf("version %q is not in charts/, and the dependency has no repository", d.Version)
	case strings.HasPrefix(repository, "file://"):
		return f.fromNeighbor(strings.TrimPrefix(repository, "file://"), from)
	case registry.IsOCI(repository):
		return f.fromRegistry(ctx, strings.TrimSuffix(repository, "/")+"/"+d.Name, version)
	case strings.HasPrefix(repository, "@"), strings.HasPrefix(repository, "alias:"):
		e, err := f.namedEntry(strings.TrimPrefix(strings.TrimPrefix(repository, "@"), "alias:"))
		if err != nil {
			return nil, err
		}
		return f.fromRepository(ctx, e, d.Name, version)
	default:
		if !strings.Contains(repository, "://") {
			return nil, fmt.Errorf("repository %q must be a URL, @NAME, or file:// with a directory", repository)
		}
		e, err := f.entryOf(repository, from.dir != "")
		if err != nil {
			return nil, err
		}
		return f.fromRepository(ctx, e, d.Name, version)
	}
}

// fromNeighbor reads a chart from a directory relative to the chart that refers to it. Only charts of the user can refer to
// directories of this machine.
func (f *fetcher) fromNeighbor(name string, from fetched) (*fetched, error) {
	if from.dir == "" {
		return nil, fmt.Errorf("repository file://%s: the chart is not an unpacked one of this machine; package it with its dependencies", name)
	}
	dir := filepath.FromSlash(name)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(from.dir, dir)
	}
	found, err := f.fromDirectory(dir)
	if err != nil {
		return nil, fmt.Errorf("repository file://%s: %w", name, withoutDirectory(err, dir))
	}
	return found, nil
}

// withoutDirectory removes the directory at the start of an error, whose context has it as the user wrote it.
func withoutDirectory(err error, dir string) error {
	return errors.New(strings.TrimPrefix(err.Error(), dir+": "))
}
