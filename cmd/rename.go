package cmd

import (
	"github.com/spf13/cobra"
)

func newRename(a *app) *cobra.Command {
	return a.commandGroup("rename", "Rename an API, the project or its module",
		`  %[1]s rename api --group cache --kind Memcached --to-kind Cachet
  %[1]s rename project cachet-operator
  %[1]s rename repo github.com/example/cachet-operator`, newRenameAPI(a), newRenameProject(a), newRenameRepo(a))
}
