package cmd

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newBuild is a command of the first versions of operator-sdk, which became image build.
func newBuild(a *app) *cobra.Command {
	var o imageBuildOptions
	c := &cobra.Command{
		Use:     "build IMAGE",
		Short:   "The old name of image build",
		Long:    "Do what 'image build' does, with its flags, under its name in the first versions of operator-sdk. No image is kept by Docker: say where it goes.",
		Example: fmt.Sprintf("  %s image build --image registry.example.com/memcached-operator:v0.0.1 --push", a.program),
		Hidden:  true,
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && o.image == "":
				o.image = args[0]
			case len(args) > 0 || o.image == "":
				return usagef(c, "%s takes the name of one image", c.CommandPath())
			}
			if !o.push && o.tarball == "" && o.layout == "" {
				return &usageError{err: fmt.Errorf("'%s' became '%s image build'; run: %s image build --image %s --push", c.CommandPath(), a.program, a.program, o.image)}
			}
			a.renamed(c, "image build")
			return a.runImageBuild(c.Context(), &o)
		},
	}
	o.addTo(c)
	return c
}
