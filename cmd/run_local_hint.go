package cmd

import (
	"context"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

// kubectlHint returns the command that shows the objects of the project's kinds and the workloads of all namespaces.
func (r *localRun) kubectlHint(ctx context.Context) string {
	builtIn := map[string]string{} // groups by plural
	// On failure, the plurals alone are correct for most kinds.
	served, _, _ := r.cluster.Resources(ctx)
	for _, resource := range served {
		builtIn[resource.Name] = resource.Group()
	}
	names := append(resourceNames(r.o.config.Resources(), builtIn), "all")
	return r.commandLine() + " tool kubectl get " + strings.Join(names, ",") + " -A"
}

// commandLine returns the start of a command line for the same project: the program, and -C if it was given.
func (a *app) commandLine() string {
	switch {
	case a.entered == "":
		return a.program
	case strings.ContainsAny(a.entered, " \t'$&;()<>|*?`~#!"):
		return a.program + " -C " + `"` + a.entered + `"`
	}
	return a.program + " -C " + a.entered
}

// resourceNames returns the names of the project's kinds for kubectl: plurals, with the group for those that are used twice
// or by a built-in kind, of which builtIn holds the groups.
func resourceNames(resources []project.Resource, builtIn map[string]string) (names []string) {
	groups := map[string]string{}
	ambiguous := map[string]bool{}
	for _, res := range resources {
		group, used := groups[res.Plural]
		if !used {
			group, used = builtIn[res.Plural]
		}
		ambiguous[res.Plural] = ambiguous[res.Plural] || used && group != res.APIGroup()
		groups[res.Plural] = res.APIGroup()
	}
	for _, res := range resources {
		name := res.Plural
		if ambiguous[name] {
			name += "." + res.APIGroup()
		}
		if res.HasAPI() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
