package merge

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		base, ours, theirs, want string
		conflicts                int
	}{
		{"a b c", "a b c", "a b c", "a b c", 0},
		{"a b c", "A b c", "a b C", "A b C", 0},
		{"a b c", "a c", "a b c d", "a c d", 0},
		{"a b c", "x a b c", "a b", "x a b", 0},
		{"", "a", "a", "a", 0},
		{"", "", "a", "a", 0},
		{"a b c", "a X c", "a X c", "a X c", 0},
		{"a b c", "a X c", "a Y c", "a < X = Y > c", 1},
		{"a b c", "a X Z c", "a Y Z c", "a < X = Y > Z c", 1},
		{"a b c", "a c", "a Y c", "a < = Y > c", 1},
		{"", "a b", "a c", "a < b = c >", 1},
		{"a b c d e", "1 b c d 2", "3 b c d 4", "< 1 = 3 > b c d < 2 = 4 >", 2},
	} {
		got, conflicts := Lines(column(test.base), column(test.ours), column(test.theirs), Options{})
		if text := strings.NewReplacer("<<<<<<<", "<", ">>>>>>>", ">", "=======", "=").Replace(strings.Join(strings.Fields(string(got)), " ")); text != test.want || conflicts != test.conflicts {
			t.Errorf("%q, %q, %q: got %q, %d; want %q, %d", test.base, test.ours, test.theirs, text, conflicts, test.want, test.conflicts)
		}
	}
	for side, want := range map[Side]string{Ours: "1 b 2", Theirs: "3 b 4"} {
		if got, conflicts := Lines(column("a b c"), column("1 b 2"), column("3 b 4"), Options{Side: side}); string(got) != string(column(want)) || conflicts != 0 {
			t.Errorf("got %q, %d", got, conflicts)
		}
	}
}

func column(words string) []byte {
	return []byte(strings.Join(slices.Collect(strings.FieldsSeq(words)), "\n") + strings.Repeat("\n", min(1, len(words))))
}

// Random edits of distinct lines that are not neighbors never conflict, and all of both sides is in the result.
func TestLinesKeepEdits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var base, ours, theirs, want []string
		for i := range 40 {
			line := fmt.Sprintf("line %d\n", i%7*100+i)
			base = append(base, line)
			a, b, both := line, line, line
			if i%2 == 1 {
				change := []string{"", "edited " + line, line + "added " + line}[r.IntN(3)]
				switch r.IntN(4) {
				case 0:
					a, both = change, change
				case 1:
					b, both = change, change
				}
			}
			ours, theirs, want = append(ours, a), append(theirs, b), append(want, both)
		}
		text := func(lines []string) []byte { return []byte(strings.Join(lines, "")) }
		got, conflicts := Lines(text(base), text(ours), text(theirs), Options{})
		if conflicts != 0 || string(got) != string(text(want)) {
			t.Fatalf("seed %d: %d conflicts, got\n%s\nwant\n%s", seed, conflicts, got, text(want))
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	options := FilesOptions{
		Options:     Options{OursLabel: "yours", TheirsLabel: "app 2.0.0"},
		IsGenerated: func(name string) bool { return strings.HasSuffix(name, ".tgz") },
		IsTemplate:  func(name string) bool { return strings.HasPrefix(name, "templates/") },
	}
	files := func(pairs ...string) map[string][]byte {
		m := map[string][]byte{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = []byte(pairs[i+1])
		}
		return m
	}
	const list = "image:\n  tag: \"1\" # the version\n  pullPolicy: Always\nreplicas: 1\n"
	for name, test := range map[string]struct {
		base, ours, theirs, want map[string][]byte
		merged                   []string
		side                     Side
	}{
		"untouched":               {base: files("a", "1\n", "b", "1\n"), ours: files("a", "1\n", "b", "1\n"), theirs: files("a", "2\n", "c", ""), want: files("a", "2\n", "c", "")},
		"edited only by the user": {base: files("a", "1\n"), ours: files("a", "2\n", "mine", "x"), theirs: files("a", "1\n"), want: files("a", "2\n", "mine", "x")},
		"templates by lines": {base: files("templates/a.yaml", "{{ if .x }}\na: 1\n{{ end }}\nb: 1\n"), ours: files("templates/a.yaml", "{{ if .x }}\na: 2\n{{ end }}\nb: 1\n"),
			theirs: files("templates/a.yaml", "{{ if .x }}\na: 1\n{{ end }}\nb: 2\n"), want: files("templates/a.yaml", "{{ if .x }}\na: 2\n{{ end }}\nb: 2\n")},
		"conflict in a template": {base: files("templates/a.yaml", "a: 1\n"), ours: files("templates/a.yaml", "a: 2\n"), theirs: files("templates/a.yaml", "a: 3\n"),
			want: files("templates/a.yaml", "<<<<<<< yours\na: 2\n=======\na: 3\n>>>>>>> app 2.0.0\n"), merged: []string{"templates/a.yaml: both sides changed the same lines"}},
		"neighboring values": {base: files("values.yaml", list), ours: files("values.yaml", strings.Replace(list, "Always", "Never", 1)),
			theirs: files("values.yaml", strings.Replace(list, `"1"`, `"2"`, 1)), want: files("values.yaml", strings.NewReplacer(`"1"`, `"2"`, "Always", "Never").Replace(list))},
		"the same value": {base: files("values.yaml", list), ours: files("values.yaml", strings.Replace(list, `"1"`, `"mine"`, 1)),
			theirs: files("values.yaml", strings.Replace(list, `"1"`, `"2"`, 1)), want: files("values.yaml", strings.Replace(list, `"1"`, `"mine"`, 1)),
			merged: []string{"values.yaml: your values are kept where the new version has others: image.tag"}},
		"the same key at two places": {base: files("values.yaml", "a: 1\nb: 1\n"), ours: files("values.yaml", "c: 1\na: 1\nb: 1\n"), theirs: files("values.yaml", "a: 1\nb: 1\nc: 1\n"),
			want: files("values.yaml", "c: 1\na: 1\nb: 1\n")},
		"deleted": {base: files("gone", "1\n", "mine", "1\n", "theirs", "1\n", "changed", "1\n"), ours: files("gone", "1\n", "theirs", "2\n"), theirs: files("mine", "1\n", "changed", "2\n"),
			want: files("theirs", "2\n"), merged: []string{"changed: you deleted it; the new version changes it", "theirs: you edited it; the new version does not have it"}},
		"binary and generated": {base: files("logo.png", "\x001", "charts/a.tgz", "1"), ours: files("logo.png", "\x002", "charts/a.tgz", "2"), theirs: files("logo.png", "\x003", "charts/a.tgz", "1"),
			want: files("logo.png", "\x003", "charts/a.tgz", "1"), merged: []string{"logo.png: your version is replaced, since the file cannot be merged"}},
		"line ends": {base: files("a", "1\n2\n3\n", "b", "1\n"), ours: files("a", "1\r\n2\r\nmine\r\n", "b", "1\r\n"), theirs: files("a", "theirs\n2\n3\n", "b", "2\n"),
			want: files("a", "theirs\r\n2\r\nmine\r\n", "b", "2\r\n")},
		"decided for the user":        {base: files("a", "1\n"), ours: files("a", "2\n"), theirs: files("a", "3\n"), want: files("a", "2\n"), side: Ours},
		"decided for the new version": {base: files("a", "1\n", "b", "1\n"), ours: files("a", "2\n"), theirs: files("a", "3\n", "b", "2\n"), want: files("a", "3\n", "b", "2\n"), side: Theirs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options
			o.Side = test.side
			result := Files(test.base, test.ours, test.theirs, o)
			if !maps.EqualFunc(result.Files, test.want, func(a, b []byte) bool { return string(a) == string(b) }) {
				t.Errorf("got %q, want %q", result.Files, test.want)
			}
			var merged []string
			for _, f := range result.Merged {
				merged = append(merged, f.String())
			}
			if !slices.Equal(merged, test.merged) {
				t.Errorf("got %q, want %q", merged, test.merged)
			}
		})
	}
}
