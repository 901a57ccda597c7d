package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/old"
	"github.com/operon-sdk/operon/cmd/internal/words"
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
			case len(args) == 1 && o.Image == "":
				o.Image = args[0]
			case len(args) > 0 || o.Image == "":
				return usagef(c, "%s takes one argument: the name of the image", c.CommandPath())
			}
			if findings := old.OfBuild().Used(c.Flags()); len(findings) > 0 {
				return findings
			}
			if o.Push || o.Tarball != "" || o.Layout != "" {
				replacement{a, c}.noteName("image build")
				return o.Within(c, func() error { return a.runImageBuild(c, &o) })
			}
			return o.Within(c, func() error { return a.buildAndKeep(c, &o) })
		},
	}
	old.OfBuild().AddTo(c.Flags())
	o.addTo(a, c)
	return c
}

// keptImages is the directory in a project that 'make image-build' writes images to.
const keptImages = "bin/image"

// buildAndKeep builds an image without another destination, and keeps it in the project.
func (a *app) buildAndKeep(c *cobra.Command, o *imageBuildOptions) error {
	root, err := a.intactProject()
	if err != nil {
		return err
	}
	layout, err := filepath.Rel(a.Dir, filepath.Join(root, filepath.FromSlash(keptImages)))
	if err != nil {
		return err
	}
	o.Layout = filepath.ToSlash(layout)
	replacement{a, c}.note(words.Join([]string{a.program, "image", "build", "--image", o.Image, "--oci-layout", o.Layout}))
	if err := a.runImageBuild(c, o); err != nil || a.dryRun {
		return err
	}
	a.print.Nextf("push it with '%s'", words.Join([]string{a.program, "image", "load", o.Layout + ":" + o.Image, o.Image}))
	return nil
}
