package codegen

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

// A store caches results by the hash of their inputs. It returns no errors: an entry that cannot be read or is damaged is
// missing, and one that cannot be written is left out. Processes share a store without locks, because entries are written
// to temporary files that are renamed.
type store struct {
	dir string
	// build is Options.Build.
	build   string
	written atomic.Bool
}

// maxStoreBytes is the size above which the oldest entries of a kind are removed.
const maxStoreBytes = 64 << 20

// get decodes an entry into value, a pointer, and reports whether it exists.
func (s *store) get(kind string, key digest, value any) bool {
	if s.dir == "" {
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

// put encodes value as an entry.
func (s *store) put(kind string, key digest, value any) {
	if s.dir == "" {
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
	s.written.Store(true)
}

// path returns the path of an entry.
func (s *store) path(kind string, key digest) string {
	return filepath.Join(s.dir, kind, hex.EncodeToString(key[:16]))
}

// trim removes the oldest entries of kinds that need too much space.
func (s *store) trim() {
	if !s.written.Load() {
		return
	}
	kinds, _ := os.ReadDir(s.dir)
	for _, kind := range kinds {
		dir := filepath.Join(s.dir, kind.Name())
		entries, _ := os.ReadDir(dir)
		var infos []fs.FileInfo
		var total int64
		for _, entry := range entries {
			if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
				infos, total = append(infos, info), total+info.Size()
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
				total -= info.Size()
			}
		}
	}
}

// digest identifies content.
type digest [sha256.Size]byte

// digestOf returns the digest of parts, which is different for each list of parts.
func digestOf(parts ...[]byte) digest {
	h := sha256.New()
	var n [8]byte
	for _, part := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return digest(h.Sum(nil))
}
