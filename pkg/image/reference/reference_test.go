package reference

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0a", 32)
	for _, test := range []struct{ ref, problem, suggestion string }{
		{"memcached", "", ""}, {"memcached:1.6.39-alpine", "", ""}, {"quay.io/a/b_c/d--e:v1", "", ""}, {"localhost:5000/a", "", ""},
		{"a@sha256:" + sum, "", ""}, {"a:1@sha256:" + sum, "", ""}, {"[::1]:5000/a:1", "", ""}, {"a__b", "", ""}, {"Registry.example.com/a", "", ""},
		{"", "is required", ""},
		{"Memcached", `must be in lower case before the tag; character 1 is 'M'`, "memcached"},
		{"quay.io/team/myOperator:V1", `must be in lower case before the tag; character 16 is 'O'`, "quay.io/team/myoperator:V1"},
		{"Team/operator", `must be in lower case before the tag; character 1 is 'T'`, "team/operator"},
		{"docker://memcached:1", "must be an image reference such as registry.example.com/team/operator:v1, without docker://", "memcached:1"},
		{"https://quay.io/a/b:1", "must be an image reference such as registry.example.com/team/operator:v1, without https://", "quay.io/a/b:1"},
		{"user:secret@quay.io/a", "must not contain a user and password", ""},
		{" memcached", "must not contain spaces", "memcached"},
		{"mem cached", "must not contain spaces", ""},
		{"memcached:", "must have a tag after the colon", "memcached"},
		{"memcached:-1", `tag "-1" must consist of letters, digits`, ""},
		{"memcached:größe", `tag "größe" must consist of letters, digits`, ""},
		{"memcached:a:b", `character 10 must not be ':'; names consist of`, ""},
		{"memcached@sha256:abc", `digest "sha256:abc" must have 64`, ""},
		{"memcached@md5:abc", `digest "md5:abc" must be sha256:`, ""},
		{"a//b", "must have a name before, between and after slashes", ""},
		{"/a", "must have a name before, between and after slashes", "a"},
		{"a/", "must have a name before, between and after slashes", "a"},
		{"a..b", `character 2, '.', must be alone between letters or digits`, ""},
		{"a___b", `character 2, '_', must be alone between letters or digits`, ""},
		{"a._b", `character 2, '.', must be alone between letters or digits`, ""},
		{"b/-a", `character 3, '-', must be alone between letters or digits`, ""},
		{"a-", `character 2, '-', must be alone between letters or digits`, ""},
		{"quay.io:x/a", `registry "quay.io:x" must have a port from 1 to 65535`, ""},
		{"quay.io:70000/a", `registry "quay.io:70000" must have a port from 1 to 65535`, ""},
		{"-x.io/a", `registry "-x.io" must be a valid host name`, ""},
		{"x..io/a", `registry "x..io" must be a valid host name`, ""},
		{"[::1/a", `registry "[::1" must be an IPv6 address in brackets`, ""},
		{sum, "must be a name, not an image ID", ""},
		{strings.Repeat("a/", 130) + "a", "must have at most 255 characters before the tag", ""},
		{"a:" + strings.Repeat("a", 129), "must have a tag of at most 128", ""},
		{"größe", `character 3 must not be 'ö'; names consist of`, ""},
		{"quay.io/größe/a!", `character 11 must not be 'ö'; names consist of`, ""},
	} {
		problem, suggestion := "", ""
		if err := Check(test.ref); err != nil {
			problem, suggestion = err.Error(), Suggest(test.ref)
		}
		if !strings.HasPrefix(problem, test.problem) || problem != "" && test.problem == "" || suggestion != test.suggestion {
			t.Errorf("%q: got %q, suggested %q; want %q, %q", test.ref, problem, suggestion, test.problem, test.suggestion)
		}
	}
}
