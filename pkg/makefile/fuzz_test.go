package makefile

import (
	"io/fs"
	"strings"
	"testing"
)

// FuzzEvaluate evaluates any text: the statements must be the text, and evaluation must end.
func FuzzEvaluate(f *testing.F) {
	for _, files := range cases {
		for _, text := range files {
			f.Add(text)
		}
	}
	f.Add("A = $(A)\nall: ; echo $(A)\n")
	f.Add("define a\n$(call a,$(1)$(1))\nendef\nall:\n\t$(call a,x)\n")
	f.Add("all: all\n%: x% ; $(MAKE)\ninclude Makefile\n")
	f.Add("ifeq (a\nelse\nendif\n$(eval $(value B)\n")
	f.Fuzz(func(t *testing.T, text string) {
		var b strings.Builder
		line := 1
		for _, s := range parse([]byte(text)) {
			if s.Line != line {
				t.Fatalf("statement %q is in line %d, want %d", s.Text, s.Line, line)
			}
			line += strings.Count(s.Text, "\n")
			b.WriteString(s.Text)
		}
		if b.String() != text {
			t.Fatalf("the statements are %q, the file is %q", b.String(), text)
		}
		m, err := Evaluate("Makefile", Options{Dir: "/project", Read: func(name string) ([]byte, error) {
			if name != "Makefile" {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range m.Commands(m.Targets()...) {
			m.Describe(command.Text)
			m.DependsOn(command.Target, "all")
		}
	})
}
