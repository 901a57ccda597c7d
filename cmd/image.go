package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/diag"
)

func newImage(a *app) *cobra.Command {
	return a.commandGroup("image", "Build, push and copy images without Docker",
		`  %[1]s image build --image registry.example.com/memcached-operator:v0.0.1 --push
  %[1]s image bundle --image registry.example.com/memcached-operator-bundle:v0.0.1 --push`, newImageBuild(a), newImageBundle(a), newImageCatalog(a), newImageSave(a), newImageLoad(a))
}

// addLabels adds flags of the form KEY=VALUE to the labels of an image.
func addLabels(given []string, labels map[string]string) (findings diag.Findings) {
	for _, pair := range given {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			findings.Add("--label", pair, "must be KEY=VALUE, such as org.opencontainers.image.version=1.2.3")
			continue
		}
		labels[key] = value
	}
	return findings
}
