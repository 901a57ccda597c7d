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
		"base-files", "bash", "coreutils", "dash", "debianutils", "findutils", "grep", "gzip", "libc-bin", "mawk", "sed", "tar",
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

// AnsibleBase returns an OCI layout with the base image of Ansible operators: Python, Ansible, ansible-runner and the Python client of
// Kubernetes, from Debian's packages. It is built unless it is in the cache. It needs apt-get and dpkg-deb, but neither root nor the package
// lists of this machine. With refresh, the lists are updated first. Architectures are those of Go, with that of this machine, which is also the
// default.
func AnsibleBase(ctx context.Context, cacheDir string, refresh bool, say func(string), architectures ...string) (string, error) {
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
	b := ansibleBuilder{cacheDir: cacheDir, architectures: architectures, say: say}
	if len(architectures) == 0 {
		b.architectures = []string{runtime.GOARCH}
	}
	if !slices.Contains(b.architectures, runtime.GOARCH) {
		return "", fmt.Errorf("the architectures must include that of this machine, %s, whose Python compiles for all", runtime.GOARCH)
	}
	if !refresh {
		// Packages in the lists may have been replaced by newer ones.
		if layout, err := b.build(ctx, false); err == nil || ctx.Err() != nil {
			return layout, err
		}
	}
	return b.build(ctx, true)
}

// ansibleBuilder builds the base image in the directory cacheDir.
type ansibleBuilder struct {
	cacheDir      string
	architectures []string
	say           func(string)
}

func (b *ansibleBuilder) apt(architecture string) packageManager {
	return packageManager{dir: filepath.Join(b.cacheDir, "apt-"+architecture), arch: architecture}
}

// build returns the layout of the packages in the lists, which it may update before.
func (b *ansibleBuilder) build(ctx context.Context, update bool) (string, error) {
	hash := sha256.New()
	hash.Write(ansibleSource)
	names := map[string][]string{}
	for _, architecture := range b.architectures {
		apt := b.apt(architecture)
		if update {
			b.say("updating the package lists")
			if err := apt.update(ctx); err != nil {
				return "", err
			}
		}
		list, err := apt.list(ctx, ansiblePackages())
		if err != nil {
			return "", err
		}
		names[architecture] = list
		fmt.Fprintln(hash, architecture, list)
	}
	layout := filepath.Join(b.cacheDir, hex.EncodeToString(hash.Sum(nil))[:16])
	if _, err := os.Stat(layout); err == nil {
		return layout, nil
	}
	b.say("building the base image of Ansible operators from Debian's packages, once")
	roots := filepath.Join(b.cacheDir, "roots")
	if err := os.RemoveAll(roots); err != nil { // an interrupted build left it
		return "", err
	}
	defer func() { _ = os.RemoveAll(roots) }()
	for _, architecture := range b.architectures {
		if err := b.unpack(ctx, architecture, names[architecture], filepath.Join(roots, architecture)); err != nil {
			return "", err
		}
	}
	for _, architecture := range b.architectures {
		// The Python of this machine's architecture compiles for the others, too.
		if err := compilePython(ctx, filepath.Join(roots, runtime.GOARCH), filepath.Join(roots, architecture)); err != nil {
			return "", err
		}
	}
	return layout, b.writeAnsibleBase(ctx, roots, layout)
}

// unpack downloads packages and unpacks them in a directory.
func (b *ansibleBuilder) unpack(ctx context.Context, architecture string, names []string, root string) error {
	apt := b.apt(architecture)
	if err := apt.download(ctx, ansiblePackages()); err != nil {
		return err
	}
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
	return nil
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

// compilePython adds bytecode to the Python files below root with the interpreter in another directory. Without bytecode each start of
// Ansible takes seconds longer, because the user of the container cannot write it.
func compilePython(ctx context.Context, interpreter, root string) error {
	loaders, err := filepath.Glob(filepath.Join(interpreter, "usr/lib/*-linux-gnu*/ld-linux-*"))
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
			cmd := exec.CommandContext(ctx, loaders[0], "--library-path", filepath.Dir(loaders[0]), filepath.Join(interpreter, "usr/bin/python3"), "-m", "compileall", "-q", "-q",
				"--invalidation-mode", "unchecked-hash", "-s", root, "-p", "/", dir)
			cmd.Env = []string{"PYTHONHOME=" + filepath.Join(interpreter, "usr"), "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("compiling Python: %w\n%s", err, out)
			}
			return nil
		})
	}
	return group.Wait()
}

// writeAnsibleBase writes the image of the files in the directory of each architecture to an OCI layout.
func (b *ansibleBuilder) writeAnsibleBase(ctx context.Context, roots, layout string) error {
	user, at := image.User{Name: "ansible", ID: 1001, GID: 0, Home: "/opt/ansible"}, time.Unix(0, 0).UTC()
	base, err := image.BaseLayer(user, at)
	if err != nil {
		return err
	}
	var parts []image.Part
	for _, architecture := range b.architectures {
		files, err := filesBelow(filepath.Join(roots, architecture))
		if err != nil {
			return err
		}
		files = append(files,
			image.Text("etc/nsswitch.conf", 0o644, []byte("passwd: files\ngroup: files\nhosts: files dns\n")),
			image.File{Name: "usr/bin/awk", Link: "mawk"},
			image.File{Name: "usr/bin/which", Link: "which.debianutils"},
			// Dockerfiles of operators for operator-sdk's image refer to this file and to the variables below.
			image.File{Name: "tini", Link: "usr/bin/tini"},
		)
		packages, err := image.NewLayer("Python, Ansible and ansible-runner from Debian's packages", files, at)
		if err != nil {
			return err
		}
		parts = append(parts, image.Part{Platform: "linux/" + architecture, Layers: []*image.Layer{packages, base}})
	}
	built, err := image.Options{}.Build(ctx, image.Recipe{
		Base: image.Scratch, Parts: parts,
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
