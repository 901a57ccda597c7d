package scaffold

import (
	"path"

	"github.com/operon-sdk/operon/pkg/project"
)

// SampleFile returns the path of the sample of a kind.
func SampleFile(r project.Resource) string {
	name := r.Version + "_" + r.FileStem() + ".yaml"
	if r.Group != "" {
		name = r.Group + "_" + name
	}
	return path.Join(project.SamplesDir, name)
}
