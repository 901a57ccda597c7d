package action

import (
	"errors"
	"strings"
	"unicode"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// LicenseOptions select the license header of Go files.
type LicenseOptions struct {
	// License is apache2, mit, copyright or none.
	License string
	// File contains the header, unless it is empty. It takes precedence over License.
	File string
	// Owner is the copyright owner in the header, or empty.
	Owner string
}

// check validates the options.
func (o LicenseOptions) check(c *Config) diag.Findings {
	var findings diag.Findings
	if strings.Contains(o.Owner, "*/") || strings.ContainsFunc(o.Owner, unicode.IsControl) {
		findings = append(findings, diag.Finding{
			Field: "--owner", Value: o.Owner, Problem: "must be one line without */",
		})
	}
	if o.File == "" {
		return append(findings, project.CheckLicense(o.License)...)
	}
	text, err := c.readHeader(o.File)
	switch {
	case err != nil:
		findings.Add("--license-file", o.File, err.Error())
	case !isComment(text):
		findings = append(findings, diag.Finding{
			Field: "--license-file", Value: o.File, Problem: "must contain a Go comment, /* … */ or lines that start with //",
		})
	}
	return findings
}

// header returns the header that the options select. check has found no problem.
func (o LicenseOptions) header(c *Config) (string, error) {
	if o.File != "" {
		return c.readHeader(o.File)
	}
	return scaffold.LicenseHeader(o.License, copyright(o.Owner, ""))
}

// readHeader reads a header from a file.
func (c *Config) readHeader(name string) (string, error) {
	path := c.Absolute(name)
	info, err := c.FS.Stat(path)
	if err != nil {
		return "", diag.Cause(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("is not a regular file")
	}
	data, err := afero.ReadFile(c.FS, path)
	if err != nil {
		return "", diag.Cause(err)
	}
	return normalizeHeader(data), nil
}

// copyright returns the copyright notice of a header. It is empty without owner and year.
func copyright(owner, year string) string {
	words := strings.TrimSpace(year + " " + owner)
	if words == "" {
		return ""
	}
	return "Copyright " + strings.TrimSuffix(words, ".") + "."
}
