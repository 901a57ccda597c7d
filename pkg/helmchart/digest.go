package helmchart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Digest returns a digest of the paths and contents of files: sha256:HEX.
func (f Files) Digest() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%s\x00%d\x00", name, len(f[name]))
		h.Write(f[name])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
