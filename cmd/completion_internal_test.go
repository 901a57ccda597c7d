package cmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/afero"
)

// TestCompletionOfCalledName checks that the scripts complete the name that the program was called by.
func TestCompletionOfCalledName(t *testing.T) {
	t.Parallel()
	tests := []struct{ called, want string }{
		{"/usr/local/bin/operon", "operon"},
		{`C:\tools\kubebuilder.exe`, "kubebuilder"},
		{"./operon-next", "operon-next"},
		{"my operon", "operon"}, // no shell can have a function of that name
	}
	for _, test := range tests {
		for shell, line := range map[string]string{
			"bash": "__start_" + test.want + " " + test.want + "\n", "zsh": "#compdef " + test.want + "\n", "fish": "complete -c " + test.want + " ", "powershell": "-CommandName '" + test.want + "'",
		} {
			var out, errOut bytes.Buffer
			env := &Env{Out: &out, Err: &errOut, Dir: t.TempDir(), FS: afero.NewOsFs()}
			if code := Main(t.Context(), env, []string{test.called, "completion", shell}); code != exitOK || errOut.Len() > 0 {
				t.Fatalf("%s completion %s: exit code %d: %s", test.called, shell, code, &errOut)
			}
			if !strings.Contains(out.String(), line) {
				t.Errorf("%s completion %s does not contain %q", test.called, shell, line)
			}
		}
	}
}
