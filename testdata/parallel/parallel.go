// Package parallel sets how many tests of a package run at the same time.
package parallel

import (
	"flag"
	"runtime"
	"strconv"
)

// Wait runs twice as many tests at the same time as there are processors, for packages whose tests mostly wait: for API servers,
// controllers, processes and delays. TestMain calls it. The flag -parallel takes precedence.
func Wait() {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if f := flag.Lookup("test.parallel"); f != nil && !set {
		_ = f.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))) // a number is valid
	}
}
