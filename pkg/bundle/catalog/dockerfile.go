package catalog

import (
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"github.com/operon-sdk/operon/templates"
)

// DockerfileName is the file that a catalog's image is built from.
const DockerfileName = "catalog.Dockerfile"

// BaseImage holds opm, which serves catalogs, of the version of operator-registry linked here.
const BaseImage = "quay.io/operator-framework/opm:v1.73.0"

// Dockerfile is the content of catalog.Dockerfile for the catalog in dir, as seen from the file.
func Dockerfile(dir, base string) ([]byte, error) {
	text, err := fs.ReadFile(templates.FS, "catalog/"+DockerfileName+".tmpl")
	if err != nil {
		return nil, err
	}
	// A checkout on Windows may have brought carriage returns into the templates.
	tmpl, err := template.New(DockerfileName).Parse(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", DockerfileName, err)
	}
	var b bytes.Buffer
	err = tmpl.Execute(&b, struct{ Dir, Base string }{dir, base})
	return b.Bytes(), err
}
