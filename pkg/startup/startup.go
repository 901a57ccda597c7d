// Package startup delays the first garbage collection of the process. It is imported for this effect only.
package startup

import "runtime"

// minHeap is the size of the ballast in bytes. The first collection that takes time starts when 70 to 95 percent of it
// have been allocated.
const minHeap = 16 << 20

// The packages that Operon links allocate about 10 MB while they are initialized, half of it in gobuffalo/flect. The
// runtime starts collecting at 4 MB, so three collections run before main, which is a quarter of the time of a short
// command. A collection sets the size of the heap at which the next one starts to twice what is in use. One that
// finds minHeap bytes in use and next to nothing else is cheap; it is the ballast's only purpose. No page of the ballast
// is written, so it needs no memory, and it is freed by the next collection, after which the usual pace applies.
//
// debug.SetGCPercent would say it more directly. But packages are initialized in the order of their import paths as soon
// as what they import is initialized, and runtime/debug comes after flect; the runtime package comes first.
func init() {
	ballast := make([]byte, minHeap)
	runtime.GC()
	runtime.KeepAlive(ballast)
}
