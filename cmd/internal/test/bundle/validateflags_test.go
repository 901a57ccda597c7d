package bundle

import (
	"os"
	"strings"
	"testing"

	"github.com/operon-sdk/operon/testdata/cases"
)

// TestValidateFlags checks the values of flags whose syntax is particular to operator-sdk.
func TestValidateFlags(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	c, err := cases.Read("validate/01-good")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(work, c.FS("tree")); err != nil {
		t.Fatal(err)
	}
	const suite = "--select-optional=suite=operatorframework"
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"./bundle " + suite + " --optional-values k8s-version=1.30,a=b", 0, "bundle: valid"},
		{"./bundle " + suite + " --optional-values k8s-version=1.30,", 1, "1.30,"},
		{"./bundle --optional-values k8s-version=1.30,a=b,c", 2, `--optional-values "c": must be key=value`},
		{"./bundle --optional-values=", 2, `--optional-values must be key=value`},
		{"--list-optional --optional-values x", 2, `--optional-values "x": must be key=value`},
		{"--list-optional --select-optional name=(", 2, `is not a valid label selector`},
		{"--list-optional -o foo", 0, "alpha-deprecated-apis"},
		{"./bundle --select-optional name=multiarch --optional-values container-tools=crane", 1, "container-tools=docker"},
	} {
		code, out, errOut := runIn(t, work, nil, append([]string{"bundle", "validate"}, strings.Fields(test.args)...)...)
		if code != test.code || !strings.Contains(out+errOut, test.want) || strings.Contains(errOut, "level=") {
			t.Errorf("%s: exit code %d\n%s%s", test.args, code, out, errOut)
		}
	}
}
