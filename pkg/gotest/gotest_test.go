package gotest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// read reads a file of testdata. events.jsonl is what 'go test -json' printed for packages whose tests pass, fail and can't be compiled.
// output.txt is what go test printed without -json, and verbose.txt what it printed with -v. Only the order of results is another one:
// here, a test follows its parts.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
}

// recorded is the run of events.jsonl.
func recorded(t *testing.T, out *bytes.Buffer, verbose bool) *Run {
	t.Helper()
	r := &Run{Out: out, Verbose: verbose, Suffix: " (Kubernetes 1.36.3)"}
	for _, b := range []byte(read(t, "events.jsonl")) { // a pipe can cut lines
		if _, err := r.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestText expects what go test prints without -json.
func TestText(t *testing.T) {
	t.Parallel()
	for _, verbose := range []bool{false, true} {
		var out bytes.Buffer
		recorded(t, &out, verbose)
		name := map[bool]string{false: "output.txt", true: "verbose.txt"}[verbose]
		if want := read(t, name); out.String() != want {
			t.Errorf("%s is\n%s\nwant\n%s", name, &out, want)
		}
	}
}

func TestOtherLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := &Run{Out: &out}
	for _, text := range []string{"go: downloading\n{no event}\n{\"Action\":\"start\"}\n", "cut"} {
		if _, err := r.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "go: downloading\n{no event}\ncut"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	var out, report bytes.Buffer
	if err := WriteJUnit(&report, recorded(t, &out, false)); err != nil {
		t.Fatal(err)
	}
	if want := read(t, "junit.xml"); report.String() != want {
		t.Errorf("report\n%s\nwant\n%s", &report, want)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]bool{ // has packages, is verbose
		"":                          {},
		"-run TestX":                {},
		"-run=TestX -v":             {false, true},
		"-v ./...":                  {true, true},
		"./api/... -run TestX":      {true, false},
		"-count 1 example.com/m":    {true, false},
		"--test.v=true -timeout 1m": {false, true},
		"-short -args ./... -v":     {},
	} {
		args := strings.Fields(line)
		if got := [2]bool{HasPackages(args), HasFlag(args, "v", "bench")}; got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}
