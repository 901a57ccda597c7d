package makefile

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// cases are makefiles in which every target is phony or missing, so that make -n prints all recipes.
var cases = map[string]map[string]string{
	"assignments": {"Makefile": `
A = 1 $(B)
B := two
C ?= three
C ?= never
D += four
D += five
E := $(A)
E += $(B)
B = changed # with a comment
F::=$(B)
G = a\#b \
	c   \
  d
H!=echo shell
export I = exported
override J = overridden
undefine C
EMPTY =
EMPTY += filled
.PHONY: all
all:
	@echo "$(A)|${B}|$C|$(D)|$(E)|$(F)|$(G)|$(H)|$(I)|$(J)|$(EMPTY)|$$HOME"
	-false
	+@true
`},
	"conditionals": {"Makefile": `
X = yes
ifeq ($(X),yes)
A = equal
else
A = not
endif
ifneq "$(X)" 'no'
  B = differs
  ifdef UNDEFINED
    B = wrong
  else ifeq (,$(UNDEFINED))
    B += nested
  else
    B = wrong
  endif
endif
ifndef X
$(error not reached)
else ifdef A
C = defined
endif
all:
ifeq ($(A),equal)
	echo first
else
	echo second
endif
	echo $(A) $(B) $(C)

ifeq ($(strip $(X) ),yes)
	echo strip
endif
`},
	"functions": {"Makefile": `
L = b.go a.go dir/c.c b.go
comma := ,
empty :=
space := $(empty) $(empty)
define two
echo one $(1)
echo two $(2) $@
endef
define long
echo \
   a    \
	b
	@echo c
endef
define rule =
$(1)-target:
	@echo $(1) $$@ $$(L)
endef
$(foreach n,x y,$(eval $(call rule,$(n))))
reverse = $(2) $(1)
all: x-target y-target
	echo $(subst a,b,banana) $(patsubst %.go,%.o,$(L)) $(L:.go=.o) $(L:%.c=%.d) $(strip  a   b )
	echo $(findstring a,abc) $(findstring x,abc) $(filter %.go dir/%,$(L)) $(filter-out %.go,$(L)) $(sort $(L))
	echo $(word 2,$(L)) $(wordlist 2,3,$(L)) $(words $(L)) $(firstword $(L)) $(lastword $(L))
	echo $(dir $(L)) $(notdir $(L)) $(suffix $(L)) $(basename $(L)) $(addsuffix .x,$(L)) $(addprefix p/,$(L))
	echo $(join a b,1 2 3) $(if ,no,else) $(if x,yes) $(or ,,third) $(and a,b) $(and a,,b)
	echo $(foreach n,1 2 3,<$(n)>) $(call reverse,1,2) $(value L) $(origin L) $(origin NONE) $(flavor comma)
	echo $(abspath ./x/../y) $(notdir $(CURDIR)) $(subst $(space),$(comma),a b c) $(shell echo from shell)
	$(call two,a,b)
	$(long)
	echo ${if x,${call reverse,(a),b}}
	echo $(words) $(call words,a b c)
`},
	"rules": {"Makefile": `
.PHONY: all first second doubled
NAME = global
all: NAME = specific
all: NAME += more
all: first second | ordered
all: doubled static.out
	echo $(NAME) $@ $< $^ $+ $(@D) $(<F)
first second: pre ; echo inline $@ $(NAME) # kept
	echo more
pre:
	echo continued \
	  line \
		and another
ordered: commented ; @echo ordered
commented: ## List them; or not; it's \# a comment
	echo commented
doubled::
	echo one
doubled::
	echo two
static.out: %.out: %.in
	echo $* $< $@
%.in:
	echo pattern $* $@
last: pre
# a comment does not end the recipe

	echo still the recipe
`},
	"include": {
		"Makefile": "include mk/*.mk\n-include missing.mk\nsinclude other.mk\nall: tool ; echo $(FROM) $(words $(MAKEFILE_LIST)) $(lastword $(MAKEFILE_LIST))\n",
		"mk/a.mk":  "FROM = $(notdir $(lastword $(MAKEFILE_LIST)))\ntool:\n\techo tool\n",
		"mk/b.mk":  "FROM += b\r\nOTHER = crlf\r\n",
	},
	"values of targets": {"Makefile": `
NAME := global
last: NAME = of the last
last: export NAME += one
%.out: NAME = pattern
middle: SHELL = bash
all: first last middle any.out
first last middle any.out: ; echo $@ $(NAME) $(SHELL)
`},
	"one shell":  {"Makefile": ".ONESHELL:\nSHELL = bash\nall:\n\tcd x\n\t@echo $@\n"},
	"overridden": {"Makefile": "all: one\n\techo all\none:\n\techo old\none:\n\techo new\n"},
}

// run evaluates the makefile in a directory and returns what make -n prints for a target.
func run(t *testing.T, dir, target string) string {
	t.Helper()
	m, err := Evaluate("Makefile", options(dir))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range m.Commands(target) {
		fmt.Fprintln(&b, c.Text)
	}
	for _, p := range m.Problems {
		t.Errorf("%s: %s", p.Position, p.Problem)
	}
	return b.String()
}

func options(dir string) Options {
	return Options{
		Dir:  filepath.ToSlash(dir),
		Read: func(name string) ([]byte, error) { return fs.ReadFile(os.DirFS(dir), name) },
		Glob: func(pattern string) []string { names, _ := fs.Glob(os.DirFS(dir), pattern); return names },
		Shell: func(command string) (string, bool) {
			c := exec.Command("sh", "-c", command)
			c.Dir = dir
			out, err := c.Output()
			return string(out), err == nil
		},
	}
}

// TestDefaultTarget expects the first target with a rule: a value for a target is no rule.
func TestDefaultTarget(t *testing.T) {
	t.Parallel()
	m, err := Evaluate("Makefile", Options{Read: func(string) ([]byte, error) { return []byte("b: X = 1\na: b ; echo\nb: ; echo $(X)\nc: X = 2\n"), nil }})
	if err != nil || !slices.Equal(m.Targets(), []string{"a", "b"}) || m.HasTarget("c") {
		t.Errorf("targets %q, HasTarget(c) %v, error %v", m.Targets(), m.HasTarget("c"), err)
	}
}

func TestSameAsMake(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("make")
	if err != nil {
		t.Fatalf("this test compares with GNU make: %v", err)
	}
	for name, files := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for file, text := range files {
				file = filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := exec.Command(program, "-rR", "-n", "--no-print-directory", "all")
			c.Dir, c.Env = dir, []string{"PATH=" + os.Getenv("PATH")}
			var warnings strings.Builder
			c.Stderr = &warnings
			out, err := c.Output()
			if err != nil {
				t.Fatalf("make: %v\n%s", err, warnings.String())
			}
			want := strings.TrimPrefix(string(out), "\n")
			if got := run(t, dir, "all"); got != want {
				t.Errorf("got:\n%s\nmake -n prints:\n%s", got, want)
			}
		})
	}
}

func TestUnresolved(t *testing.T) {
	t.Parallel()
	text := "A := $(shell git describe)\nB = $(patsubst v%,%,$(A)) $(shell tool $(A))\nall:\n\techo $(firstword $(B)) $(notdir $(B))/x\n"
	m, err := Evaluate("Makefile", Options{Dir: "/p", Read: func(string) ([]byte, error) { return []byte(text), nil }})
	if err != nil {
		t.Fatal(err)
	}
	commands := m.Commands("all")
	if len(commands) != 1 {
		t.Fatalf("got %v", commands)
	}
	want := "echo $(shell git describe) $(shell git describe) $(shell tool $(shell git describe))/x"
	if got := m.Describe(commands[0].Text); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !IsUnresolved(commands[0].Text) || IsUnresolved(want) {
		t.Errorf("unresolved: %t, %t", IsUnresolved(commands[0].Text), IsUnresolved(want))
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"include gone.mk\n":                    "Makefile:1: include gone.mk: cannot be read",
		"\n$(error needs A)\n":                 "Makefile:2: needs A",
		"A = $(A)\nB := $(A)\n":                "Makefile:2: variables are nested too deeply or refer to themselves",
		"ifdef A\n":                            "Makefile:1: missing endif",
		"endif\n":                              "Makefile:1: endif without a conditional",
		"else\n":                               "Makefile:1: else without a conditional",
		"ifeq (a\nendif\n":                     "Makefile:1: invalid syntax in conditional",
		"words\n":                              "Makefile:1: missing separator",
		"A := $(word x,a)\n":                   "Makefile:1: word: argument 1 is not a number",
		"all:\n\techo $(foreach a,b)$(B\n":     "",
		"-include gone.mk\nsinclude gone.mk\n": "",
	} {
		m, err := Evaluate("Makefile", Options{Dir: "/p", Read: func(name string) ([]byte, error) {
			if name == "Makefile" {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if len(m.Problems) > 0 {
			got = m.Problems[0].Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
