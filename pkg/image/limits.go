package image

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Limits bound what a bundle image may hold. They are far beyond what OLM takes, which is 1 MiB for a
// bundle, and far below what hurts.
type Limits struct {
	// Layers and Entries count the layers of an image, and the files and folders of all of them.
	Layers, Entries int
	// File, Bundle and Total are bytes after decompression: of a file of the bundle, of all of its files,
	// and of all layers. All reading of a compressed tarball around them takes no more than another Total.
	File, Bundle, Total int64
	// Memory is bytes of a compressed tarball that are kept, so that it is decompressed only once.
	Memory int64
	// Ratio is how many bytes one byte may become where there are more than RatioFrom of them.
	Ratio, RatioFrom int64
}

func (l Limits) orDefault() Limits {
	return Limits{
		Layers: orDefault(l.Layers, 128), Entries: orDefault(l.Entries, 50_000),
		File: orDefault(l.File, 16<<20), Bundle: orDefault(l.Bundle, 64<<20), Total: orDefault(l.Total, 512<<20),
		Memory: orDefault(l.Memory, 64<<20),
		Ratio:  orDefault(l.Ratio, 200), RatioFrom: orDefault(l.RatioFrom, 4<<20),
	}
}

func orDefault[N int | int64](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

// maxWindow is the memory that a zstd stream may ask for.
const maxWindow = 64 << 20

// metered counts what is read, and ends with its context.
type metered struct {
	ctx context.Context
	r   io.Reader
	n   int64
}

func (m *metered) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	return n, err
}

// unpacked is a stream without gzip or zstd around it. It fails where it becomes more than the limits let it.
func unpacked(packed *metered, limits Limits, what string) (stream *bounded, end func(), err error) {
	buffered := bufio.NewReader(packed)
	magic, _ := buffered.Peek(4) // a shorter stream is read, and found out, by who wants it
	b := &bounded{r: buffered, packed: packed, limits: limits, what: what}
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

// bounded is a stream after decompression.
type bounded struct {
	r      io.Reader
	packed *metered
	limits Limits
	what   string
	// before is what earlier streams of the same image gave, n what this one did.
	before, n int64
	// decompresses reports whether r is another stream than packed.
	decompresses bool
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.before+b.n > b.limits.Total:
		return 0, &LimitError{fmt.Sprintf("unpacks to more than %s", size(b.limits.Total))}
	case b.n > b.limits.RatioFrom && b.n/b.limits.Ratio > b.packed.n:
		return 0, &LimitError{fmt.Sprintf("unpacks to more than %d times its size, as decompression bombs do", b.limits.Ratio)}
	}
	return n, err
}

// LimitError is an image that is larger than a bundle may be.
type LimitError struct{ text string }

func (e *LimitError) Error() string { return e.text }

// size writes a number of bytes as people do.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
