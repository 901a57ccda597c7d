package gosource

import "testing"

func TestClimb(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to string
		up       int
		want     string
		ok       bool
	}{
		{"internal/controller", "internal/controller/cache", 2, "../../..", true},
		{"internal/controller/cache", "internal/controller", 3, "../..", true},
		{"internal/controller/cache", "internal/controller", 1, ".", true},
		{"api/v1", "api/cache/v1", 1, "../..", true},
		{"api/v1", "api/cache/v1", 3, "", false},
	} {
		got, ok := climb(test.from, test.to, test.up)
		text := ""
		for i, part := range got {
			if i > 0 {
				text += "/"
			}
			text += part
		}
		if ok && text == "" {
			text = "."
		}
		if text != test.want || ok != test.ok {
			t.Errorf("climb(%s, %s, %d) is %q, %t; want %q", test.from, test.to, test.up, text, ok, test.want)
		}
	}
}
