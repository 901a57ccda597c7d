package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

// newBuild returns the command build of the first versions of operator-sdk, which runs image build.
func newBuild(a *app) *cobra.Command {
	var o imageBuildOptions
	c := &cobra.Command{
		Use:     "build IMAGE",
		Short:   "Build the manager's image (now 'image build')",
		Long:    "Run 'image build', with its flags, under its name in the first versions of operator-sdk. The image is written to the directory " + keptImages + ", like 'make image-build', unless flags name another destination.",
		Example: fmt.Sprintf("  %s image build --image registry.example.com/memcached-operator:v0.0.1 --push", a.program),
		Hidden:  true,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && o.image == "":
				o.image = args[0]
			case len(args) > 0 || o.image == "":
				return usagef(c, "%s takes one argument: the name of the image", c.CommandPath())
			}
			if findings := retiredUsed(c, retiredBuild()); len(findings) > 0 {
				return findings
			}
			if o.push || o.tarball != "" || o.layout != "" {
				a.renamed(c, "image build")
				return o.within(c, func() error { return a.runImageBuild(c, &o) })
			}
			return o.within(c, func() error { return a.buildAndKeep(c, &o) })
		},
	}
	addRetired(c, retiredBuild())
	o.addTo(a, c)
	return c
}

// keptImages is the directory in a project that 'make image-build' writes images to.
const keptImages = "bin/image"

// retiredBuild are the flags of build that are no longer supported.
func retiredBuild() []retired {
	return []retired{
		{"image-builder", "is not needed: no other program builds the image; to build the Dockerfile, run 'make docker-build CONTAINER_TOOL=…'", nil},
		{"image-build-args", "is replaced by --base and --label; 'make docker-build' builds the Dockerfile", nil},
		{"go-build-args", "is replaced by the variable GOFLAGS", nil},
		{"enable-tests", "is replaced by 'make test' before the build", []string{"false"}},
		{"test-location", "is replaced by 'make test' before the build", nil},
		{"namespaced-manifest", "is replaced by 'make test' before the build", nil},
	}
}

// buildAndKeep builds an image without another destination, and keeps it in the project.
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
	a.noteReplacement(c, joinWords([]string{a.program, "image", "build", "--image", o.image, "--oci-layout", o.layout}))
	if err := a.runImageBuild(c, o); err != nil || a.dryRun {
		return err
	}
	a.nextf("push it with '%s'", joinWords([]string{a.program, "image", "load", o.layout + ":" + o.image, o.image}))
	return nil
}
