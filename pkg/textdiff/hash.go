package textdiff

import (
	"crypto/sha256"
	"encoding/binary"
)

// Hash returns the first 64 bits of the SHA-256 digest of a line. Lines of other scaffolds are recognized by it: a line
// of the user with the hash of such a line would be taken for it, and lost. With 32 bits and the up to 700 known lines
// of a file, that happens in about one of 6,000 projects with 1,000 lines of the user; with 64 bits in one of 10¹³. Of
// SHA-256, other than of FNV, any bits are as good as random for lines that differ in a few characters.
func Hash(line string) uint64 {
	sum := sha256.Sum256([]byte(line))
	return binary.BigEndian.Uint64(sum[:8])
}
