package textdiff

import "testing"

func TestApply(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		edits []Edit
		want  string
	}{
		{nil, "abcdef"},
		{[]Edit{{4, 5, "E"}, {0, 1, ""}, {6, 6, "!"}}, "bcdEf!"},
		{[]Edit{{1, 4, "X"}, {2, 3, "lost"}, {4, 4, "Y"}}, "aXYef"},
		{[]Edit{{2, 2, "1"}, {2, 2, "2"}}, "ab12cdef"},
	} {
		if got := string(Apply([]byte("abcdef"), test.edits)); got != test.want {
			t.Errorf("%v: %q, want %q", test.edits, got, test.want)
		}
	}
}
