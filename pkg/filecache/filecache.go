// Package filecache caches results in files, by the hash of their inputs.
package filecache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
)

// A Store caches results by the hash of their inputs. It returns no errors: an entry that cannot be read or is damaged is
// missing, and one that cannot be written is left out. Processes share a store without locks, because entries are written
// to temporary files that are renamed.
type Store struct {
	// Dir is the directory of the entries. If it is empty, nothing is cached.
	Dir string
	// Build identifies the program, for keys of results that depend on it.
	Build string
	// full reports whether an entry was written after which Trim looks at the sizes.
	full atomic.Bool
}

// maxStoreBytes is the size above which the oldest entries of a kind are removed. A small entry counts as entryBytes, which it
// occupies in most file systems.
const (
	maxStoreBytes = 64 << 20
	entryBytes    = 4 << 10
)

// trimEvery is the number of entries, on average, after which Trim looks at the sizes. Listing a full store takes longer than a
// command that is served from it.
const trimEvery = 64

// Get decodes an entry into value, a pointer, and reports whether it exists.
func (s *Store) Get(kind string, key Digest, value any) bool {
	if s.Dir == "" {
		return false
	}
	data, err := os.ReadFile(s.path(kind, key))
	if err != nil || len(data) < sha256.Size {
		return false
	}
	sum, data := data[:sha256.Size], data[sha256.Size:]
	actual := sha256.Sum256(data)
	return bytes.Equal(sum, actual[:]) && gob.NewDecoder(bytes.NewReader(data)).Decode(value) == nil
}

// Put encodes value as an entry.
func (s *Store) Put(kind string, key Digest, value any) {
	if s.Dir == "" {
		return
	}
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(value); err != nil {
		return
	}
	sum := sha256.Sum256(data.Bytes())
	name := s.path(kind, key)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return
	}
	_, err = temp.Write(append(sum[:], data.Bytes()...))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	if key[len(key)-1]%trimEvery == 0 {
		s.full.Store(true)
	}
}

// path returns the path of an entry.
func (s *Store) path(kind string, key Digest) string {
	return filepath.Join(s.Dir, kind, hex.EncodeToString(key[:16]))
}

// Trim removes the oldest entries of kinds that need too much space, if one of every trimEvery entries was written by this Store.
func (s *Store) Trim() {
	if !s.full.Load() {
		return
	}
	kinds, _ := os.ReadDir(s.Dir)
	for _, kind := range kinds {
		dir := filepath.Join(s.Dir, kind.Name())
		entries, _ := os.ReadDir(dir)
		var infos []fs.FileInfo
		var total int64
		for _, entry := range entries {
			if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
				infos, total = append(infos, info), total+occupied(info)
			}
		}
		if total <= maxStoreBytes {
			continue
		}
		slices.SortFunc(infos, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
		for _, info := range infos {
			if total <= maxStoreBytes/2 {
				break
			}
			if os.Remove(filepath.Join(dir, info.Name())) == nil {
				total -= occupied(info)
			}
		}
	}
}

func occupied(info fs.FileInfo) int64 { return max(info.Size(), entryBytes) }

// A Digest identifies content.
type Digest [sha256.Size]byte

// DigestOf returns the digest of parts, which is different for each list of parts.
func DigestOf(parts ...[]byte) Digest {
	h := sha256.New()
	var n [8]byte
	for _, part := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return Digest(h.Sum(nil))
}
