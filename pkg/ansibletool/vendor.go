package ansibletool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// CollectionsDir is the name of the directory that contains collections as NAMESPACE/NAME.
const CollectionsDir = "ansible_collections"

// maxVendored is the number of results that the cache keeps.
const maxVendored = 10

// A Vendor downloads the collections of requirements files with ansible-galaxy, for images that are built without network.
type Vendor struct {
	// CacheDir keeps the collections.
	CacheDir string
	// Offline uses only the cache, and collections in files and directories.
	Offline bool
	// Config is the file with the user's settings of Ansible, such as the servers of collections; empty is the defaults of Ansible. The
	// ansible.cfg of a project is not used, as in operator-sdk's image builds: it decides where collections and credentials go.
	Config string
	// Run runs ansible-galaxy in a directory with additional environment variables. The error is fs.ErrNotExist if it is not found.
	Run func(ctx context.Context, dir string, variables []string, out io.Writer, args ...string) error
}

// ErrGalaxyMissing means that ansible-galaxy is not installed.
var ErrGalaxyMissing = errors.New(Galaxy + " not found in PATH")

// Collections returns the directory with the collections of a requirements file, and of their dependencies, in its subdirectory
// CollectionsDir. Root is the project's directory, file the requirements file relative to it, data its content. The result for the
// same content is cached if all versions are exact.
func (v *Vendor) Collections(ctx context.Context, root, file string, data []byte) (string, error) {
	requirements, err := Requirements(file, data)
	if err != nil {
		return "", err
	}
	key, exact, err := v.key(root, requirements, data)
	if err != nil {
		return "", err
	}
	pointer := filepath.Join(v.CacheDir, key)
	if exact || v.Offline {
		if dir := v.cached(pointer); dir != "" {
			return dir, nil
		}
	}
	if err := os.MkdirAll(v.CacheDir, 0o755); err != nil {
		return "", err
	}
	temp, err := tempdir.New(v.CacheDir, "collections")
	if err != nil {
		return "", err
	}
	defer func() { _ = temp.Remove() }() // a later command removes what remains
	installed := filepath.Join(temp.Path, "new")
	if err := v.install(ctx, root, file, installed); err != nil {
		return "", err
	}
	content, err := contentHash(installed)
	if err != nil {
		return "", err
	}
	// The pointer comes first: other processes remove directories that none names.
	if err := os.WriteFile(filepath.Join(temp.Path, "pointer"), []byte(content), 0o600); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(temp.Path, "pointer"), pointer); err != nil {
		return "", err
	}
	dir := filepath.Join(v.CacheDir, content)
	if err := os.Rename(installed, dir); err != nil {
		if _, missing := os.Stat(dir); missing != nil {
			return "", err
		}
	}
	v.prune()
	return dir, nil
}

// cached returns the directory that the pointer of a key names, or "".
func (v *Vendor) cached(pointer string) string {
	name := contentOf(pointer)
	if name == "" {
		return ""
	}
	dir := filepath.Join(v.CacheDir, name)
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// contentOf returns the name of the directory in a pointer, or "".
func contentOf(pointer string) string {
	name, err := os.ReadFile(pointer)
	if err != nil || !contentName.Match(name) {
		return ""
	}
	return string(name)
}

// The names in the cache: pointers, and directories with collections.
var (
	pointerName = regexp.MustCompile(`^[0-9a-f]{16}$`)
	contentName = regexp.MustCompile(`^content-[0-9a-f]{16}$`)
)

// install runs ansible-galaxy.
func (v *Vendor) install(ctx context.Context, root, file, to string) error {
	args := []string{"collection", "install", "-r", filepath.FromSlash(file), "-p", to}
	if v.Offline {
		args = append(args, "--offline")
	}
	config := v.Config
	if config == "" { // without the variable, it would be ansible.cfg in root
		config = filepath.Join(filepath.Dir(to), "ansible.cfg")
		if err := os.WriteFile(config, nil, 0o600); err != nil {
			return err
		}
	}
	// Collections that this machine has, also those that Python packages contain, are no reason to leave one out.
	variables := []string{"ANSIBLE_COLLECTIONS_PATH=" + to, "ANSIBLE_COLLECTIONS_PATHS=" + to, "ANSIBLE_COLLECTIONS_SCAN_SYS_PATH=false", "ANSIBLE_NOCOLOR=true",
		"ANSIBLE_CONFIG=" + config}
	var output bytes.Buffer
	err := v.Run(ctx, root, variables, &output, args...)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrGalaxyMissing
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return galaxyError(output.String(), v.Offline, err)
	}
	entries, err := os.ReadDir(filepath.Join(to, CollectionsDir))
	if errors.Is(err, fs.ErrNotExist) { // an empty list
		return os.MkdirAll(filepath.Join(to, CollectionsDir), 0o755)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".info" && err == nil { // the server and the time of a download
			err = os.RemoveAll(filepath.Join(to, CollectionsDir, entry.Name()))
		}
	}
	return err
}

// unreachable matches the messages of ansible-galaxy about a server that does not respond.
var unreachable = regexp.MustCompile(`(?i)urlopen error|timed out|connection (refused|reset)|HTTP Code: 5|Could not satisfy`)

// galaxyError returns the error of ansible-galaxy with its message, which starts at the last "ERROR!".
func galaxyError(output string, offline bool, err error) error {
	text := strings.TrimSpace(output)
	if i := strings.LastIndex(text, "ERROR!"); i >= 0 {
		text = strings.TrimSpace(text[i+len("ERROR!"):])
	}
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		text = diag.Cause(err).Error()
	}
	fix := ""
	if unreachable.MatchString(text) {
		fix = "; check the network and the servers in your ansible.cfg, or add the collections to the project in collections/" + CollectionsDir
		if offline {
			fix = "; they are not in the cache, so run the command once without --offline"
		}
	}
	return fmt.Errorf("%s: %s%s", Galaxy, text, fix)
}

// prune removes the oldest results, and those that no pointer names.
func (v *Vendor) prune() {
	entries, err := os.ReadDir(v.CacheDir)
	if err != nil {
		return
	}
	var pointers []fs.FileInfo
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && pointerName.MatchString(entry.Name()) {
			pointers = append(pointers, info)
		}
	}
	slices.SortFunc(pointers, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	used := map[string]bool{}
	for i, info := range pointers {
		pointer := filepath.Join(v.CacheDir, info.Name())
		if i >= maxVendored {
			_ = os.Remove(pointer)
			continue
		}
		used[contentOf(pointer)] = true
	}
	for _, entry := range entries {
		if contentName.MatchString(entry.Name()) && !used[entry.Name()] {
			_ = os.RemoveAll(filepath.Join(v.CacheDir, entry.Name()))
		}
	}
}

// key returns the name of the result for the content of a requirements file and of the files that it names, and reports whether that
// content determines the result.
func (v *Vendor) key(root string, requirements []Requirement, data []byte) (key string, exact bool, err error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d\n%s", len(data), data)
	exact = true
	for _, r := range requirements {
		local := r.Source
		if local != "" && !filepath.IsAbs(local) {
			local = filepath.Join(root, filepath.FromSlash(local))
		}
		if _, err := os.Lstat(local); r.Source == "" || err != nil {
			exact = exact && r.isExact()
			continue
		}
		if err := hashTree(h, local); err != nil {
			return "", false, fmt.Errorf("reading %s: %w", filepath.ToSlash(r.Source), diag.Cause(err))
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], exact, nil
}

// contentHash returns the name of a directory with the collections in dir.
func contentHash(dir string) (string, error) {
	h := sha256.New()
	if err := hashTree(h, dir); err != nil {
		return "", err
	}
	return "content-" + hex.EncodeToString(h.Sum(nil))[:16], nil
}

// hashTree adds the names and the content of a file, or of all files in a directory, to a hash.
func hashTree(h hash.Hash, root string) error {
	return filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			fmt.Fprintf(h, "%q/\n", filepath.ToSlash(rel))
			return nil
		case !entry.Type().IsRegular():
			target, err := os.Readlink(name)
			fmt.Fprintf(h, "%q -> %q\n", filepath.ToSlash(rel), target)
			return err
		}
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%q %o %d\n", filepath.ToSlash(rel), info.Mode().Perm()&0o100, info.Size())
		_, err = io.Copy(h, file)
		return err
	})
}
