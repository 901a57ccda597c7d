package cmd

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/help"
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

// TestEverythingCompletes checks that each flag and argument completes to values, to files where it names a file, to directories
// where it names a directory, or to nothing: shells offer files where a program decides nothing.
func TestEverythingCompletes(t *testing.T) {
	t.Parallel()
	arguments := map[string]cobra.ShellCompDirective{}
	visitCommands("operon", func(c *cobra.Command) {
		if c.DisableFlagParsing { // the program that it calls parses its flags
			return
		}
		if !c.HasSubCommands() {
			if _, directive := c.ValidArgsFunction(c, nil, ""); directive != cobra.ShellCompDirectiveNoFileComp {
				arguments[strings.TrimPrefix(c.CommandPath(), "operon ")] = directive
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			annotation := map[string]string{
				"file": cobra.BashCompFilenameExt, "paths": cobra.BashCompFilenameExt, "directory": cobra.BashCompSubdirsInDir,
			}[help.ValueName(f)]
			complete, ok := c.GetFlagCompletionFunc(f.Name)
			if annotation != "" {
				if _, marked := f.Annotations[annotation]; !marked || ok {
					t.Errorf("%s --%s: must complete to paths", c.CommandPath(), f.Name)
				}
				return
			}
			if !ok {
				t.Errorf("%s --%s: has no completion", c.CommandPath(), f.Name)
				return
			}
			offers, directive := complete(c, nil, "")
			if directive != cobra.ShellCompDirectiveNoFileComp {
				t.Errorf("%s --%s: completes with directive %d, want %d", c.CommandPath(), f.Name, directive, cobra.ShellCompDirectiveNoFileComp)
			}
			want := strings.Split(help.ValueName(f), "|")
			if f.Value.Type() == "bool" {
				want = []string{"true", "false"}
			}
			if len(want) > 1 && !slices.Equal(offers, want) {
				t.Errorf("%s --%s: completes to %q, want %q", c.CommandPath(), f.Name, offers, want)
			}
		})
	})
	dirs, tarballs := cobra.ShellCompDirectiveFilterDirs, cobra.ShellCompDirectiveFilterFileExt
	if want := map[string]cobra.ShellCompDirective{
		"bundle validate": tarballs, "scorecard": tarballs, "run bundle": tarballs, "run bundle-upgrade": tarballs, "image load": tarballs, "image save": tarballs,
		"chart lint": tarballs, "chart package": tarballs, "chart push": tarballs, "chart template": tarballs,
		"catalog graph": dirs, "catalog validate": dirs, "docs man": dirs, "docs site": dirs, "image catalog": dirs, "pkgman-to-bundle": dirs, "run packagemanifests": dirs, "test local": dirs,
	}; !maps.Equal(arguments, want) {
		t.Errorf("arguments that complete to paths:\n%v\nwant:\n%v", arguments, want)
	}
}
