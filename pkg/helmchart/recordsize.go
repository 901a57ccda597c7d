package helmchart

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
)

// MaxRecord is the size of a release's record in bytes from which the chart is reported: a Secret has at most 1 MiB, and the record contains
// the values and the notes, too.
const MaxRecord = 960 << 10

// recordSize adds a note if the objects that a chart renders with its default values are too large for one record of a release.
func (r *ruler) recordSize(rendered *Rendered) {
	for _, set := range rendered.Sets {
		if set.Name != defaultValues || set.Error != "" {
			continue
		}
		if size := recordSize(set.Objects); size > MaxRecord {
			r.notef("Chart.yaml", "with default values, a compressed release has about %d KiB and does not fit into one Secret; the operator stores it in several, which the helm command can't read", size>>10)
		}
	}
}

// recordSize returns the size of objects as they are stored. Objects that are small anyway are not compressed.
func recordSize(objects []RenderedObject) int {
	var plain []byte
	for _, o := range objects {
		if data, err := json.Marshal(o.Object); err == nil {
			plain = append(plain, data...)
		}
	}
	if len(plain) < MaxRecord/2 {
		return len(plain)
	}
	return StoredSize(plain)
}

// StoredSize returns how many bytes Helm stores for a record in JSON: it is compressed, and encoded in base64.
func StoredSize(record []byte) int {
	var counter countingWriter
	compressed, err := gzip.NewWriterLevel(&counter, gzip.BestCompression)
	if err != nil {
		return 0
	}
	_, _ = compressed.Write(record) // the counter has no errors
	if err := compressed.Close(); err != nil {
		return 0
	}
	return base64.StdEncoding.EncodedLen(int(counter))
}

type countingWriter int

func (w *countingWriter) Write(p []byte) (int, error) {
	*w += countingWriter(len(p))
	return len(p), nil
}
