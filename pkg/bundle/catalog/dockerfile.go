package catalog

import (
	"github.com/operon-sdk/operon/templates"
)

// DockerfileName is the Dockerfile of a catalog image.
const DockerfileName = "catalog.Dockerfile"

// BaseImage is the image of opm, which serves catalogs, in the linked version of operator-registry.
const BaseImage = "quay.io/operator-framework/opm:v1.73.0"

// Dockerfile returns catalog.Dockerfile for the catalog in dir, relative to the file.
func Dockerfile(dir, base string) ([]byte, error) {
	return templates.Execute("catalog/"+DockerfileName+".tmpl", struct{ Dir, Base string }{dir, base})
}
