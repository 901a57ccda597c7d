package old

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/diag"
)

// A CSV contains the flags of olm-catalog gen-csv.
type CSV struct {
	version, from, channel, name string
	isDefault, interactive       bool
}

// AddTo adds the flags.
func (o *CSV) AddTo(f *pflag.FlagSet) {
	f.StringVar(&o.version, "csv-version", "", "semantic `version` of the operator")
	f.StringVar(&o.from, "from-version", "", "semantic `version` that this one replaces")
	f.StringVar(&o.channel, "csv-channel", "", "`channel` of the version")
	f.BoolVar(&o.isDefault, "default-channel", false, "make the channel the default of the package")
	f.StringVar(&o.name, "operator-name", "", "package `name` (default: the project name)")
	f.BoolVar(&o.interactive, "interactive", false, "ask for all descriptions; =false asks for none")
	OfCSV().AddTo(f)
}

// IsCSVFlag reports whether an argument is a flag of olm-catalog gen-csv, under its later name generate csv.
func IsCSVFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains([]string{"--csv-version", "--csv-channel", "--from-version", "--update-crds", "--operator-name", "--make-manifests"}, name)
}

// Check validates the flags. findings are those about other flags.
func (o *CSV) Check(findings diag.Findings) error {
	for _, v := range []struct{ flag, value string }{{"--csv-version", o.version}, {"--from-version", o.from}} {
		if problem := bundles.VersionProblem(v.value); problem != "" {
			findings.Add(v.flag, v.value, problem)
		}
	}
	if o.version == "" {
		findings.Add("--csv-version", "", "is required, such as 0.0.1")
	}
	if o.isDefault && o.channel == "" {
		findings.Add("--default-channel", "true", "requires --csv-channel")
	}
	return findings.Err()
}

// Bundle returns the arguments of bundle for a project and the given flags.
func (o *CSV) Bundle(project string, given *pflag.FlagSet) []string {
	args := slices.Concat([]string{"--version", o.version}, Given("package", o.name), Given("channels", o.channel))
	if o.from != "" {
		args = append(args, "--replaces", cmp.Or(o.name, project)+".v"+o.from)
	}
	if o.isDefault {
		args = append(args, "--default-channel", o.channel)
	}
	if f := given.Lookup("interactive"); f.Changed {
		args = append(args, "--interactive="+f.Value.String())
	}
	return args
}

// Given returns a flag with its value as arguments, or none if the value is empty.
func Given(flag, value string) []string {
	if value == "" {
		return nil
	}
	return []string{"--" + flag, value}
}
