package cmd

import (
	"github.com/spf13/cobra"
)

func newImage(a *app) *cobra.Command {
	return a.commandGroup("image", "Build, push and copy images without Docker",
		`  %[1]s image build --image registry.example.com/memcached-operator:v0.0.1 --push
  %[1]s image bundle --image registry.example.com/memcached-operator-bundle:v0.0.1 --push`, newImageBuild(a), newImageBundle(a), newImageCatalog(a), newImageSave(a), newImageLoad(a))
}
