package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/refactor"
)

func newRename(a *app) *cobra.Command {
	return a.commandGroup("rename", "Rename an API, the project or its module",
		`  %[1]s rename api --group cache --kind Memcached --to-kind Cachet
  %[1]s rename project cachet-operator
  %[1]s rename repo github.com/example/cachet-operator`, newRenameAPI(a), newRenameProject(a), newRenameRepo(a))
}

// printRemaining prints where old names remain.
func (a *app) printRemaining(remaining *refactor.Remaining) {
	list := func(what string, places []string) {
		const most = 20
		if len(places) == 0 {
			return
		}
		more := ""
		if len(places) > most && !a.verbose {
			more = fmt.Sprintf("\n  and %d more; --verbose lists all", len(places)-most)
			places = places[:most]
		}
		a.notef("%s:\n  %s%s", what, strings.Join(places, "\n  "), more)
	}
	list("these still contain an old name; check whether that is intended", remaining.Places)
	list("note: released bundles and catalogs keep the old names, under which they are installed; new releases have the new ones", remaining.Released)
}
