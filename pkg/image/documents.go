package image

import (
	"encoding/json"
	"fmt"
)

const (
	// maxListed bounds the number of images in an index, and of layers in an image that is copied.
	maxListed = 1000
	// maxImages bounds the number of images in an OCI layout or a tarball.
	maxImages = 10_000
	// maxDocuments bounds the bytes of manifests, indexes and configurations in memory.
	maxDocuments = 128 << 20
)

var errDocuments = &limitError{"has manifests and configurations larger than " + formatSize(maxDocuments)}

// A DocumentError reports an invalid manifest or index.
type DocumentError struct{ text string }

func (e *DocumentError) Error() string { return e.text + "; build and push the image again" }

// checkDocument returns an error if a manifest or an index contains invalid sizes, or more than maxEntries images or layers.
// Other errors are left to the parser of the document.
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
	check := func(in string, d descriptor, maxSize int64) error {
		n, err := d.Size.Int64()
		switch {
		case d.Size == "":
			return nil
		case err != nil || n < 0:
			return &DocumentError{fmt.Sprintf("its %s has the size %s for %s", in, printable(d.Size.String()), shortDigest(printable(d.Digest)))}
		case n > maxSize:
			return &DocumentError{fmt.Sprintf("its %s has the size %d for %s, which may have at most %s", in, n, shortDigest(printable(d.Digest)), formatSize(maxSize))}
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
