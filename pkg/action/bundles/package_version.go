package bundles

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle"
	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
)

// ReadPackageVersion reads a version of the package manifests in a directory as a bundle, and returns its channel. An empty version is
// the head of the default channel.
func ReadPackageVersion(config action.Config, dir, version string) (*catalog.Source, string, error) {
	p := &action.Project{Config: config}
	r := &packageReader{Config: &p.Config}
	pkg, versions, err := r.read(dir)
	if err != nil {
		return nil, "", err
	}
	if len(r.problems) > 0 {
		return nil, "", r.problems
	}
	bundles, _, err := bundle.Convert(pkg, versions, builder(p))
	if err != nil {
		return nil, "", err
	}
	channels := map[string]string{} // by their heads
	head := ""
	for _, c := range pkg.Channels {
		if _, ok := channels[c.CurrentCSVName]; !ok {
			channels[c.CurrentCSVName] = c.Name
		}
		if c.Name == pkg.Default() {
			head = c.CurrentCSVName
		}
	}
	invalid := func(format string, args ...any) error {
		return diag.Findings{{Field: "--version", Value: version, Problem: fmt.Sprintf(format, args...)}}
	}
	var known []string
	for _, b := range bundles {
		source, err := convertedSource(b, dir)
		if err != nil {
			return nil, "", err
		}
		known = append(known, source.Version.String())
		if version == "" && b.CSV != head || version != "" && source.Version.String() != version {
			continue
		}
		channel, ok := channels[b.CSV]
		if !ok {
			return nil, "", invalid("must be the head of a channel; %s is not in the package manifest", b.CSV)
		}
		return source, channel, nil
	}
	return nil, "", invalid("not found; the versions are %s", strings.Join(known, ", "))
}

// convertedSource reads a converted bundle.
func convertedSource(b bundle.Converted, dir string) (*catalog.Source, error) {
	memory := afero.NewMemMapFs()
	for name, content := range b.Files {
		if err := afero.WriteFile(memory, name, content, 0o600); err != nil {
			return nil, err
		}
	}
	files, err := fs.Sub(afero.NewIOFS(memory), "bundle")
	if err != nil {
		return nil, err
	}
	source, problems := catalog.ReadBundle(files, dir+"/"+b.Version)
	if len(problems) > 0 {
		return nil, problems
	}
	return source, nil
}
