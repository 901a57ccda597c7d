package local

import (
	"errors"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/pkg/diag"
)

// TestCompilerErrors reads the output of go build: errors of two packages, one of them with further lines, too many errors, and output
// without positions. The text stays the same.
func TestCompilerErrors(t *testing.T) {
	t.Parallel()
	const two = "# example.com/p/api\napi/a.go:3:2: undefined: x\napi/a.go:4:2: not enough arguments\n\thave ()\n\twant (int)\n" +
		"# example.com/p/cmd\ncmd/main.go:9:1: syntax error\r\ncmd/main.go:10: too many errors"
	cause := errors.New("exit status 1")
	for _, test := range []struct{ output, want string }{
		{two, "api/a.go:3:2: undefined: x|api/a.go:4:2: not enough arguments\n\thave ()\n\twant (int)|cmd/main.go:9:1: syntax error|cmd/main.go:10: too many errors"},
		{"go: no such tool", "go: no such tool"},
		{"/usr/lib/go/src/x.go:1:2: no", "/usr/lib/go/src/x.go:1:2: no"},
		{`.\main.go:1:2: no`, ""},
	} {
		findings := CompilerErrors(test.output, cause)
		var full []string
		for _, f := range findings {
			full = append(full, f.Full())
		}
		if got := strings.Join(full, "|"); got != test.want && test.want != "" {
			t.Errorf("%q: %q, want %q", test.output, got, test.want)
		}
		err := diag.Lines("go build:", findings)
		if got, want := err.Error(), "go build:\n"+strings.ReplaceAll(test.output, "\r", ""); got != want || !errors.Is(err, cause) {
			t.Errorf("text %q, want %q", got, want)
		}
	}
}
