package textdiff

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
)

func TestMatchWeighted(t *testing.T) {
	t.Parallel()
	// Pairing x excludes pairing both of a and b, which together weigh less.
	a, b := []string{"start", "x", "a", "b", "old", "end"}, []string{"start", "a", "b", "x", "new", "end"}
	for _, test := range []struct {
		heavy string
		want  []int
	}{
		{"x", []int{0, 3, -1, -1, -1, 5}},
		{"", []int{0, -1, 1, 2, -1, 5}},
	} {
		weight := func(i int) int32 {
			if a[i] == test.heavy {
				return 3
			}
			return 1
		}
		if got := match(len(a), len(b), weight, func(i, j int) bool { return a[i] == b[j] }); !slices.Equal(got, test.want) {
			t.Errorf("heavy %q: %v, want %v", test.heavy, got, test.want)
		}
	}
}

// TestMatchLarge verifies that texts whose table of all pairs would take 40 GB and more are matched in bounded memory, and
// lose no pair where few lines differ.
func TestMatchLarge(t *testing.T) {
	const count = 200_000
	text := func(name string) []string {
		lines := make([]string, count)
		for i := range lines {
			lines[i] = fmt.Sprint(name, i)
		}
		return lines
	}
	base := text("line ")
	edited := slices.Concat([]string{"added"}, base[:count/2], base[count/2+1000:])
	for i := 0; i < len(edited); i += 1000 {
		edited[i] = fmt.Sprint("changed ", i)
	}
	for name, test := range map[string]struct {
		other []string
		want  int
	}{
		"few differences":   {edited, count - 1000 - 199},
		"nothing in common": {text("other ")[:count/4], 0},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		pairs := MatchLines(base, test.other)
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 128 {
			t.Errorf("%s: allocated %d MiB", name, used)
		}
		got, last := 0, -1
		for i, j := range pairs {
			if j < 0 {
				continue
			}
			if j <= last || base[i] != test.other[j] {
				t.Fatalf("%s: line %d is paired with line %d", name, i, j)
			}
			got, last = got+1, j
		}
		if got != test.want {
			t.Errorf("%s: %d pairs, want %d", name, got, test.want)
		}
	}
}
