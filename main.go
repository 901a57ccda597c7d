// Operon takes an operator author from an empty folder to an operator running under OLM.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/operon-sdk/operon/cmd"
	_ "github.com/operon-sdk/operon/pkg/startup"
)

func main() {
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
