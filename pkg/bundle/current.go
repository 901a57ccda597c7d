package bundle

import "github.com/operon-sdk/operon/pkg/manifest"

// Current is what a bundle on disk says of its place in a catalog. What it does not say, or not in a form
// that can be read, is empty.
type Current struct{ Version, Channels, DefaultChannel string }

// ReadCurrent reads it from a bundle's CSV and its annotations; nil stands for a file that does not exist.
func ReadCurrent(csv, annotations []byte) Current {
	var current Current
	if objects, _ := manifest.Decode("", csv); len(objects) == 1 {
		current.Version = textAt(objects[0].Fields, "spec", "version")
	}
	if file, err := parseAnnotations("", annotations); err == nil {
		current.Channels, _ = file.values[ChannelsLabel].(string)
		current.DefaultChannel, _ = file.values[DefaultChannelLabel].(string)
	}
	return current
}
