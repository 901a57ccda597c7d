package filecache

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTrim expects a store that is too large to lose its oldest entries, but only once after about trimEvery new ones.
func TestTrim(t *testing.T) {
	t.Parallel()
	s := &Store{Dir: t.TempDir()}
	big := make([]byte, maxStoreBytes/4)
	var keys []Digest
	for i := range 6 {
		keys = append(keys, DigestOf([]byte{byte(i)}))
		keys[i][len(keys[i])-1] = 1
		s.Put("results", keys[i], big)
		stamp := time.Now().Add(time.Duration(i)*time.Second - time.Hour)
		if err := os.Chtimes(s.path("results", keys[i]), stamp, stamp); err != nil {
			t.Fatal(err)
		}
	}
	s.Trim()
	if !s.Get("results", keys[0], new([]byte)) {
		t.Error("an entry was removed before trimEvery were written")
	}
	s.Put("results", Digest{}, []byte{})
	s.Trim()
	if s.Get("results", keys[0], new([]byte)) {
		t.Error("the oldest entry still exists")
	}
	if !s.Get("results", keys[5], new([]byte)) {
		t.Error("the newest entry was removed")
	}
	var total int
	entries, err := os.ReadDir(filepath.Join(s.Dir, "results"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += int(info.Size())
	}
	if total > maxStoreBytes {
		t.Errorf("%d bytes remain, want at most %d", total, maxStoreBytes)
	}
}
