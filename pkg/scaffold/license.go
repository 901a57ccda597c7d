package scaffold

import (
	"fmt"
	"strings"
)

// LicenseHeader returns the comment at the start of the Go files of a project for a license: apache2, mit, copyright for the
// notice alone, or none for no comment. copyright is the copyright notice, or "".
func LicenseHeader(license, copyright string) (string, error) {
	rendered, err := Render("license", Data{License: License{Copyright: copyright}})
	if err != nil {
		return "", err
	}
	header, ok := rendered.Files[license]
	if !ok {
		return "", fmt.Errorf("no header for the license %q", license)
	}
	return strings.TrimRight(string(header), "\n"), nil
}
