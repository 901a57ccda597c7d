package scaffold

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/operon-sdk/operon/pkg/project"
)

// otherModuleError reports a go.mod with a module path other than the project's.
type otherModuleError struct{ ours, theirs string }

func (e *otherModuleError) Error() string {
	if e.ours == "" {
		return fmt.Sprintf("has no module line, the project would be %s", e.theirs)
	}
	return fmt.Sprintf("is module %s, the project would be %s", e.ours, e.theirs)
}

// mergeRequirements raises the requirements and the go directive of ours to theirs where they are lower. Other
// requirements, replacements and comments are kept.
func mergeRequirements(ours, theirs []byte) ([]byte, error) {
	file, err := modfile.Parse(goModFile, ours, nil)
	if err != nil {
		return nil, project.GoModFinding(err, "correct the file, or remove it")
	}
	scaffold, err := modfile.Parse(goModFile, theirs, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the scaffold's go.mod: %w", err)
	}
	if file.Module == nil || file.Module.Mod.Path != scaffold.Module.Mod.Path {
		other := &otherModuleError{theirs: scaffold.Module.Mod.Path}
		if file.Module != nil {
			other.ours = file.Module.Mod.Path
		}
		return nil, other
	}
	if file.Go == nil || semver.Compare(goSemver(file.Go.Version), goSemver(scaffold.Go.Version)) < 0 {
		if err := file.AddGoStmt(scaffold.Go.Version); err != nil {
			return nil, fmt.Errorf("raising the go version of go.mod: %w", err)
		}
	}
	required := map[string]*modfile.Require{}
	for _, r := range file.Require {
		required[r.Mod.Path] = r
	}
	bumpStaging(file, scaffold)
	all := append([]*modfile.Require(nil), file.Require...)
	for _, r := range scaffold.Require {
		old, ok := required[r.Mod.Path]
		switch {
		case !ok:
			all = append(all, r)
		case semver.Compare(old.Mod.Version, r.Mod.Version) < 0:
			old.Mod.Version = r.Mod.Version
		}
	}
	file.SetRequireSeparateIndirect(all)
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		return nil, fmt.Errorf("formatting go.mod: %w", err)
	}
	return out, nil
}

// bumpStaging updates the modules of Kubernetes that have the same minor version as k8s.io/api to the version of
// theirs, because they are released together and do not compile in different versions.
func bumpStaging(ours, theirs *modfile.File) {
	const api = "k8s.io/api"
	old, current := versions(ours)[api], versions(theirs)[api]
	if semver.Compare(old, current) >= 0 {
		return
	}
	for _, r := range ours.Require {
		if strings.HasPrefix(r.Mod.Path, "k8s.io/") && semver.MajorMinor(r.Mod.Version) == semver.MajorMinor(old) && semver.Compare(r.Mod.Version, current) < 0 {
			r.Mod.Version = current
		}
	}
}

// goSemver converts the version of a go directive (1.26, 1.26.0, 1.26rc1) to a semantic version.
func goSemver(v string) string {
	for _, pre := range []string{"rc", "beta"} {
		if base, n, ok := strings.Cut(v, pre); ok {
			return "v" + base + ".0-" + pre + "." + n
		}
	}
	return "v" + v
}

// mergeSums returns the union of the lines of two go.sum files, in the order of the go command.
func mergeSums(ours, theirs []byte) []byte {
	var lines []string
	for line := range strings.Lines(string(ours) + "\n" + string(theirs)) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line+"\n")
		}
	}
	slices.SortFunc(lines, func(x, y string) int {
		a, b := sumVersion(x), sumVersion(y)
		if a == b {
			return strings.Compare(x, y)
		}
		pair := []module.Version{b, a}
		if module.Sort(pair); pair[0] == a {
			return -1
		}
		return 1
	})
	return []byte(strings.Join(slices.Compact(lines), ""))
}

// sumVersion returns the module version of a line of go.sum.
func sumVersion(line string) module.Version {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return module.Version{Path: line}
	}
	return module.Version{Path: fields[0], Version: fields[1]}
}
