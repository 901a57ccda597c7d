package operatorchart

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// RecordSize returns about how many bytes Helm stores for a release of a chart: its files, and what they render, which is as much.
func RecordSize(files Files) int {
	var rendered [][]byte
	for _, name := range slices.Sorted(maps.Keys(files)) {
		rendered = append(rendered, files[name])
	}
	record, err := json.Marshal(struct {
		Chart    Files
		Manifest string
	}{files, string(bytes.Join(rendered, nil))})
	if err != nil { // bytes and strings can be encoded
		panic(err)
	}
	return helmchart.StoredSize(record)
}
