package scaffold

import (
	"path"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// CreateHelmAPI writes the roles for users of a kind whose objects are releases of a chart, and lists its CRD and its sample,
// which depend on the chart.
func CreateHelmAPI(tree *worktree.Tree, data Data) (*Report, error) {
	files, inserts, err := renderAPI(tree, data)
	if err != nil {
		return nil, err
	}
	report, err := writeFiles(tree, files, false, "move away what is listed")
	if err != nil {
		return nil, err
	}
	enableCRDs(tree)
	return report, insertAll(tree, inserts)
}

// SampleFile returns the path of the sample of a kind.
func SampleFile(r project.Resource) string {
	name := r.Version + "_" + r.FileStem() + ".yaml"
	if r.Group != "" {
		name = r.Group + "_" + name
	}
	return path.Join(project.SamplesDir, name)
}
