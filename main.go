// Operon creates, builds and publishes Kubernetes operators, and runs them under OLM.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"

	"github.com/operon-sdk/operon/cmd"
	_ "github.com/operon-sdk/operon/pkg/startup"
)

// gcPercent is the default of GOGC. Most commands run for a fraction of a second and, with Go's default of 100, spend a
// quarter of it in the garbage collector. With 400, new pages of memory take longer than the collector would: validating
// 50 bundles takes 1.3 times as long as with 200.
const gcPercent = 200

// memoryLimit is the default of GOMEMLIMIT in bytes, a soft limit: above it, the garbage collector works more often. Commands
// need at most 512 MiB.
const memoryLimit = 400 << 20

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	env, err := cmd.System()
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: finding the working directory: %v\n", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), cmd.EndSignals()...)
	code := cmd.Main(ctx, env, os.Args)
	stop()
	os.Exit(code)
}
