package scaffold

import (
	"maps"
	"path"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CreateKind writes the roles for users, the sample and the test of a kind without Go types, as far as the layout has templates for them,
// and lists its CRD and its sample. For a kind with a chart in a Go project, it also writes the code that reconciles such kinds, and adds
// the charts to the image. With force, existing files are overwritten.
func CreateKind(tree *worktree.Tree, data Data, force bool) (*Report, error) {
	if err := checkCharts(tree, data); err != nil {
		return nil, err
	}
	if err := data.Project.FindPaths(tree); err != nil {
		return nil, err
	}
	files, inserts, err := renderAPI(tree, data)
	if err != nil {
		return nil, err
	}
	if data.hasMixedKind() && tree.Exists(project.ChartsFile) { // the call of an earlier kind may have been edited
		delete(inserts, data.Project.MainFile())
	}
	maps.DeleteFunc(files, func(name string, _ []byte) bool {
		return tree.Exists(name) && isCommon(name) || !tree.Exists(name) && isUnreferenced(tree, name)
	})
	var kept []string
	if test := TestFile(data.Resource.Kind); files[test] != nil && tree.Exists(test) && !force { // all versions of a kind share its test
		delete(files, test)
		kept = append(kept, test)
	}
	hint := "pass --force to overwrite what is listed with a new scaffold, or move it away"
	if data.Resource.Chart { // --force is for its chart
		hint = "move away what is listed"
	}
	report, err := writeFiles(tree, files, force, hint)
	if err != nil {
		return nil, err
	}
	report.Kept = append(report.Kept, kept...)
	enableCRDs(tree)
	if data.hasMixedKind() {
		if note := AddChartsToImage(tree); note != "" {
			report.Notes = append(report.Notes, note)
		}
	}
	return report, insertAll(tree, inserts)
}

// SampleFile returns the path of the sample of a kind.
func SampleFile(r project.Resource) string {
	return path.Join(project.SamplesDir, Resource{Group: r.Group, Version: r.Version, Kind: r.Kind}.SampleFile())
}

// SampleFile returns the name of the sample's file, in config/samples.
func (r Resource) SampleFile() string {
	name := r.Version + "_" + strings.ToLower(r.Kind) + ".yaml"
	if r.Group != "" {
		name = r.Group + "_" + name
	}
	return name
}

// sampleName returns the name of the object in the sample, with the version in it or not.
func (r Resource) sampleName(versioned bool) string {
	if versioned {
		return strings.ToLower(r.Kind) + "-" + r.Version + "-sample"
	}
	return strings.ToLower(r.Kind) + "-sample"
}

// setSampleName sets the name of the sample: its name in an existing sample, or one with the version in it if the sample of another
// version has the name without.
func setSampleName(tree *worktree.Tree, data *Data) error {
	r := &data.Resource
	r.SampleName = r.sampleName(false)
	files, err := readSamples(tree)
	if err != nil {
		return err
	}
	for _, own := range files {
		if own.name != path.Join(project.SamplesDir, r.SampleFile()) {
			continue
		}
		if own.hasName(r.sampleName(true)) {
			r.SampleName = r.sampleName(true)
		}
		if own.hasName(r.SampleName) {
			return nil
		}
	}
	for _, file := range files {
		base := path.Base(file.name)
		if base == r.SampleFile() {
			continue
		}
		// A file with the name of a sample of this kind but for the version, or with another name.
		other := *r
		other.Version = strings.TrimSuffix(base, "_"+strings.ToLower(r.Kind)+".yaml")
		other.Version = other.Version[strings.LastIndex(other.Version, "_")+1:]
		if (other.SampleFile() == base || file.hasKind(*r)) && file.hasName(r.SampleName) {
			r.SampleName = r.sampleName(true)
			return nil
		}
	}
	return nil
}
