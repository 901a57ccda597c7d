package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/pkg/project"
)

func newOLM(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "olm",
		Short: "Install, inspect and remove OLM",
		Example: fmt.Sprintf(`  %[1]s olm install
  %[1]s olm status`, a.program),
		Args: noArgs,
		RunE: showHelp,
	}
	c.AddCommand(newOLMInstall(a), newOLMStatus(a), newOLMUninstall(a))
	return c
}

// olmOptions are the flags that all commands about OLM have.
type olmOptions struct {
	clusterOptions
	version, namespace string
}

func (o *olmOptions) add(c *cobra.Command, namespaceUsage, versionUsage, version string) {
	o.clusterOptions.add(c)
	flags := c.Flags()
	flags.StringVar(&o.namespace, "olm-namespace", olm.DefaultNamespace, namespaceUsage)
	flags.StringVar(&o.version, "version", version, versionUsage)
}

// check returns what is wrong with the flags, and writes the version as OLM does.
func (o *olmOptions) check() project.Findings {
	var findings project.Findings
	if o.version != "" {
		version, err := olm.Canonical(o.version)
		if err != nil {
			findings = append(findings, project.Finding{Field: "--version", Value: o.version, Problem: err.Error()})
		}
		o.version = version
	}
	return append(append(findings, checkNamespace("--olm-namespace", o.namespace)...), o.clusterOptions.check()...)
}

// orInterrupted is err, unless somebody has interrupted the command.
func orInterrupted(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%w; run it again to go on from there", errInterrupted)
	}
	return err
}

// opened connects to the cluster and finds its OLM, which must be the one that the flags name if there is any.
func (a *app) opened(ctx context.Context, o *olmOptions) (*kube.Client, *olm.Installation, error) {
	cluster, err := a.connect(ctx, o.kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	found, err := olm.Find(ctx, cluster, o.namespace)
	if err == nil {
		err = found.Elsewhere()
	}
	if err == nil && found.Present {
		err = o.agrees(found)
	}
	if err != nil {
		return nil, nil, err
	}
	return cluster, found, nil
}

// agrees refuses a version that is not the one installed.
func (o *olmOptions) agrees(found *olm.Installation) error {
	if o.version == "" || o.version == olm.Latest || found.Version == "" || strings.TrimPrefix(o.version, "v") == strings.TrimPrefix(found.Version, "v") {
		return nil
	}
	return fmt.Errorf("OLM %s is installed (says %s), not %s; leave --version out to take what is there", found.Version, found.Source, o.version)
}

// olmProgress prints the steps of a change, on a terminal with what is waited for in the last line.
type olmProgress struct {
	*app
	open bool
}

func (p *olmProgress) tell(e olm.Event) {
	if p.quiet {
		return
	}
	const clear = "\r\x1b[K"
	inPlace := p.ErrTerminal && p.Getenv("TERM") != "dumb"
	if inPlace && p.open {
		fmt.Fprint(p.Err, clear)
	}
	if p.open = inPlace && e.Waiting; p.open {
		fmt.Fprint(p.Err, e.Message)
		return
	}
	fmt.Fprintln(p.Err, e.Message)
}

// end leaves the last line as it is.
func (p *olmProgress) end() {
	if p.open {
		fmt.Fprintln(p.Err)
		p.open = false
	}
}

// printRows prints objects in the columns of operator-sdk's table; wide adds two.
func printRows(w io.Writer, rows []olm.Row, wide bool) error {
	table := tabwriter.NewWriter(w, 8, 4, 4, ' ', 0)
	header := "NAME\tNAMESPACE\tKIND\tSTATUS"
	if wide {
		header += "\tREASON\tDIFFERS IN"
	}
	fmt.Fprintln(table, header)
	for _, row := range rows {
		line := strings.Join([]string{row.Name, row.Namespace, row.Kind, row.Status}, "\t")
		if wide {
			var paths []string
			for _, d := range row.Differences {
				paths = append(paths, d.Path)
			}
			line += "\t" + cmp.Or(row.Reason, "-") + "\t" + cmp.Or(strings.Join(paths, ","), "-")
		}
		fmt.Fprintln(table, line)
	}
	return table.Flush()
}

// printAs prints a value as json or yaml.
func printAs(w io.Writer, format string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil && format == "yaml" {
		text, err = yaml.JSONToYAML(text)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, strings.TrimRight(string(text), "\n"))
	return err
}
