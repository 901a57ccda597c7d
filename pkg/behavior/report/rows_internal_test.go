package report

import (
	"slices"
	"testing"
	"time"

	"github.com/operon-sdk/operon/pkg/behavior"
)

// TestRows draws steps that go on at the same time below each other.
func TestRows(t *testing.T) {
	t.Parallel()
	var steps []behavior.Step
	for _, period := range [][2]int64{{0, 5}, {5, 9}, {6, 8}, {7, 20}, {8, 10}, {9, 12}} {
		steps = append(steps, behavior.Step{Start: time.Unix(period[0], 0), End: time.Unix(period[1], 0)})
	}
	if rows, count := rowsOf(steps); count != 3 || !slices.Equal(rows, []int{0, 0, 1, 2, 1, 0}) {
		t.Errorf("%d rows: %v", count, rows)
	}
	if _, count := rowsOf(nil); count != 0 {
		t.Errorf("%d rows without steps", count)
	}
}
