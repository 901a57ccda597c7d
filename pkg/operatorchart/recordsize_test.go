package operatorchart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

// TestRecordSize checks that a chart that Helm can't store is recognized.
func TestRecordSize(t *testing.T) {
	chart, err := Make(golden(t, "memcached"))
	if err != nil {
		t.Fatal(err)
	}
	if size := RecordSize(chart.Files); size < 4<<10 || size > 64<<10 {
		t.Errorf("a small chart has %d bytes", size)
	}
	var text strings.Builder
	for i := range 20_000 { // texts that can't be compressed much
		sum := sha256.Sum256(fmt.Append(nil, i))
		fmt.Fprintf(&text, "  x%d: %s\n", i, hex.EncodeToString(sum[:]))
	}
	chart.Files["templates/crd/large.yaml"] = []byte(text.String())
	if size := RecordSize(chart.Files); size < helmchart.MaxRecord {
		t.Errorf("a large chart has %d bytes", size)
	}
}
