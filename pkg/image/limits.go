package image

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Limits bounds the content of an image. A field that is zero has its default, which is far above the 1 MiB that OLM accepts
// for a bundle.
type Limits struct {
	// Layers and Entries bound the number of layers, and of files and directories in all layers.
	Layers, Entries int
	// File, Bundle and Total bound bytes after decompression: of a file of the bundle, of all its files, and of all layers.
	// A compressed tarball around the layers has another Total.
	File, Bundle, Total int64
	// Memory bounds the bytes of a compressed tarball that are kept to avoid decompressing it again.
	Memory int64
	// Ratio bounds the compression ratio of streams with more than RatioFrom bytes after decompression.
	Ratio, RatioFrom int64
}

func (l Limits) orDefault() Limits {
	return Limits{
		Layers: cmp.Or(l.Layers, 128), Entries: cmp.Or(l.Entries, 50_000),
		File: cmp.Or(l.File, 16<<20), Bundle: cmp.Or(l.Bundle, 64<<20), Total: cmp.Or(l.Total, 512<<20),
		Memory: cmp.Or(l.Memory, 64<<20),
		Ratio:  cmp.Or(l.Ratio, 200), RatioFrom: cmp.Or(l.RatioFrom, 4<<20),
	}
}

// maxWindow bounds the memory that a zstd stream may require, in bytes.
const maxWindow = 64 << 20

// meteredReader counts the bytes that are read, and fails when its context ends.
type meteredReader struct {
	ctx context.Context
	r   io.Reader
	n   int64
}

func (m *meteredReader) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	return n, err
}

// decompress returns a stream within limits of packed, which may be compressed with gzip or zstd. The caller calls end.
func decompress(packed *meteredReader, limits Limits) (stream *limitedReader, end func(), err error) {
	buffered := bufio.NewReader(packed)
	magic, _ := buffered.Peek(4) // the reader of the stream reports a shorter one
	b := &limitedReader{r: buffered, packed: packed, limits: limits}
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, err
		}
		b.r, b.decompresses = z, true
		return b, func() { z.Close() }, nil
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, err
		}
		b.r, b.decompresses = z, true
		return b, z.Close, nil
	}
	return b, func() {}, nil
}

// limitedReader is a stream after decompression.
type limitedReader struct {
	r      io.Reader
	packed *meteredReader
	limits Limits
	// before counts the bytes of the image's earlier streams, n the bytes of this one.
	before, n int64
	// decompresses reports whether packed is compressed.
	decompresses bool
}

func (b *limitedReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.before+b.n > b.limits.Total:
		return 0, &limitError{fmt.Sprintf("exceeds %s when decompressed", formatSize(b.limits.Total))}
	case b.n > b.limits.RatioFrom && b.n/b.limits.Ratio > b.packed.n:
		return 0, &limitError{fmt.Sprintf("decompresses to more than %d times its size", b.limits.Ratio)}
	}
	return n, err
}

// A limitError reports an image that exceeds Limits.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// formatSize formats a number of bytes.
func formatSize(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
