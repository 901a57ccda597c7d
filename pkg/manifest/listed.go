package manifest

import (
	"slices"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A listing is what other files of a project are read for in a kustomization.
type listing struct {
	Resources, Bases, Components []string
	Images                       []struct{ Name, NewName, NewTag, Digest string }
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

// ImageIn returns the reference that a kustomization replaces the image name with, or name if it replaces nothing.
func ImageIn(kustomization []byte, name string) string {
	var l listing
	if safeyaml.UnmarshalJSON(kustomization, &l) != nil {
		return name
	}
	for _, image := range l.Images {
		if image.Name != name {
			continue
		}
		ref := name
		if image.NewName != "" {
			ref = image.NewName
		}
		switch {
		case image.Digest != "":
			return ref + "@" + image.Digest
		case image.NewTag != "":
			return ref + ":" + image.NewTag
		}
		return ref
	}
	return name
}
