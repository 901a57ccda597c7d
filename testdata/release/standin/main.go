// Standin stands in for operon and operon-runtime in tests of releases.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	switch args := os.Args[1:]; args[0] {
	case "-q": // -q docs man DIR
		if err := writePages(args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	case "version": // version -o json
		fmt.Println(`{"version": "v1.2.3-rc.1"}`)
	case "completion":
		fmt.Println("# completes operon in", args[1])
	}
}

func writePages(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"operon", "operon-version"} {
		if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(name+" "+os.Getenv("SOURCE_DATE_EPOCH")+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}
