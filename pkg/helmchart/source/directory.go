package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/ignore"

	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/vcs"
)

// readDirectory returns the files of a chart's directory, without the files that .helmignore excludes and without directories of version
// control. Symbolic links are followed within the directory.
func readDirectory(dir string, b *budget) (helmchart.Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = root.Close() }()
	d := &directory{root: root, budget: b, rules: ignore.Empty(), files: helmchart.Files{}}
	if data, err := root.ReadFile(ignore.HelmIgnore); err == nil {
		if d.rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("%s: %w", ignore.HelmIgnore, shorten(err))
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", ignore.HelmIgnore, withoutPath(err))
	}
	d.rules.AddDefaults()
	info, err := root.Stat(".")
	if err != nil {
		return nil, withoutPath(err)
	}
	if err := d.read(".", []fs.FileInfo{info}); err != nil {
		return nil, err
	}
	return d.files, nil
}

// A directory is read by readDirectory.
type directory struct {
	root   *os.Root
	budget *budget
	rules  *ignore.Rules
	files  helmchart.Files
}

// maxNesting is the number of nested directories.
const maxNesting = 50

// read reads the files of a directory and those below it. The last of parents is the directory.
func (d *directory) read(dir string, parents []fs.FileInfo) error {
	if len(parents) > maxNesting {
		return fmt.Errorf("%s: more than %d nested directories", dir, maxNesting)
	}
	entries, err := fs.ReadDir(d.root.FS(), dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, withoutPath(err))
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		info, err := d.root.Stat(name)
		if err != nil && entry.Type()&fs.ModeSymlink != 0 {
			if ignored(d.rules, name, entry) {
				continue
			}
			return fmt.Errorf("%s: the symbolic link does not point to a file in the directory of the chart; replace it with a copy", name)
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, withoutPath(err))
		}
		if vcs.Element(entry.Name()) != "" || d.rules.Ignore(name, info) {
			continue
		}
		switch {
		case info.IsDir():
			if slices.ContainsFunc(parents, func(parent fs.FileInfo) bool { return os.SameFile(parent, info) }) {
				return fmt.Errorf("%s: the symbolic link points to a directory that contains it", name)
			}
			if err := d.budget.spend(0); err != nil {
				return err
			}
			if err := d.read(name, append(slices.Clip(parents), info)); err != nil {
				return err
			}
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: neither a file nor a directory", name)
		default:
			if err := d.readFile(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// readFile reads a file, which may grow meanwhile.
func (d *directory) readFile(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, withoutPath(err))
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, d.budget.bytes+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, withoutPath(err))
	}
	if err := d.budget.spend(int64(len(data))); err != nil {
		return err
	}
	d.files[name] = bytes.TrimPrefix(data, byteOrderMark)
	return nil
}

// ignored reports whether rules exclude a symbolic link without a target.
func ignored(rules *ignore.Rules, name string, entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && rules.Ignore(name, info)
}

// withoutPath removes the path from an error of package os, as the context has it in the form that the user wrote.
func withoutPath(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err
	}
	return err
}

func archiveDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// filesDigest returns the digest of the files of a directory, as helmchart.Origin defines it.
func filesDigest(files helmchart.Files) string {
	hash := sha256.New()
	for _, name := range sortedKeys(files) {
		fmt.Fprintf(hash, "%s\x00%d\x00", name, len(files[name]))
		_, _ = hash.Write(files[name])
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// isHidden reports whether Helm ignores a file or directory of this name in charts/.
func isHidden(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }
