package project

import "testing"

func TestRaiseOperon(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ makefile, pinned, want string }{
		"older":          {"A = 1\nOPERON_VERSION ?= v0.9.0\nB = 2\n", "v0.9.0", "A = 1\nOPERON_VERSION ?= v0.10.0\nB = 2\n"},
		"older, CRLF":    {"OPERON_VERSION := v0.0.3\r\n", "v0.0.3", "OPERON_VERSION := v0.10.0\r\n"},
		"prerelease":     {"OPERON_VERSION=v0.10.0-rc.1", "v0.10.0-rc.1", "OPERON_VERSION=v0.10.0"},
		"with a comment": {"OPERON_VERSION ?= v0.9.0 # ours\n", "v0.9.0", "OPERON_VERSION ?= v0.10.0 # ours\n"},
		"the same":       {"OPERON_VERSION ?= v0.10.0\n", "v0.10.0", ""},
		"newer":          {"OPERON_VERSION ?= v1.0.0\n", "v1.0.0", ""},
		"latest":         {"OPERON_VERSION ?= latest\n", "", ""},
		"not a version":  {"OPERON_VERSION ?= v1.x\n", "", ""},
		"in a recipe":    {"\tOPERON_VERSION=v0.9.0 make\n", "", ""},
		"none":           {"all:\n", "", ""},
	} {
		if test.want == "" {
			test.want = test.makefile
		}
		if got := PinnedOperon([]byte(test.makefile)); got != test.pinned {
			t.Errorf("%s: PinnedOperon: got %q, want %q", name, got, test.pinned)
		}
		if got := string(RaiseOperon([]byte(test.makefile), "v0.10.0")); got != test.want {
			t.Errorf("%s: RaiseOperon: got %q, want %q", name, got, test.want)
		}
	}
}
