// Operon takes an operator author from an empty folder to an operator running under OLM.
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

// gcPercent is how much the heap may grow between garbage collections, in percent, unless GOGC sets it. Most commands
// end within a fraction of a second, a quarter of which they spend in the collector by Go's default of 100.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	env, err := cmd.System()
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: finding the working directory: %v\n", err)
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cmd.Main(ctx, env, os.Args)
	stop()
	os.Exit(code)
}
