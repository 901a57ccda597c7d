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

func TestConflictProblem(t *testing.T) {
	t.Parallel()
	for want, conflicts := range map[string][]Conflict{
		"merge conflict marker; resolve the conflict (lines 12-20)":          {{12, 20}},
		"merge conflict markers; resolve the conflicts (lines 12-20, 30-34)": {{12, 20}, {30, 34}},
	} {
		if got := ConflictProblem(conflicts); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
