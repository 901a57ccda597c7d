package textdiff

import (
	"slices"
	"testing"
)

func TestConflicts(t *testing.T) {
	t.Parallel()
	const conflict = "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> feature\n"
	for _, test := range []struct {
		text string
		want []Conflict
	}{
		{"", nil},
		{conflict, []Conflict{{1, 5}}},
		{"a\n" + conflict + "b\n" + conflict, []Conflict{{2, 6}, {8, 12}}},
		{"<<<<<<< HEAD\r\n=======\r\n>>>>>>> feature\r\n", []Conflict{{1, 3}}},
		{"<<<<<<< HEAD\nx\n||||||| base\nb\n=======\ny\n>>>>>>> feature", []Conflict{{1, 7}}},
		{"<<<<<<< HEAD\n<<<<<<< HEAD\n=======\n>>>>>>> feature\n", []Conflict{{2, 4}}},
		{"Heading\n=======\n>>>>>>> quoted\n", nil},
		{"<<<<<<< HEAD\nx\n>>>>>>> feature\n", nil},
		{"<<<<<<< HEAD\nx\n=======\ny\n", nil},
		{"<<<<<<< HEAD\nx\n========\ny\n>>>>>>> feature\n", nil},
		{"  <<<<<<< HEAD\n  =======\n  >>>>>>> feature\n", nil},
		{"<<<<<<<\n=======\n>>>>>>>\n", nil},
	} {
		if got := Conflicts([]byte(test.text)); !slices.Equal(got, test.want) {
			t.Errorf("%q\n got %v\nwant %v", test.text, got, test.want)
		}
	}
}

func TestConflictFindings(t *testing.T) {
	t.Parallel()
	const conflict = "<<<<<<< a\n=======\n>>>>>>> b\n"
	for text, want := range map[string]string{
		"text\n":                              "",
		"text\n" + conflict:                   "f:2: merge conflict marker; resolve the conflict (lines 2-4)",
		conflict + "text\n" + conflict + "\n": "f:1: merge conflict markers; resolve the conflicts (lines 1-3, 5-7)",
	} {
		if got := ConflictFindings("f", []byte(text)); got.Error() != want {
			t.Errorf("ConflictFindings(%q) = %q, want %q", text, got, want)
		}
	}
}
