package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

func newOLM(a *app) *cobra.Command {
	return a.commandGroup("olm", "Install, inspect and remove OLM",
		`  %[1]s olm install
  %[1]s olm status`, newOLMInstall(a), newOLMStatus(a), newOLMUninstall(a))
}

// olmOptions are the flags of all olm commands.
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

// check returns the findings about the flags, and converts the version to OLM's spelling.
func (o *olmOptions) check() diag.Findings {
	var findings diag.Findings
	if o.version != "" {
		version, err := olm.Canonical(o.version)
		if err != nil {
			findings.Add("--version", o.version, err.Error())
		}
		o.version = version
	}
	return append(append(findings, checkNamespace("--olm-namespace", o.namespace)...), o.clusterOptions.check()...)
}

// orInterrupted returns err, or an error that the command was interrupted.
func orInterrupted(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%w; run it again to continue", errInterrupted)
	}
	return err
}

// findOLM connects to the cluster and reads its installation of OLM, whose version must be the one of the flags.
func (a *app) findOLM(ctx context.Context, o *olmOptions) (*kube.Client, *olm.Installation, error) {
	cluster, err := a.connect(ctx, o.clusterChoice)
	if err != nil {
		return nil, nil, err
	}
	found, err := olm.Find(ctx, cluster, o.namespace)
	if err == nil {
		err = found.CheckNamespace()
	}
	if err == nil && found.Present {
		err = found.CheckVersion(o.version)
	}
	if err != nil {
		return nil, nil, err
	}
	return cluster, found, nil
}

// printRows prints objects with the columns of operator-sdk; wide adds two.
func printRows(w io.Writer, rows []olm.Row, wide bool) error {
	table := tabwriter.NewWriter(w, 8, 4, 4, ' ', 0)
	header := "NAME\tNAMESPACE\tKIND\tSTATUS"
	if wide {
		header += "\tREASON\tDIFFERS IN"
	}
	fmt.Fprintln(table, header)
	for _, row := range rows {
		line := output.Row(row.Name, row.Namespace, row.Kind, row.Status)
		if wide {
			var paths []string
			for _, d := range row.Differences {
				paths = append(paths, d.Path)
			}
			line += "\t" + output.Row(cmp.Or(row.Reason, "-"), cmp.Or(strings.Join(paths, ","), "-"))
		}
		fmt.Fprintln(table, line)
	}
	return table.Flush()
}
