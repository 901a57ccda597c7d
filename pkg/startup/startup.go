// Package startup delays the first garbage collection of the process. It is imported for this effect only.
package startup

import "runtime"

// minHeap is the size of the ballast in bytes. The first collection that takes time starts when 70 to 95 percent of it
// have been allocated.
const minHeap = 16 << 20

// The packages that Operon links allocate about 10 MB while they are initialized, half of it in gobuffalo/flect. The
// runtime starts collecting at 4 MB, so three collections run before main, which is a quarter of the time of a short
// command. A collection sets the size of the heap at which the next one starts to twice the size in use. A collection
// with minHeap bytes in use and little else is cheap; it is the ballast's only purpose. No page of the ballast is written,
// so it needs no memory. The next collection frees it.
//
// debug.SetGCPercent would be more direct. But packages are initialized in the order of their import paths, once their
// imports are initialized: runtime/debug is initialized after flect, package runtime before it.
func init() {
	// Packages that Operon links refer to the profile of allocations, so the runtime records it. Nobody reads it.
	runtime.MemProfileRate = 0
	ballast := make([]byte, minHeap)
	runtime.GC()
	runtime.KeepAlive(ballast)
}
