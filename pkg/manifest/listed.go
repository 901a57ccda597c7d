package manifest

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A listing is what other files of a project are read for in a kustomization.
type listing struct {
	Resources, Bases, Components []string
}

// Listed returns the files and directories on this machine that a kustomization lists as resources, bases and components. Nothing
// is listed by an invalid one.
func Listed(kustomization []byte) []string {
	var l listing
	if safeyaml.UnmarshalJSON(kustomization, &l) != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(l.Resources, l.Bases, l.Components), isRemote)
}
