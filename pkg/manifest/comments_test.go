package manifest_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// TestKeepComments checks that every comment is found again after encoding, and that nothing moves the second time.
func TestKeepComments(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"heads":          "# 1\n\n# 2\nb: 1\n# 3\na: 2\n",
		"lines":          "b: 1 # 1\na: x # 2\n",
		"behind a key":   "b: # 1\n  c: 1\na: # 2\n- 1\n",
		"lists":          "a:\n# 1\n- x # 2\n# 3\n- z\n",
		"objects":        "a:\n# 1\n- name: b # 2\n  # 3\n  c: d\n# 4\n- name: a\n",
		"feet":           "a:\n  b: 1\n  # 1\nc: 2\n# 2\n",
		"feet apart":     "a:\n  b: 1\n  # 1\n\nc: 2\n\n# 2\n",
		"last of a list": "a:\n- b\n# 1\n\nc: d\n",
		"flow":           "b: [1, 2] # 1\na: {x: 1} # 2\n",
		"blocks":         "a: |\n  # no comment\n# 1\nb: >-  # 2\n  x\n",
		"folded":         "a: " + strings.Repeat("word ", 40) + "# 1\n",
		"quoted":         "a: '# no comment'\nb: \"x # neither\" # 1\n",
		"windows":        "# 1\r\nb: 1 # 2\r\n# 3\r\na: 1\r\n",
		"marker":         "---\n# 1\na: 1\n",
		"same elements":  "a:\n- x # 1\n- x # 2\n",
	} {
		var object any
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(name, err)
		}
		plain, err := manifest.Encode(object)
		if err != nil {
			t.Fatal(err)
		}
		got := string(manifest.KeepComments([]byte(text), plain))
		comment := regexp.MustCompile(`# \d`)
		want := comment.FindAllString(text, -1)
		have := comment.FindAllString(got, -1)
		slices.Sort(want)
		slices.Sort(have)
		if !slices.Equal(want, have) {
			t.Errorf("%s: %s became\n%s", name, text, got)
		}
		var after any
		if err := yaml.Unmarshal([]byte(got), &after); err != nil {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
		if again, err := manifest.Encode(after); err != nil || string(again) != string(plain) {
			t.Errorf("%s: the values changed:\n%s", name, got)
		}
		if again := string(manifest.KeepComments([]byte(got), plain)); again != got {
			t.Errorf("%s: the second time gives\n%s\nafter\n%s", name, again, got)
		}
	}
}

// FuzzKeepComments checks that comments never change a value.
func FuzzKeepComments(f *testing.F) {
	f.Add([]byte("# a\nb: # c\n- d # e\n# f\n\n# g\nh: |\n  # i\n"))
	f.Add([]byte("a: {b: [c]} # d\n? e\n: f # g\n--- # h\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var object any
		if yaml.Unmarshal(text, &object) != nil {
			return
		}
		if _, ok := object.(map[string]any); !ok {
			return
		}
		plain, err := manifest.Encode(object)
		if err != nil {
			return
		}
		got := manifest.KeepComments(text, plain)
		var after any
		if err := yaml.Unmarshal(got, &after); err != nil {
			t.Fatalf("%v: %q became %q", err, text, got)
		}
		if again, err := manifest.Encode(after); err != nil || string(again) != string(plain) {
			t.Fatalf("%q changed the values: %q", text, got)
		}
	})
}
