package bundles

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// maxManifest is the maximum size of a manifest in bytes, far above the limit for objects in a cluster.
const maxManifest = 16 << 20

// A packageReader reads the directories of a package in the package manifest format.
type packageReader struct {
	*action.Config
	notes    diag.Findings
	problems diag.Findings
}

func (r *packageReader) skip(name, reason string) {
	r.notes = append(r.notes, diag.Finding{Object: name, Problem: reason, Severity: diag.Warning})
}

// list returns the content of a directory, sorted by name.
func (r *packageReader) list(dir string) ([]fs.FileInfo, error) {
	entries, err := afero.ReadDir(r.FS, r.Absolute(dir))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, diag.Cause(err))
	}
	return entries, nil
}

// read reads the package in a directory, or in its only subdirectory with a package.
func (r *packageReader) read(dir string) (*bundle.Package, []bundle.PackageVersion, error) {
	given := dir
	dir = path.Clean(filepath.ToSlash(dir))
	if info, err := r.FS.Stat(r.Absolute(dir)); err != nil || !info.IsDir() {
		problem := "is not a directory"
		if errors.Is(err, fs.ErrNotExist) {
			problem = "no such file or directory"
		}
		return nil, nil, diag.Findings{{Field: "DIR", Value: given, Problem: problem + "; pass the directory of the package manifests"}}
	}
	entries, err := r.list(dir)
	if err != nil {
		return nil, nil, err
	}
	found := packageFiles(dir, entries)
	if len(found) == 0 {
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			below, err := r.list(path.Join(dir, e.Name()))
			if err != nil {
				return nil, nil, err
			}
			found = append(found, packageFiles(path.Join(dir, e.Name()), below)...)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil, diag.Findings{{Position: diag.Position{File: dir}, Problem: "has no package manifest; there must be a file PACKAGE.package.yaml beside the directories of the versions"}}
	case 1:
	default:
		return nil, nil, diag.Findings{{Position: diag.Position{File: dir}, Problem: fmt.Sprintf("has %d package manifests (%s); convert one package at a time", len(found), strings.Join(found, ", "))}}
	}
	data, err := safeyaml.ReadFile(r.FS, r.Absolute(found[0]), safeyaml.MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", found[0], diag.Cause(err))
	}
	pkg, problems := bundle.ParsePackage(found[0], data)
	versions, err := r.versions(path.Dir(found[0]), found[0])
	if err != nil {
		return nil, nil, err
	}
	if len(problems) > 0 {
		// Report the problems of the versions, too.
		problems = append(problems, r.problems...)
		if _, _, err := bundle.Convert(bundle.NewPackage(""), versions, ""); err != nil {
			more, _ := err.(diag.Findings)
			for _, p := range more {
				if p.File != "" {
					problems = append(problems, p)
				}
			}
		}
		return nil, nil, problems
	}
	if len(versions) == 0 && len(r.problems) == 0 {
		return nil, nil, diag.Findings{{Position: diag.Position{File: path.Dir(found[0])}, Problem: "has no directory of a version beside the package manifest"}}
	}
	return pkg, versions, nil
}

// packageFiles returns the package manifests among the files of a directory.
func packageFiles(dir string, entries []fs.FileInfo) []string {
	var names []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && (strings.HasSuffix(name, ".package.yaml") || strings.HasSuffix(name, ".package.yml") || name == "package.yaml") {
			names = append(names, path.Join(dir, name))
		}
	}
	return names
}

// versions reads the directories of the versions.
func (r *packageReader) versions(dir, packageFile string) ([]bundle.PackageVersion, error) {
	entries, err := r.list(dir)
	if err != nil {
		return nil, err
	}
	var versions []bundle.PackageVersion
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case name == packageFile:
		case strings.HasPrefix(e.Name(), "."):
			r.skip(name, "is hidden and was not read")
		case !e.IsDir():
			r.skip(name, "is beside the directories of the versions and was not read")
		default:
			version := bundle.PackageVersion{Dir: name, Files: map[string][]byte{}}
			if err := r.version(version); err != nil {
				return nil, err
			}
			versions = append(versions, version)
		}
	}
	return versions, nil
}

func (r *packageReader) version(v bundle.PackageVersion) error {
	entries, err := r.list(v.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(v.Dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
			r.skip(name, "is hidden and is not in the bundle")
		case e.IsDir():
			r.problems.Addf(diag.Position{File: name}, "is a directory, and OLM does not read directories below the manifests; move its files to %s", v.Dir)
		case !e.Mode().IsRegular():
			r.problems.Addf(diag.Position{File: name}, "is not a regular file; replace it by the file itself, or delete it")
		case e.Size() > maxManifest:
			r.problems.Addf(diag.Position{File: name}, "has %d bytes, more than a cluster accepts; delete it if it is not a manifest", e.Size())
		default:
			if v.Files[e.Name()], err = safeyaml.ReadFile(r.FS, r.Absolute(name), maxManifest); err != nil {
				return fmt.Errorf("reading %s: %w", name, diag.Cause(err))
			}
		}
	}
	return nil
}
