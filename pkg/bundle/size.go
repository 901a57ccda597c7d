package bundle

import (
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

const (
	// unpackLimit is the size of the ConfigMap that OLM unpacks a bundle into: all manifests and metadata but
	// annotations.yaml, each compressed and in base64 (operator-registry, pkg/configmap).
	unpackLimit = 1 << 20
	// objectLimit is the default limit of etcd for a request with an object.
	objectLimit = 3 << 19
	// nearLimit is the percentage of a limit above which a note is due.
	nearLimit = 85
)

// CheckSizes compares a bundle with the limits of OLM and etcd. files holds the files of the bundle by path relative to
// the project; dir is the bundle directory.
func CheckSizes(dir string, files map[string][]byte) (diag.Findings, error) {
	type sized struct {
		name          string
		plain, packed int
	}
	var (
		all      []sized
		total    sized
		notes    diag.Findings
		problems diag.Findings
	)
	// Compression takes most of the time; bundles that fit without it need none.
	pack := packedSize
	if packedAtMost(files) <= unpackLimit*nearLimit/100 {
		pack = func([]byte) int { return 0 }
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if name == path.Join(dir, AnnotationsFile) {
			continue
		}
		f := sized{name, len(files[name]), pack(files[name])}
		all = append(all, f)
		total.plain, total.packed = total.plain+f.plain, total.packed+f.packed
		switch size := objectSize(name, files[name]); {
		case size > objectLimit:
			problems.Addf(diag.Position{File: name},
				"is an object of %s, and a cluster accepts at most %s; shorten descriptions, remove examples, or split it", formatBytes(size), formatBytes(objectLimit))
		case size > objectLimit*nearLimit/100 || size > unpackLimit:
			notes = append(notes, diag.Finding{Object: name, Problem: fmt.Sprintf("is an object of %s; a cluster accepts at most %s", formatBytes(size), formatBytes(objectLimit)),
				Fix: "shorten it before it grows"})
		}
	}
	slices.SortStableFunc(all, func(a, b sized) int { return cmp.Compare(b.packed, a.packed) })
	var largest []string
	for _, f := range all[:min(3, len(all))] {
		largest = append(largest, fmt.Sprintf("%s %s", path.Base(f.name), formatBytes(f.packed)))
	}
	summary := fmt.Sprintf("%s compressed (%s plain), and the ConfigMap that OLM unpacks it into holds %s; the largest are %s",
		formatBytes(total.packed), formatBytes(total.plain), formatBytes(unpackLimit), strings.Join(largest, ", "))
	switch {
	case total.packed > unpackLimit:
		problems = append(problems, diag.Finding{Position: diag.Position{File: dir},
			Problem: "is a bundle of " + summary + ": make them smaller, for instance with controller-gen's crd:maxDescLen=0 or a smaller icon"})
	case total.packed > unpackLimit*nearLimit/100:
		notes = append(notes, diag.Finding{Object: dir, Problem: "is a bundle of " + summary})
	}
	return notes, problems.Err()
}

// packedSize returns the size of a file in OLM's ConfigMap.
func packedSize(data []byte) int {
	var n counter
	z := gzip.NewWriter(&n)
	// A counter returns no error.
	_, _ = z.Write(data)
	_ = z.Close()
	return base64.StdEncoding.EncodedLen(int(n))
}

// packedAtMost returns an upper bound of the sum of packedSize over files. Incompressible data grows by 5 bytes for each
// block of at least 16 KiB, and by 28 bytes in all.
func packedAtMost(files map[string][]byte) int {
	total := 0
	for _, data := range files {
		total += base64.StdEncoding.EncodedLen(len(data) + 5*(len(data)>>14) + 28)
	}
	return total
}

// objectSize returns the size of a manifest's object as JSON. Small files are not decoded: YAML is hardly ever half as
// long as its JSON.
func objectSize(name string, data []byte) int {
	if len(data) < unpackLimit/2 {
		return len(data)
	}
	objects, _ := manifest.Decode(name, data)
	size := 0
	for _, o := range objects {
		size = max(size, o.Size())
	}
	return size
}

type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// formatBytes returns a size in a readable unit and in bytes.
func formatBytes(n int) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	if n < 1<<20 {
		return fmt.Sprintf("%.0f KiB (%d bytes)", float64(n)/(1<<10), n)
	}
	return fmt.Sprintf("%.2f MiB (%d bytes)", float64(n)/(1<<20), n)
}
