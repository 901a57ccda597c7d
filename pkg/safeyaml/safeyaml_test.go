package safeyaml_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// numbered returns a text once for each number from 0 to n-1.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// laughs returns anchors of which each stands for ten of the one before it.
func laughs(n int) string {
	text := "a0: &a0 [x]\n"
	for i := 1; i < n; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return text
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// TestCheck holds that text is refused where it leaves the bounds, and not before.
func TestCheck(t *testing.T) {
	t.Parallel()
	const depth, keys = safeyaml.MaxDepth, safeyaml.MaxKeys
	deep := fmt.Sprintf("is nested more than %d levels deep", depth)
	many := fmt.Sprintf("contains more than %d values", safeyaml.MaxNodes)
	wide := fmt.Sprintf("is a mapping of more than %d keys", keys)
	for name, test := range map[string]struct{ within, beyond, want string }{
		"flow sequences":    {strings.Repeat("[", depth) + strings.Repeat("]", depth), "a:\n  " + strings.Repeat("[", depth), "line 2: " + deep},
		"flow mappings":     {strings.Repeat("{a: ", depth) + strings.Repeat("}", depth), strings.Repeat("{a: ", depth+1), "line 1: " + deep},
		"JSON":              {strings.Repeat("[", depth), "{\n" + strings.Repeat("\"a\":[", depth), "line 2: " + deep},
		"indentation":       {indented(depth), indented(depth + 1), fmt.Sprintf("line %d: %s", depth+1, deep)},
		"dashes":            {strings.Repeat("- ", depth) + "a", strings.Repeat("- ", depth+1) + "a", "line 1: " + deep},
		"UTF-16":            {"\xff\xfea\x00", "\xff\xfe" + strings.Repeat("[\x00", depth+1), "line 1: " + deep},
		"block scalar":      {"a: |\n " + strings.Repeat("[", depth+1) + "\n", "a: |\n b\n" + strings.Repeat("[", depth+1), "line 3: " + deep},
		"quotes":            {"a: '" + strings.Repeat("[", depth+1) + "'\nb: \"" + strings.Repeat("{", depth+1) + "\"", "a: 'it''s'\nb: " + strings.Repeat("[", depth+1), "line 2: " + deep},
		"comments":          {"# " + strings.Repeat("[", depth+1) + "\na: b # [", "a: b#\nc: " + strings.Repeat("[", depth+1), "line 2: " + deep},
		"plain text":        {"a: b " + strings.Repeat("[", depth+1), "a: b\n  c\nd: " + strings.Repeat("[", depth), "line 3: " + deep},
		"items":             {strings.Repeat("- a\n", safeyaml.MaxNodes/3-2), strings.Repeat("- a\n", safeyaml.MaxNodes/3), many},
		"documents":         {strings.Repeat("---\n", safeyaml.MaxNodes/2-1), strings.Repeat("---\n", safeyaml.MaxNodes/2), many},
		"keys":              {numbered(keys, "k%d: a\n"), numbered(keys+1, "k%d: a\n"), fmt.Sprintf("line %d: %s", keys+1, wide)},
		"flow keys":         {"{" + numbered(keys-1, "k%d, ") + "a}", "{" + numbered(keys+1, "k%d: a, ") + "}", "line 1: " + wide},
		"keys of mappings":  {numbered(20, "m%d:\n"+numbered(keys/2, "  k%d: a\n")), numbered(keys/2, "k%d: a\n") + "? a\n" + numbered(keys/2, "j%d: a\n"), wide},
		"the same key":      {strings.Repeat("a: b\n", 100), "a:\n" + strings.Repeat("  b: c\n", 102), "line 103: repeats the key \"b\", and more than 100 keys are repeated"},
		"a key of escapes":  {"{" + numbered(1000, "\"\\u0020%d\": a, ") + "}", "{" + strings.Repeat("\"\\u0061\": b, a: b, ", 60) + "}", "line 1: repeats the key \"a\", and more than 100 keys are repeated"},
		"directives":        {numbered(100, "%%TAG !a%d! b\n") + "--- a\n", numbered(101, "%%TAG !a%d! b\n"), "line 101: has more than 100 directives"},
		"billion laughs":    {laughs(5), laughs(9), many},
		"alias of itself":   {"a: &a [b]\nc: *a\n", "a: &a\n- *a\n", "line 2: alias *a refers to a collection that contains it"},
		"size":              {strings.Repeat("a", safeyaml.MaxSize), strings.Repeat("a", safeyaml.MaxSize+1), fmt.Sprintf("has %d bytes, more than the limit of %d", safeyaml.MaxSize+1, safeyaml.MaxSize)},
		"byte order marks":  {"\ufeffa: b", "\ufeff\ufeffa: b", "line 1: begins with two byte order marks"},
		"binary after text": {"a: b\n\x00" + strings.Repeat("[", depth+1), strings.Repeat("[", depth+1) + "\x00", "line 1: " + deep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := safeyaml.Check([]byte(test.within)); err != nil {
				t.Errorf("text within the bounds: %v", err)
			}
			err := safeyaml.Check([]byte(test.beyond))
			if _, ok := errors.AsType[*safeyaml.Error](err); !ok || !strings.Contains(err.Error(), test.want) {
				t.Errorf("text beyond the bounds: %v; want %s", err, test.want)
			}
		})
	}
}

// TestReaders holds that every way to read text has the bounds.
func TestReaders(t *testing.T) {
	t.Parallel()
	deep := []byte(strings.Repeat("[", safeyaml.MaxDepth+1))
	var into any
	for name, err := range map[string]error{
		"Unmarshal":       safeyaml.Unmarshal(deep, &into),
		"UnmarshalJSON":   safeyaml.UnmarshalJSON(deep, &into),
		"UnmarshalStrict": safeyaml.UnmarshalStrict(deep, &into),
		"Decoder":         safeyaml.NewDecoder(deep).Decode(&into),
	} {
		if _, ok := errors.AsType[*safeyaml.Error](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := safeyaml.ToJSON(deep); err == nil {
		t.Error("ToJSON reads what is too deep")
	}
	files := fstest.MapFS{"a.yaml": {Data: []byte("a: bc")}}
	if data, err := safeyaml.ReadFile(files, "a.yaml", 5); err != nil || string(data) != "a: bc" {
		t.Errorf("a file of the limit's size: %q, %v", data, err)
	}
	for name, read := range map[string]func() ([]byte, error){
		"ReadFile": func() ([]byte, error) { return safeyaml.ReadFile(files, "a.yaml", 4) },
		"ReadAll":  func() ([]byte, error) { return safeyaml.ReadAll(bytes.NewReader([]byte("a: bc")), 4) },
	} {
		if data, err := read(); !errors.As(err, new(*safeyaml.Error)) {
			t.Errorf("%s reads %q, %v", name, data, err)
		}
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	text := []byte("- a\n- b\n")
	for name, test := range map[string]struct {
		set  safeyaml.Set
		want string
	}{
		"size":   {safeyaml.Set{MaxSize: 20}, "has 24 bytes together with the files before it, more than the limit of 20"},
		"values": {safeyaml.Set{MaxNodes: 24}, "line 2: contains more than 24 values together with the files before it"},
		"none":   {safeyaml.Set{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var err error
			for range 3 {
				if err != nil {
					t.Fatalf("before the third text: %v", err)
				}
				err = test.set.Check(text)
			}
			if got := fmt.Sprint(err); err != nil && got != test.want || (err == nil) != (test.want == "") {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestDocuments checks streams with and without an error after the first document.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		count int
		fails bool
	}{
		"":                    {0, false},
		"a: 1\n---\na: 2\n":   {2, false},
		"a: 1\n---\n[\n":      {1, true},
		"a: 1\n---\na: [b]\n": {1, true},
	} {
		got, err := safeyaml.Documents[struct{ A int }]([]byte(text))
		if len(got) != want.count || (err != nil) != want.fails || want.count > 0 && got[0].A != 1 {
			t.Errorf("Documents(%q) = %d documents, %v; want %d, error %t", text, len(got), err, want.count, want.fails)
		}
	}
}

// TestFields checks the keys of a mapping, and that other nodes have none.
func TestFields(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"b: 1\na: 2\n": "b=1 a=2", "[b, 1]\n": "", "x\n": ""} {
		nodes, err := safeyaml.Documents[yaml.Node]([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for key, value := range safeyaml.Fields(nodes[0].Content[0]) {
			got = append(got, key.Value+"="+value.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("Fields of %q: got %q, want %q", text, got, want)
		}
	}
	for range safeyaml.Fields(nil) {
		t.Error("Fields(nil) yields a key")
	}
}
