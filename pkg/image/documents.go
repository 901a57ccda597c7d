package image

import (
	"encoding/json"
	"fmt"
)

// maxListed bounds how many images an index may list, and how many layers an image may have that is copied.
const maxListed = 1000

// A DocumentError is a manifest or an index that no builder writes.
type DocumentError struct{ text string }

func (e *DocumentError) Error() string { return e.text + "; build and push the image again" }

// checkDocument finds sizes in a manifest or an index that are impossible or exceed the limits. Whether it is a manifest or
// an index at all is for its reader to find out. It may list no more than maxEntries images or layers.
func checkDocument(data []byte, maxEntries int) error {
	type descriptor struct {
		Digest string
		Size   json.Number
	}
	var document struct {
		Config            descriptor
		Layers, Manifests []descriptor
	}
	if json.Unmarshal(data, &document) != nil {
		return nil
	}
	check := func(in string, d descriptor, most int64) error {
		n, err := d.Size.Int64()
		switch {
		case d.Size == "":
			return nil
		case err != nil || n < 0:
			return &DocumentError{fmt.Sprintf("its %s has the size %s for %s", in, cut(d.Size.String()), short(cut(d.Digest)))}
		case n > most:
			return &DocumentError{fmt.Sprintf("its %s has the size %d for %s, which may have at most %s", in, n, short(cut(d.Digest)), size(most))}
		}
		return nil
	}
	if n := len(document.Manifests); n > maxEntries {
		return &DocumentError{fmt.Sprintf("its index lists %d images, more than the %d that are supported", n, maxEntries)}
	}
	if n := len(document.Layers); n > maxEntries {
		return &DocumentError{fmt.Sprintf("its manifest lists %d layers, more than the %d that are supported", n, maxEntries)}
	}
	for _, d := range document.Manifests {
		if err := check("index", d, maxDocument); err != nil {
			return err
		}
	}
	if err := check("manifest", document.Config, maxDocument); err != nil {
		return err
	}
	for _, d := range document.Layers {
		if err := check("manifest", d, 1<<40); err != nil {
			return err
		}
	}
	return nil
}
