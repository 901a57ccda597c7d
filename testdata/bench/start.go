package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// initialization matches the line that GODEBUG=inittrace=1 prints for a package: bytes and objects that it allocates.
var initialization = regexp.MustCompile(`(?m)^init \S+ @.*, (\d+) bytes, (\d+) allocs$`)

// ballast is the package that allocates memory which it does not use.
var ballast = regexp.MustCompile(`(?m)^init \S+/operon/pkg/startup .*\n`)

// printStarts prints what programs allocate before main: unlike times, these numbers do not depend on the machine.
func (b *bench) printStarts() error {
	fmt.Printf("\n%-42s %10s %10s %10s\n", "before main", "packages", "MiB", "objects")
	for _, program := range []string{b.operon, filepath.Join(b.peers, "kubebuilder"), filepath.Join(b.peers, "kustomize")} {
		c := exec.Command(program, "version")
		c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := c.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s version: %w\n%s", program, err, out)
		}
		lines := initialization.FindAllSubmatch(ballast.ReplaceAll(out, nil), -1)
		var bytes, objects int
		for _, line := range lines {
			n, errBytes := strconv.Atoi(string(line[1]))
			m, errObjects := strconv.Atoi(string(line[2]))
			if errBytes != nil || errObjects != nil {
				return fmt.Errorf("%s version: %q is not a line of inittrace", program, line[0])
			}
			bytes, objects = bytes+n, objects+m
		}
		fmt.Printf("%-42s %10d %10.1f %10d\n", filepath.Base(program), len(initialization.FindAllIndex(out, -1)), float64(bytes)/(1<<20), objects)
	}
	return nil
}
