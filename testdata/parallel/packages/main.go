// Packages prints how many test binaries make test runs at the same time: half as many again as there are processors, as one of them often
// waits for a control plane, a compilation by another one, or its last test.
package main

import (
	"fmt"
	"runtime"
)

func main() { fmt.Println(max(1, runtime.GOMAXPROCS(0)*3/2)) }
