package bundle

import "github.com/operon-sdk/operon/pkg/manifest"

// A Placement is the version and channels of a bundle on disk. Values that are missing or cannot be read are empty.
type Placement struct{ Version, Channels, DefaultChannel string }

// ReadPlacement reads a Placement from a CSV and annotations.yaml; nil means that the file does not exist.
func ReadPlacement(csv, annotations []byte) Placement {
	var current Placement
	if objects, _ := manifest.Decode("", csv); len(objects) == 1 {
		current.Version = manifest.TextAt(objects[0].Fields, "spec", "version")
	}
	if file, err := parseAnnotations("", annotations); err == nil {
		current.Channels, _ = file.values[ChannelsLabel].(string)
		current.DefaultChannel, _ = file.values[DefaultChannelLabel].(string)
	}
	return current
}
