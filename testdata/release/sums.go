package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
)

// sum writes the checksums of all files, as sha256sum prints them, and signs them if there is a key.
func (r *release) sum(ctx context.Context) error {
	entries, err := os.ReadDir(r.file())
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, e := range entries {
		data, err := os.ReadFile(r.file(e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	if err := os.WriteFile(r.file(checksums), out.Bytes(), 0o644); err != nil || r.key == "" {
		return err
	}
	_, err = command{dir: r.stage, input: r.password + "\n"}.run(ctx, r.tool("minisign"), "-S", "-s", r.key,
		"-t", "checksums of Operon "+r.version, "-m", r.file(checksums))
	return err
}
