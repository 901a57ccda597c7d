package typecheck

import (
	"fmt"
	"runtime"

	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// verdicts is the kind of the entries of the cache that code has no errors. Other code has no entry, so that its errors are found
// each time.
const verdicts = "verdicts"

// isKnown reports whether the code has no errors according to the cache.
func (c *checker) isKnown() bool {
	var known bool
	return c.hasVerdict() && c.libraries.store.Get(verdicts, c.verdictKey(), &known) && known
}

// remember puts the verdict into the cache if the code has no errors.
func (c *checker) remember() {
	if c.hasVerdict() && !c.readsTree {
		c.libraries.store.Put(verdicts, c.verdictKey(), true)
		c.libraries.store.Trim()
	}
}

// hasVerdict reports whether the code has no errors so far, and whether the key of its verdict holds all that decides about
// others. What cgo generates is not part of it.
func (c *checker) hasVerdict() bool {
	l := c.libraries
	return c.info == nil && len(c.found) == 0 && len(l.cgo[c.module]) == 0 && l.identity != filecache.Digest{}
}

// verdictKey returns the key of the verdict: what decides about the types of libraries, the program, and the module's code.
func (c *checker) verdictKey() filecache.Digest {
	l, m := c.libraries, c.module
	about := fmt.Sprintf("%s %q %q %q %q", runtime.Version(), l.checker.Version, m.Path, m.GoVersion, l.imports([]*gosource.Module{m}))
	parts := [][]byte{[]byte(format), l.identity[:], []byte(about)}
	for _, name := range m.Names() {
		parts = append(parts, []byte(name), m.Files[name].Text)
	}
	return filecache.DigestOf(parts...)
}
