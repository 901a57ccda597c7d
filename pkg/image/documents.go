package image

import (
	"encoding/json"
	"fmt"
)

const (
	// maxListed bounds how many images an index may list, and how many layers an image may have that is copied.
	maxListed = 1000
	// maxImages bounds how many images an OCI layout or a tarball may hold.
	maxImages = 10_000
	// maxDocuments bounds the manifests, indexes and configurations that are in memory at a time, in bytes.
	maxDocuments = 128 << 20
)

func errDocuments() error {
	return &LimitError{"has manifests and configurations of more than " + size(maxDocuments)}
}

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
			return &DocumentError{fmt.Sprintf("its %s has the size %s for %s", in, printable(d.Size.String()), short(printable(d.Digest)))}
		case n > most:
			return &DocumentError{fmt.Sprintf("its %s has the size %d for %s, which may have at most %s", in, n, short(printable(d.Digest)), size(most))}
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
