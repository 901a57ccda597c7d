package images

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gofrs/flock"
)

// Source is the folder of the module that the programs are built from, in the checkout.
const Source = "testdata/e2e/images/src"

// The packages of Source: what every cluster runs and small programs, and those of OLM.
const (
	ClusterPackages = "./..."
	OLMPackages     = "tool"
)

// Box is the folder of the program that stands in for the images of scorecard, in the checkout.
const Box = "testdata/e2e/images/box"

// buildTags leave out what opm's libraries need C for.
const buildTags = "-tags=containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper"

// Build builds packages of Source, unless it has done so before, and returns the folder that their programs are in,
// which is called after the sources' content. root is the checkout's; say is told what takes time.
func Build(ctx context.Context, root, cacheDir, packages string, say func(string)) (string, error) {
	cacheDir = filepath.Join(cacheDir, "images")
	src := filepath.Join(root, Source)
	args := []string{"build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", buildTags}
	key, err := hash(src, append(args, packages))
	if err != nil {
		return "", fmt.Errorf("reading the sources in %s: %w", Source, err)
	}
	dir := filepath.Join(cacheDir, key)
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(cacheDir, "lock"))
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("locking the cache of builds: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	say("building " + packages + " of " + Source + ", once")
	work, err := filepath.Abs(filepath.Join(cacheDir, "build"))
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(work); err != nil { // of a build that was interrupted
		return "", err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return "", err
	}
	if err := goRun(ctx, src, append(args, "-o", work+string(filepath.Separator), packages)...); err != nil {
		return "", errors.Join(fmt.Errorf("building %s: %w", Source, err), os.RemoveAll(work))
	}
	return dir, os.Rename(work, dir)
}

func goRun(ctx context.Context, dir string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, output.Bytes())
	}
	return nil
}

// hash names what goes into a build: all files of a module, and how it is built.
func hash(src string, args []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.GOARCH, args)
	err := filepath.WalkDir(src, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative := strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(src))
		fmt.Fprintf(h, "%s %d\n", relative, len(data))
		h.Write(data)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}
