package controlplane

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// PackOptions are the options of Pack.
type PackOptions struct {
	// OS and Arch are the platform that the program is built for, as Go names them.
	OS, Arch string
	// Dir is an existing directory for temporary files.
	Dir string
	// Modified is the time of the files in the archive.
	Modified time.Time
	// Environ, Progress and Run are as in EnsureOptions.
	Environ  []string
	Progress func(message string)
	Run      func(ctx context.Context, command Command) error
}

// ArchiveName returns the name of the archive that Pack writes for a platform, such as
// operon-control-plane_1.36.3-linux-amd64-0123456789ab.tar.gz: Kubernetes version, platform, and a hash of the program's source.
func ArchiveName(os, arch string) (string, error) {
	prog, err := loadProgram()
	if err != nil {
		return "", err
	}
	return "operon-control-plane_" + prog.key(versions.Platform{OS: os, Arch: arch}) + ".tar.gz", nil
}

// Pack builds the program for a platform and writes it as a tar.gz archive: the file etcd, and hard links to it with the names of the other
// parts. The same source, Go release and time make the same bytes.
func Pack(ctx context.Context, o PackOptions, w io.Writer) error {
	prog, err := loadProgram()
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp(o.Dir, buildPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // the caller removes the rest with Dir
	target := versions.Platform{OS: o.OS, Arch: o.Arch}
	e, binary := EnsureOptions{Environ: o.Environ, Progress: o.Progress, Run: o.Run}, filepath.Join(work, programName)
	if err := e.compile(ctx, prog, target, filepath.Join(work, "src"), binary); err != nil {
		return err
	}
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return cmp.Or(pack(compressed, binary, target, o.Modified), compressed.Close())
}

func pack(w io.Writer, binary string, target versions.Platform, modified time.Time) error {
	content, size, err := openFile(binary)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	out := tar.NewWriter(w)
	parts := partsOf(target)
	first := executableOn(target.OS, parts[0])
	for i, part := range parts {
		header := &tar.Header{
			Name: executableOn(target.OS, part), Mode: 0o755, ModTime: modified, Uname: "root", Gname: "root", Format: tar.FormatUSTAR,
		}
		if i == 0 {
			header.Size = size
		} else {
			header.Typeflag, header.Linkname = tar.TypeLink, first
		}
		if err := out.WriteHeader(header); err != nil {
			return fmt.Errorf("archiving %s: %w", part, err)
		}
		if i > 0 {
			continue
		}
		if _, err := io.Copy(out, content); err != nil {
			return fmt.Errorf("archiving %s: %w", part, err)
		}
	}
	return out.Close()
}
