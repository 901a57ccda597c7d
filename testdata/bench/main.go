// Bench compares the speed of Operon with that of kubebuilder, controller-gen and kustomize, built from the module proxy at the
// versions of peers/go.mod. Every row runs both sides alternately, so that the ratio is valid on a busy machine, too, and
// prints medians. In the end it prints what each program allocates before main.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

func main() {
	program := flag.String("operon", "", "the operon `binary` to measure")
	rounds := flag.Int("rounds", 7, "counted `runs` of each side of a row, after one to warm up")
	only := flag.String("only", "", "a regular `expression` for the names of the rows to measure (default: all)")
	flag.Parse()
	if err := run(*program, *rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(program string, rounds int, only string) error {
	selected, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	program, err = filepath.Abs(program)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "operon-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Println("==> building kubebuilder, controller-gen and kustomize (about a minute with cold caches)")
	peers, err := buildPeers(filepath.Join(dir, "bin"))
	if err != nil {
		return err
	}
	b := &bench{operon: program, peers: peers, dir: dir, rounds: rounds, start: time.Now().UnixNano()}
	fmt.Printf("==> %d runs of each side, %s/%s, %d processors\n\n", rounds, runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Printf("%-42s %10s %10s %7s %9s %9s\n", "", "operon", "peer", "ratio", "MiB", "peer MiB")
	for _, row := range b.rows() {
		if !selected.MatchString(row.name) {
			continue
		}
		result, err := b.measure(row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		fmt.Println(result)
	}
	return b.printStarts()
}
