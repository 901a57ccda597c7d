package refactor

import "testing"

func TestMerge(t *testing.T) {
	t.Parallel()
	base := "alpha\nbravo\ncharlie\ndelta\necho\nfoxtrot\n"
	for name, test := range map[string]struct {
		mine, other, want string
		conflicts         int
	}{
		"untouched":            {base, "alpha\nBRAVO\ncharlie\ndelta\necho\nfoxtrot\n", "alpha\nBRAVO\ncharlie\ndelta\necho\nfoxtrot\n", 0},
		"changed other lines":  {"alpha\nbravo\nmine\ncharlie\ndelta\necho\n", "alpha\nbravo\ncharlie\ndelta\nECHO\nfoxtrot\n", "alpha\nbravo\nmine\ncharlie\ndelta\nECHO\n", 0},
		"added lines":          {"mine\n" + base, "alpha\nbravo\ncharlie\nnew\ndelta\necho\nfoxtrot\n", "mine\nalpha\nbravo\ncharlie\nnew\ndelta\necho\nfoxtrot\n", 0},
		"removed lines":        {base + "mine\n", "alpha\ndelta\necho\nfoxtrot\n", "alpha\ndelta\necho\nfoxtrot\nmine\n", 0},
		"the same line":        {"alpha\nmine\ncharlie\ndelta\necho\nfoxtrot\n", "alpha\nBRAVO\ncharlie\ndelta\necho\nfoxtrot\n", "alpha\nmine\ncharlie\ndelta\necho\nfoxtrot\n", 1},
		"made by hand already": {"alpha\nBRAVO\ncharlie\ndelta\necho\nmine\n", "alpha\nBRAVO\ncharlie\ndelta\necho\nfoxtrot\n", "alpha\nBRAVO\ncharlie\ndelta\necho\nmine\n", 0},
		"another file":         {"golf\nhotel\nindia\n}\n", "alpha\nBRAVO\ncharlie\ndelta\necho\nfoxtrot\n", "golf\nhotel\nindia\n}\n", 1},
		"line ends":            {"alpha\r\nbravo\r\ncharlie\r\ndelta\r\necho\r\nmine\r\n", "ALPHA\nbravo\ncharlie\ndelta\necho\nfoxtrot\n", "ALPHA\r\nbravo\r\ncharlie\r\ndelta\r\necho\r\nmine\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, conflicts := merge(base, test.mine, test.other)
			if got != test.want || len(conflicts) != test.conflicts {
				t.Errorf("got %q and %d conflicts, want %q and %d", got, len(conflicts), test.want, test.conflicts)
			}
		})
	}
}

// A line that a change removes may occur in another place of a file with the change.
func TestMergeRepeatedLines(t *testing.T) {
	t.Parallel()
	base := "kept\nalpha\nbravo\ncharlie\ndelta\nkept\n"
	other := "alpha\nbravo\ncharlie\ndelta\nkept\n"
	for mine, want := range map[string]int{"alpha\nbravo\ncharlie\nmine\nkept\n": 0, "golf\nkept\nhotel\nkept\n": 1} {
		if _, conflicts := merge(base, mine, other); len(conflicts) != want {
			t.Errorf("merge of %q: got conflicts %v, want %d", mine, conflicts, want)
		}
	}
}

// FuzzMerge checks that an unedited file becomes the other rendering, and that a merge with no change
// of the scaffold changes nothing.
func FuzzMerge(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\nd")
	f.Add("", "x\n\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		if got, conflicts := merge(a, a, b); got != b || len(conflicts) > 0 {
			t.Errorf("merge(a, a, b) = %q with %d conflicts, want %q", got, len(conflicts), b)
		}
		for _, h := range hunks(lines(a), lines(b)) {
			if h.From > h.To || h.OtherFrom > h.OtherTo {
				t.Errorf("invalid hunk %v", h)
			}
		}
	})
}
