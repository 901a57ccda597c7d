// Fuzz runs all fuzz targets of packages, each for a limited time. The go command writes a failing input to the testdata of
// the package, and prints how to run it again.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	each := flag.Duration("time", 5*time.Second, "how long each target runs")
	flag.Parse()
	if err := run(*each, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(each time.Duration, packages []string) error {
	targets, err := list(packages)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return errors.New("no fuzz targets found")
	}
	var failed []string
	for _, t := range targets {
		// Making a failing input smaller is worth a second in CI, not the minute it gets by default.
		cmd := exec.Command("go", "test", "-run", "^$", "-fuzz", "^"+t.name+"$", "-fuzztime", each.String(), "-fuzzminimizetime", "1s", t.pkg)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil && !outOfTime(out) {
			failed = append(failed, t.pkg+" "+t.name)
			fmt.Printf("FAIL %s %s\n%s", t.pkg, t.name, out)
			continue
		}
		fmt.Printf("ok   %s %s (%s)\n", t.pkg, t.name, time.Since(start).Round(time.Second))
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d fuzz targets failed: %s", len(failed), len(targets), strings.Join(failed, ", "))
	}
	return nil
}

// outOfTime reports whether the time limit ended a slow input, which the go command sometimes reports as a failure.
func outOfTime(out []byte) bool {
	return bytes.Contains(out, []byte("context deadline exceeded")) && !bytes.Contains(out, []byte("Failing input written to"))
}

type target struct{ pkg, name string }

// list lists targets with the go command, which prints the targets of a package and then the package.
func list(packages []string) ([]target, error) {
	cmd := exec.Command("go", append([]string{"test", "-list", "^Fuzz"}, packages...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing fuzz targets: %w\n%s", err, out)
	}
	var all []target
	var names []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) == 1 && strings.HasPrefix(fields[0], "Fuzz"):
			names = append(names, fields[0])
		case len(fields) > 1 && fields[0] == "ok":
			for _, name := range names {
				all = append(all, target{fields[1], name})
			}
			names = nil
		}
	}
	return all, nil
}
