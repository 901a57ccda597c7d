package catalog

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"github.com/operon-sdk/operon/templates"
)

// DockerfileName is the Dockerfile of a catalog image.
const DockerfileName = "catalog.Dockerfile"

// BaseImage is the image of opm, which serves catalogs, in the linked version of operator-registry.
const BaseImage = "quay.io/operator-framework/opm:v1.73.0"

// Dockerfile returns catalog.Dockerfile for the catalog in dir, relative to the file.
func Dockerfile(dir, base string) ([]byte, error) {
	text, err := fs.ReadFile(templates.FS, "catalog/"+DockerfileName+".tmpl")
	if err != nil {
		return nil, err
	}
	// A checkout on Windows may add carriage returns to the templates.
	tmpl, err := template.New(DockerfileName).Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", DockerfileName, err)
	}
	var b bytes.Buffer
	err = tmpl.Execute(&b, struct{ Dir, Base string }{dir, base})
	return b.Bytes(), err
}
