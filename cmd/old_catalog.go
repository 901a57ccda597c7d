package cmd

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/project"
)

// retiredCSV are the flags of olm-catalog gen-csv and generate csv that are no longer supported.
func retiredCSV() []retired {
	const sources = "is not needed: the project's kustomization is built; 'generate bundle --deploy-dir … --crds-dir …' reads directories"
	return []retired{
		{"update-crds", "is the default behavior", []string{"true", "false"}},
		{"make-manifests", "is the default behavior", []string{"true"}},
		{"csv-config", "is no longer read: 'bundle' has a flag for each text, and --metadata-file for all of them", nil},
		{"deploy-dir", sources, nil},
		{"crd-dir", sources, nil},
		{"apis-dir", sources, nil},
		{"include", sources, nil},
		{"output-dir", "is --output-dir of 'bundle'", nil},
	}
}

// oldCSV are the flags of olm-catalog gen-csv.
type oldCSV struct {
	version, from, channel, name string
	isDefault, interactive       bool
}

func newOldGenCSV(a *app) *cobra.Command {
	var o oldCSV
	c := a.oldCommand("gen-csv", "Generate a bundle (now 'bundle')",
		`Generate the ClusterServiceVersion of a version with the other manifests, like 'bundle', under the
name of that command before operator-sdk 1.0. It is written to bundle/manifests; 'generate
packagemanifests' writes the directories that deploy/olm-catalog had.`,
		`  %[1]s olm-catalog gen-csv --csv-version 0.0.2 --from-version 0.0.1 --csv-channel alpha
  %[1]s bundle --version 0.0.2 --replaces memcached-operator.v0.0.1 --channels alpha`,
		func(c *cobra.Command, _ []string) error { return a.runOldGenCSV(c, o) })
	f := c.Flags()
	f.StringVar(&o.version, "csv-version", "", "semantic `version` of the operator")
	f.StringVar(&o.from, "from-version", "", "semantic `version` that this one replaces")
	f.StringVar(&o.channel, "csv-channel", "", "`channel` of the version")
	f.BoolVar(&o.isDefault, "default-channel", false, "make the channel the default of the package")
	f.StringVar(&o.name, "operator-name", "", "package `name` (default: the project name)")
	f.BoolVar(&o.interactive, "interactive", false, "ask for all descriptions; =false asks for none")
	addRetired(c, retiredCSV())
	return c
}

func (a *app) runOldGenCSV(c *cobra.Command, o oldCSV) error {
	findings := retiredUsed(c, retiredCSV())
	for _, v := range []struct{ flag, value string }{{"--csv-version", o.version}, {"--from-version", o.from}} {
		if problem := action.BundleVersionProblem(v.value); problem != "" {
			findings.Add(v.flag, v.value, problem)
		}
	}
	if o.version == "" {
		findings.Add("--csv-version", "", "is required, such as 0.0.1")
	}
	if o.isDefault && o.channel == "" {
		findings.Add("--default-channel", "true", "requires --csv-channel")
	}
	if len(findings) > 0 {
		return findings
	}
	root, err := a.intactProject()
	if err != nil {
		return err
	}
	config, err := project.Load(a.FS, root, a.Facts()...)
	if err != nil {
		return err
	}
	flags := slices.Concat([]string{"--version", o.version}, given("package", o.name), given("channels", o.channel))
	if o.from != "" {
		flags = append(flags, "--replaces", cmp.Or(o.name, config.ProjectName())+".v"+o.from)
	}
	if o.isDefault {
		flags = append(flags, "--default-channel", o.channel)
	}
	if c.Flags().Changed("interactive") {
		flags = append(flags, fmt.Sprintf("--interactive=%t", o.interactive))
	}
	return a.runReplacement(c, []string{"bundle"}, flags...)
}
