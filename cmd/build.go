package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

// newBuild is a command of the first versions of operator-sdk, which became image build.
func newBuild(a *app) *cobra.Command {
	var o imageBuildOptions
	c := &cobra.Command{
		Use:     "build IMAGE",
		Short:   "Build the manager's image (now 'image build')",
		Long:    "Run 'image build', with its flags, under its name in the first versions of operator-sdk. The image is written to the directory " + keptImages + ", like 'make image-build', unless flags give another destination.",
		Example: fmt.Sprintf("  %s image build --image registry.example.com/memcached-operator:v0.0.1 --push", a.program),
		Hidden:  true,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && o.image == "":
				o.image = args[0]
			case len(args) > 0 || o.image == "":
				return usagef(c, "%s takes the name of one image", c.CommandPath())
			}
			if findings := retiredUsed(c, retiredBuild()); len(findings) > 0 {
				return findings
			}
			if o.push || o.tarball != "" || o.layout != "" {
				a.renamed(c, "image build")
				return o.within(c, func() error { return a.runImageBuild(c.Context(), &o) })
			}
			return o.within(c, func() error { return a.buildAndKeep(c, &o) })
		},
	}
	addRetired(c, retiredBuild())
	o.addTo(c)
	return c
}

// keptImages is the folder of a project that 'make image-build' keeps images in.
const keptImages = "bin/image"

// retiredBuild are the flags of build that have no meaning today.
func retiredBuild() []retired {
	return []retired{
		{name: "image-builder", today: "has no use: no other program builds the image; 'make docker-build CONTAINER_TOOL=…' lets one build the Dockerfile"},
		{name: "image-build-args", today: "is said by --base and --label; 'make docker-build' builds the Dockerfile"},
		{name: "go-build-args", today: "is said by the variable GOFLAGS"},
		{name: "enable-tests", today: "is done by 'make test' before", boolean: true, fine: []string{"false"}},
		{name: "test-location", today: "is done by 'make test' before"},
		{name: "namespaced-manifest", today: "is done by 'make test' before"},
	}
}

// buildAndKeep builds an image that nothing is said of but its name, where Docker kept it.
func (a *app) buildAndKeep(c *cobra.Command, o *imageBuildOptions) error {
	root, err := a.intactProject()
	if err != nil {
		return err
	}
	dir, err := a.workDir()
	if err != nil {
		return err
	}
	layout, err := filepath.Rel(dir, filepath.Join(root, filepath.FromSlash(keptImages)))
	if err != nil {
		return err
	}
	o.layout = filepath.ToSlash(layout)
	a.replaced(c, joinWords([]string{a.program, "image", "build", "--image", o.image, "--oci-layout", o.layout}))
	if err := a.runImageBuild(c.Context(), o); err != nil || a.dryRun {
		return err
	}
	a.nextf("push it with '%s'", joinWords([]string{a.program, "image", "load", o.layout + ":" + o.image, o.image}))
	return nil
}
