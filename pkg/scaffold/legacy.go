package scaffold

import (
	"bytes"
	"path"

	"golang.org/x/mod/semver"
)

// eventsVersion is the controller-runtime that brought recorders of the events.k8s.io API to managers, and
// webhooks that are typed by the kind they are for.
const eventsVersion = "v0.23.0"

// adapt makes templates fit a project that an older tool began: its controller-runtime, and the way its
// API package registers types.
func adapt(tree *Tree, data *Data) error {
	mod, err := tree.ReadFile(goModFile)
	if err != nil {
		return missingGoMod(err)
	}
	file, err := parseGoMod(mod)
	if err != nil {
		return err
	}
	for _, r := range file.Require {
		if r.Mod.Path == "sigs.k8s.io/controller-runtime" {
			data.Project.LegacyWebhooks = semver.Compare(r.Mod.Version, eventsVersion) < 0
			data.Project.LegacyEvents = semver.Compare(r.Mod.Version, eventsVersion) < 0
		}
	}
	group := outputPath("api/GROUP/VERSION", *data)
	info, err := tree.ReadFile(path.Join(group, "groupversion_info.go"))
	data.Resource.LegacySchemeBuilder = err == nil && bytes.Contains(info, []byte("scheme.Builder{"))
	return nil
}
