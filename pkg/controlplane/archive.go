package controlplane

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/operon-sdk/operon/pkg/buildinfo"
	"github.com/operon-sdk/operon/pkg/transport"
)

// An Archive is a file of a release with the program that Ensure otherwise builds, as Pack writes it.
type Archive struct {
	// URL is where the release has the file; it must begin with https.
	URL string
	// SHA256 is the digest of the file, in hexadecimal.
	SHA256 string
}

// mirrorVariable names the environment variable with EnsureOptions.Mirror.
const mirrorVariable = "OPERON_MIRROR"

// maxArchive bounds an archive and the program in it, in bytes. They have about 45 and 145 MB.
const maxArchive = 1 << 30

// releaseArchive returns the archive that belongs to this program; nil if it isn't from a release.
func releaseArchive() *Archive {
	address, digest := buildinfo.ControlPlane()
	if address == "" {
		return nil
	}
	return &Archive{URL: address, SHA256: digest}
}

// unpackRelease unpacks the program from the archive to a new file, with its temporary files in the directory work. It reports false if there is
// no archive or, without a mirror, if it can't be downloaded.
func (o *EnsureOptions) unpackRelease(ctx context.Context, work, program string) (bool, error) {
	switch {
	case o.Archive == nil && o.Mirror != "":
		o.reportf("%s isn't used: this build of Operon doesn't belong to a release", mirrorVariable)
		return false, nil
	case o.Archive == nil || o.Mirror == "" && slices.Contains(o.Environ, "GOPROXY=off"):
		return false, nil
	}
	o.reportf("getting etcd and kube-apiserver v%s from the release, once", Version)
	file := filepath.Join(work, "archive")
	err := o.fetch(ctx, file)
	if err == nil {
		err = unpack(file, program)
	}
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case o.Mirror != "":
		mirror := o.Mirror
		if address := o.mirrorURL(); address != nil {
			mirror = address.Redacted()
		}
		return false, fmt.Errorf("%s=%s: %w; copy the archive from the release again, or unset the variable", mirrorVariable, mirror, err)
	}
	o.reportf("the release's control plane can't be used: %v", err)
	return false, nil
}

// fetch copies the archive to a file, and compares its digest.
func (o *EnsureOptions) fetch(ctx context.Context, file string) error {
	content, size, err := o.openArchive(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was only read
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	sum := sha256.New()
	var received atomic.Int64
	stop := o.reportRegularly(ctx, func(time.Duration) string {
		if size < 0 {
			return fmt.Sprintf("downloading: %d MB", received.Load()/1e6)
		}
		return fmt.Sprintf("downloading: %d of %d MB", received.Load()/1e6, size/1e6)
	})
	_, err = io.Copy(io.MultiWriter(out, sum, (*counter)(&received)), io.LimitReader(content, maxArchive))
	stop()
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != o.Archive.SHA256 {
		return fmt.Errorf("%s has the SHA-256 digest %s instead of %s", path.Base(o.Archive.URL), got, o.Archive.SHA256)
	}
	return nil
}

// counter counts the bytes written to it.
type counter atomic.Int64

func (c *counter) Write(p []byte) (int, error) {
	(*atomic.Int64)(c).Add(int64(len(p)))
	return len(p), nil
}

// openArchive opens the archive in the directory of the mirror, or requests it. The size is -1 if unknown.
func (o *EnsureOptions) openArchive(ctx context.Context) (content io.ReadCloser, size int64, err error) {
	address, name := o.Archive.URL, path.Base(o.Archive.URL)
	if mirror := o.mirrorURL(); mirror != nil {
		address = mirror.JoinPath(name).String()
	} else if o.Mirror != "" {
		return openFile(filepath.Join(o.Mirror, name))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, 0, err
	}
	if err := requireTLS(request, nil); err != nil {
		return nil, 0, err
	}
	client := http.Client{Transport: &transport.Transport{Base: o.HTTP}, CheckRedirect: requireTLS}
	response, err := client.Do(request)
	if err != nil {
		return nil, 0, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, 0, fmt.Errorf("%s: %s", request.URL.Redacted(), response.Status)
	}
	return response.Body, response.ContentLength, nil
}

// mirrorURL returns the URL of the mirror; nil if it is a directory or there is none.
func (o *EnsureOptions) mirrorURL() *url.URL {
	mirror, err := url.Parse(o.Mirror)
	if err != nil || mirror.Host == "" {
		return nil
	}
	return mirror
}

func openFile(name string) (io.ReadCloser, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// requireTLS refuses requests and redirects without TLS, and endless redirects.
func requireTLS(request *http.Request, via []*http.Request) error {
	switch {
	case request.URL.Scheme != "https":
		return fmt.Errorf("%s: must be an https URL", request.URL.Redacted())
	case len(via) >= 10:
		return errors.New("stopped after 10 redirects")
	}
	return nil
}

// unpack writes the first file of an archive to a new program. The others are links to it.
func unpack(archive, program string) error {
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	compressed, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	content := tar.NewReader(compressed)
	header, err := content.Next()
	if err != nil {
		return fmt.Errorf("reading the archive: %w", err)
	}
	if header.Typeflag != tar.TypeReg || header.Size > maxArchive {
		return fmt.Errorf("%s in the archive isn't a program", header.Name)
	}
	out, err := os.OpenFile(program, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return errors.Join(err, out.Close())
}
