package images

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// packageManager is apt-get with lists, status and downloads of its own in a directory, so that it changes nothing on this machine.
type packageManager struct {
	dir string
	// arch is an architecture of Debian.
	arch string
}

func (m packageManager) archives() string { return filepath.Join(m.dir, "cache", "archives") }

// apt runs apt-get as if no package were installed.
func (m packageManager) apt(ctx context.Context, archives string, args ...string) (string, error) {
	parts := filepath.Join(m.dir, "sources")
	for _, dir := range []string{filepath.Join(m.dir, "state", "lists", "partial"), filepath.Join(archives, "partial"), parts} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
	}
	list, stanzas, err := machineSources()
	if err != nil {
		return "", err
	}
	status := filepath.Join(m.dir, "status")
	for name, text := range map[string]string{status: "", filepath.Join(parts, "debian.list"): list, filepath.Join(parts, "debian.sources"): stanzas} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	options := []string{
		"-o", "Dir::State=" + filepath.Join(m.dir, "state"), "-o", "Dir::State::status=" + status, "-o", "Dir::Cache=" + filepath.Join(m.dir, "cache"),
		"-o", "Dir::Cache::archives=" + archives, "-o", "APT::Architecture=" + m.arch, "-o", "APT::Architectures::=" + m.arch,
		"-o", "Acquire::Languages=none", "-o", "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
		"-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User=", "--no-install-recommends", "-qq", "-y",
	}
	if list+stanzas != "" {
		options = append(options, "-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Dir::Etc::sourceparts="+parts)
	}
	return output(ctx, "apt-get", append(options, args...)...)
}

// update fetches the package lists.
func (m packageManager) update(ctx context.Context) error {
	_, err := m.apt(ctx, m.archives(), "update")
	return err
}

// list returns the names of the files of packages and of all that they depend on, in alphabetical order. It fails without lists.
func (m packageManager) list(ctx context.Context, packages []string) ([]string, error) {
	// Files that are in the archives already would not be listed.
	out, err := m.apt(ctx, filepath.Join(m.dir, "none"), append([]string{"install", "--print-uris"}, packages...)...)
	if err != nil {
		return nil, err
	}
	var names []string
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) >= 3 { // 'URI' FILE SIZE HASH
			names = append(names, fields[1])
		}
	}
	slices.Sort(names)
	return names, nil
}

// download fetches packages and all that they depend on into the archives.
func (m packageManager) download(ctx context.Context, packages []string) error {
	_, err := m.apt(ctx, m.archives(), append([]string{"install", "--download-only"}, packages...)...)
	return err
}

// unpackDeb unpacks the files of a package below root, without those that skip reports.
func unpackDeb(ctx context.Context, deb, root string, skip func(name string) bool) error {
	cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", deb)
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = unpackTar(out, root, skip)
	if err != nil {
		_ = cmd.Process.Kill()
	}
	if waitErr := cmd.Wait(); err == nil && waitErr != nil {
		err = fmt.Errorf("dpkg-deb: %w\n%s", waitErr, &errOut)
	}
	return err
}

// merged returns the name of a file of a package in a system whose directories /bin, /lib and so on are links into /usr.
func merged(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "bin", "sbin", "lib", "lib32", "lib64", "libx32":
		return "usr/" + name
	}
	return name
}

func unpackTar(from io.Reader, root string, skip func(name string) bool) error {
	files := tar.NewReader(from)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := merged(h.Name)
		if name == "" || skip(name) {
			continue
		}
		if err := unpackEntry(h, files, filepath.Join(root, name), root); err != nil {
			return err
		}
	}
}

func unpackEntry(h *tar.Header, content io.Reader, to, root string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(to, 0o755)
	case tar.TypeSymlink:
		if info, err := os.Lstat(to); err == nil && info.IsDir() {
			return nil // a link such as /bin, which merged replaces
		}
		return os.Symlink(h.Linkname, to)
	case tar.TypeLink:
		return os.Link(filepath.Join(root, merged(h.Linkname)), to)
	case tar.TypeReg:
		file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644|fs.FileMode(h.Mode)&0o111)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	}
	return fmt.Errorf("%s: unsupported type %q", h.Name, h.Typeflag)
}
