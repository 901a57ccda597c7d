package migrate

import (
	"bytes"
	_ "embed" // the lines that create commands write
	"maps"
	"math/big"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

// fingerprints_created.txt contains the lines of the files that the create commands of releases write or change, in the form of
// fingerprints.txt: as hashes, without the names of the project. Files with the name of a kind are listed by a pattern; see createdName.
//
//go:embed fingerprints_created.txt
var createdText string

// CreatedLines are the lines of the files that the create commands of releases write or change.
type CreatedLines struct{ *Fingerprints }

// ReadCreatedLines reads the lines of all recorded releases.
func ReadCreatedLines() (CreatedLines, error) {
	f, err := parseFingerprints(createdText)
	return CreatedLines{f}, err
}

// Includes reports whether the release of kubebuilder with a version, as in PROJECT, is recorded.
func (c CreatedLines) Includes(version string) bool {
	return slices.ContainsFunc(c.releases, func(r Release) bool { return r.Tool == "kubebuilder" && r.Version == minor(version) })
}

// minor returns the first two numbers of a version.
func minor(version string) string {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// Lines returns a function that reports whether a line of a file is one that a release writes, in a project with the given names.
func (c CreatedLines) Lines(names Names) func(file, line string) bool {
	z := newNormalizer(names)
	z.mixed.limit = lineForms
	return func(file, line string) bool {
		lines := c.files[createdName(file)]
		return slices.ContainsFunc(z.formsIn(lines, createdLine(line, names)), func(hash uint64) bool { return lines[hash] != nil })
	}
}

// createdLine returns a line without the domain in the paths of webhooks, which have hyphens for its dots, and without the kinds in the
// variables of images, which have capital letters.
func createdLine(line string, names Names) string {
	line = strings.ReplaceAll(strings.TrimSpace(line), "-"+strings.ReplaceAll(names.Domain, ".", "-")+"-", "-\x01h-")
	for _, r := range names.Resources {
		line = strings.ReplaceAll(line, strings.ToUpper(r.Kind)+"_IMAGE", "\x01u_IMAGE")
	}
	return line
}

// createdName returns a pattern for the files that contain the name of a kind or are in the directory of a group, or the name of
// another file.
func createdName(name string) string {
	dir, base := path.Split(name)
	switch {
	case path.Ext(name) != ".go" && dir == project.SamplesDir+"/" && base != project.KustomizationFile:
		return project.SamplesDir + "/*"
	case dir == project.CRDPatchesDir+"/":
		return project.CRDPatchesDir + "/*"
	case path.Ext(name) == ".go" && strings.HasPrefix(dir, "test/"):
		return name
	case dir != project.RBACDir+"/" && path.Ext(name) != ".go":
		return name
	case slices.Contains([]string{"main.go", "suite_test.go", "webhook_suite_test.go", "groupversion_info.go", "conditions.go"}, base):
		return base
	}
	for _, suffix := range []string{
		"_types.go", "_controller.go", "_controller_test.go", "_webhook.go", "_webhook_test.go", "_conversion.go", "_conversion_test.go",
		"_admin_role.yaml", "_editor_role.yaml", "_viewer_role.yaml",
	} {
		if strings.HasSuffix(base, suffix) {
			return "*" + suffix
		}
	}
	return name
}

// A Creation is what a create command of a release changes: files before and after it.
type Creation struct {
	Release       Release
	Names         Names
	Before, After map[string][]byte
}

// ExtendCreated returns the text of fingerprints_created.txt with the lines of more commands.
func ExtendCreated(text string, creations []Creation) (string, error) {
	f, err := parseFingerprints(text)
	if err != nil {
		return "", err
	}
	for _, c := range creations {
		f.addReleases([]Release{c.Release})
		release, z := slices.Index(f.releases, c.Release), newNormalizer(c.Names)
		for _, file := range slices.Sorted(maps.Keys(c.After)) {
			if !isCreated(file) || bytes.Equal(c.Before[file], c.After[file]) {
				continue
			}
			name := createdName(file)
			if f.files[name] == nil {
				f.files[name] = map[uint64]*big.Int{}
			}
			for line := range bytes.Lines(c.After[file]) {
				for _, hash := range z.recorded(createdLine(string(line), c.Names)) {
					state(f.files[name], hash, release)
				}
			}
		}
	}
	return f.text(), nil
}

// isCreated reports whether delete commands look for the lines of a file: not if it is generated, and not for metadata.
func isCreated(name string) bool {
	switch {
	case name == project.FileName, name == "go.mod", name == "go.sum", strings.HasPrefix(path.Base(name), "zz_generated."):
		return false
	}
	return path.Ext(name) == ".go" || path.Ext(name) == ".yaml"
}
