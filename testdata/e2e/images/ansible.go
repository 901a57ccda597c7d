package images

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/spf13/afero"
	"golang.org/x/sync/errgroup"

	"github.com/operon-sdk/operon/pkg/image"
)

// ansiblePackages returns Debian's packages of the base image of Ansible operators, and what tasks of roles expect in any image. Packages that
// these depend on are added.
func ansiblePackages() []string {
	return []string{
		"ansible", "ansible-core", "python3-ansible-runner", "python3-kubernetes", "python3-minimal", "tini",
		"base-files", "bash", "coreutils", "dash", "findutils", "grep", "gzip", "libc-bin", "mawk", "sed", "tar",
	}
}

// ansibleUnused returns packages that others depend on, but that nothing in the image uses.
func ansibleUnused() []string {
	return []string{"adduser", "debconf", "dpkg", "ieee-data", "openssh-client", "passwd", "sshpass"}
}

// ansibleCollections returns the collections of the package ansible that the image contains; all of them are 290 MB.
func ansibleCollections() []string { return []string{"cloud", "kubernetes"} }

// ansibleSource is this file, which determines the content of the image, too.
//
//go:embed ansible.go
var ansibleSource []byte

// AnsibleBase returns an OCI layout with the base image of Ansible operators, for this machine's architecture: Python, Ansible, ansible-runner
// and the Python client of Kubernetes, from Debian's packages. It is built unless it is in the cache. It needs apt-get and dpkg-deb, but
// neither root nor the package lists of this machine. With refresh, the lists are updated first.
func AnsibleBase(ctx context.Context, cacheDir string, refresh bool, say func(string)) (string, error) {
	cacheDir, err := filepath.Abs(filepath.Join(cacheDir, "ansible"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cacheDir, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(filepath.Join(cacheDir, "lock"))
	if err := lock.Lock(); err != nil {
		return "", fmt.Errorf("locking the cache of packages: %w", err)
	}
	defer func() { _ = lock.Close() }()
	apt := packageManager{dir: filepath.Join(cacheDir, "apt"), arch: runtime.GOARCH}
	names, err := apt.list(ctx, ansiblePackages())
	for attempt := 0; ; attempt++ {
		if err == nil && (!refresh || attempt > 0) {
			sum := sha256.Sum256([]byte(strings.Join(names, "\n") + string(ansibleSource)))
			layout := filepath.Join(cacheDir, hex.EncodeToString(sum[:])[:16])
			if _, err := os.Stat(layout); err == nil {
				return layout, nil
			}
			say("building the base image of Ansible operators from Debian's packages, once")
			// A newer version may have replaced one in the lists.
			if err = apt.download(ctx, ansiblePackages()); err == nil {
				return layout, buildAnsibleBase(ctx, apt, names, filepath.Join(cacheDir, "root"), layout)
			}
		}
		if attempt > 0 {
			return "", err
		}
		say("updating the package lists")
		if err := apt.update(ctx); err != nil {
			return "", err
		}
		names, err = apt.list(ctx, ansiblePackages())
	}
}

// buildAnsibleBase builds the image from downloaded packages, in a directory root.
func buildAnsibleBase(ctx context.Context, apt packageManager, names []string, root, layout string) error {
	if err := os.RemoveAll(root); err != nil { // an interrupted build left it
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.MkdirAll(filepath.Join(root, "usr", link), 0o755); err != nil {
			return err
		}
		if err := os.Symlink("usr/"+link, filepath.Join(root, link)); err != nil {
			return err
		}
	}
	for _, name := range names {
		if pkg, _, _ := strings.Cut(name, "_"); slices.Contains(ansibleUnused(), pkg) {
			continue
		}
		if err := unpackDeb(ctx, filepath.Join(apt.archives(), name), root, isUnusedFile); err != nil {
			return fmt.Errorf("unpacking %s: %w", name, err)
		}
	}
	if err := compilePython(ctx, root); err != nil {
		return err
	}
	return writeAnsibleBase(ctx, root, layout)
}

// isUnusedFile reports whether the image does not need a file of the packages.
func isUnusedFile(name string) bool {
	for _, dir := range []string{"doc", "man", "locale", "info", "lintian", "bug", "bash-completion", "common-licenses", "perl5", "zsh", "vim"} {
		if strings.HasPrefix(name, "usr/share/"+dir+"/") {
			return true
		}
	}
	_, collection, _ := strings.Cut(name, "/ansible_collections/")
	namespace, _, inside := strings.Cut(collection, "/")
	return inside && !slices.Contains(ansibleCollections(), namespace)
}

// compilePython adds bytecode to the Python files below root with the interpreter in it. Without bytecode each start of Ansible takes seconds
// longer, because the user of the container cannot write it.
func compilePython(ctx context.Context, root string) error {
	loaders, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu*/ld-linux-*"))
	if err != nil || len(loaders) == 0 {
		return errors.Join(err, errors.New("the packages contain no dynamic linker"))
	}
	lib := filepath.Join(root, "usr/lib")
	stdlib, err := filepath.Glob(filepath.Join(lib, "python3.*"))
	if err != nil || len(stdlib) == 0 {
		return errors.Join(err, errors.New("the packages contain no Python library"))
	}
	// The bytecode has hashes of its sources instead of their times, as the layer changes these, and no paths of this machine. compileall
	// could not start processes of its own, as these would run without the linker.
	var group errgroup.Group
	for _, dir := range []string{stdlib[0], filepath.Join(lib, "python3/dist-packages")} {
		group.Go(func() error {
			cmd := exec.CommandContext(ctx, loaders[0], "--library-path", filepath.Dir(loaders[0]), filepath.Join(root, "usr/bin/python3"), "-m", "compileall", "-q", "-q",
				"--invalidation-mode", "unchecked-hash", "-s", root, "-p", "/", dir)
			cmd.Env = []string{"PYTHONHOME=" + filepath.Join(root, "usr"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("compiling Python: %w\n%s", err, out)
			}
			return nil
		})
	}
	return group.Wait()
}

// writeAnsibleBase writes the image of the files below root to an OCI layout.
func writeAnsibleBase(ctx context.Context, root, layout string) error {
	user, at := image.User{Name: "ansible", ID: 1001, GID: 0, Home: "/opt/ansible"}, time.Unix(0, 0).UTC()
	base, err := image.BaseLayer(user, at)
	if err != nil {
		return err
	}
	files, err := filesBelow(root)
	if err != nil {
		return err
	}
	files = append(files,
		image.Text("etc/nsswitch.conf", 0o644, []byte("passwd: files\ngroup: files\nhosts: files dns\n")),
		image.File{Name: "usr/bin/awk", Link: "mawk"},
		// Dockerfiles of operators for operator-sdk's image refer to this file and to the variables below.
		image.File{Name: "tini", Link: "usr/bin/tini"},
	)
	packages, err := image.NewLayer("Python, Ansible and ansible-runner from Debian's packages", files, at)
	if err != nil {
		return err
	}
	built, err := image.Options{}.Build(ctx, image.Recipe{
		Base: image.Scratch, Parts: []image.Part{{Platform: "linux/" + runtime.GOARCH, Layers: []*image.Layer{packages, base}}},
		User: user.String(), Dir: user.Home, Entrypoint: []string{"/tini", "--"}, Cmd: []string{"/bin/bash"}, Created: at, Author: "operon e2e",
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + user.Home, "USER=" + user.Name, "USER_UID=1001", "USER_NAME=" + user.Name, "LANG=C.UTF-8"},
	})
	if err != nil {
		return err
	}
	temp := layout + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return err
	}
	if err := image.WriteLayout(ctx, afero.NewOsFs(), temp, []*image.Image{built}); err != nil {
		return err
	}
	return os.Rename(temp, layout)
}

// filesBelow returns all files, directories and links below a directory as files of a layer that are owned by root.
func filesBelow(root string) ([]image.File, error) {
	var files []image.File
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == root {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		file := image.File{Name: rel, Mode: int64(info.Mode().Perm())}
		switch {
		case info.IsDir():
			file.Name += "/"
		case info.Mode()&fs.ModeSymlink != 0:
			file.Link, err = os.Readlink(name)
		default:
			file.Size, file.Open = info.Size(), func() (io.ReadCloser, error) { return os.Open(name) }
		}
		files = append(files, file)
		return err
	})
	return files, err
}

// output runs a program and returns what it prints.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", name, err, &out, &errOut)
	}
	return out.String(), nil
}
