package typecheck

import (
	"fmt"
	"runtime"

	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/gosource"
)

// passed is the kind of the cache's entries for code without errors. Errors aren't cached: they are found each time.
const passed = "passed"

// passedBefore reports whether the same code with the same libraries had no errors before.
func (c *checker) passedBefore() bool {
	var before bool
	return c.canPass() && c.libraries.store.Get(passed, c.passedKey(), &before) && before
}

// recordPassed records that the code has no errors, unless it has some.
func (c *checker) recordPassed() {
	if c.canPass() && !c.readsTree {
		c.libraries.store.Put(passed, c.passedKey(), true)
		c.libraries.store.Trim()
	}
}

// canPass reports whether no errors are known, and whether passedKey covers all that decides about others. It doesn't cover what
// cgo generates.
func (c *checker) canPass() bool {
	l := c.libraries
	return c.info == nil && len(c.found) == 0 && len(l.cgo[c.module]) == 0 && l.identity != filecache.Digest{}
}

// passedKey returns the key of the code's entry: the types of libraries, the program, and the module.
func (c *checker) passedKey() filecache.Digest {
	l, m := c.libraries, c.module
	about := fmt.Sprintf("%s %q %q %q %q", runtime.Version(), l.checker.Version, m.Path, m.GoVersion, l.imports([]*gosource.Module{m}))
	parts := [][]byte{[]byte(format), l.identity[:], []byte(about)}
	for _, name := range m.Names() {
		parts = append(parts, []byte(name), m.Files[name].Text)
	}
	return filecache.DigestOf(parts...)
}
