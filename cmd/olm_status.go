package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/olm"
)

func newOLMStatus(a *app) *cobra.Command {
	o, output := &olmOptions{}, ""
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the installed OLM version and its health",
		Long: `Find OLM in the cluster and compare each of its objects with the release: whether it exists, whether
it is ready, and what was changed. The exit code is 1 if OLM isn't installed or isn't healthy.
Catalogs are listed, but OLM works without them.`,
		Example: fmt.Sprintf(`  %[1]s olm status
  %[1]s olm status -o wide
  %[1]s olm status -o json`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			findings := append(o.check(), checkChoice("-o", cmp.Or(output, "wide"), "wide", "json", "yaml")...)
			if err := findings.Err(); err != nil {
				return err
			}
			return a.olmStatus(c.Context(), o, output)
		},
	}
	o.add(c, "`namespace` that OLM runs in", "expected `version` of OLM (default: the installed one)", "")
	choiceVar(c, &output, "output", "o", "", "output format (default: a table)", "wide", "json", "yaml")
	return c
}

// errOLMMissing means that OLM is not installed.
var errOLMMissing = errors.New("OLM is not installed")

func (a *app) olmStatus(ctx context.Context, o *olmOptions, output string) error {
	ctx, stop := o.limited(ctx)
	defer stop()
	cluster, found, err := a.findOLM(ctx, o)
	if err != nil {
		return err
	}
	if !found.Present {
		return fmt.Errorf("%w in the namespace %s; '%s olm install' installs it", errOLMMissing, o.namespace, a.program)
	}
	release, err := olm.FetchInstalled(ctx, a.print.Transport(), found, o.version, a.print.Progress)
	if err != nil {
		return err
	}
	status, err := olm.Examine(ctx, cluster, found, release)
	if err != nil {
		return err
	}
	switch output {
	case "json", "yaml":
		err = a.print.Value(output, status)
	default:
		err = printStatus(a.print, status, output == "wide")
	}
	if err != nil {
		return err
	}
	if !status.Healthy {
		return diag.List("OLM is not healthy:", status.Problems(), fmt.Sprintf("'%s olm install' repairs what is missing or changed", a.program))
	}
	return nil
}

func printStatus(p *output.Printer, status *olm.Status, wide bool) error {
	if status.Source != "" {
		p.Progressf("OLM %s in the namespace %s, according to %s", status.Version, status.Namespace, status.Source)
	}
	for _, contradiction := range status.Contradictions {
		p.Progressf("%s: an upgrade was interrupted, or --olm-image was given", contradiction)
	}
	if err := printRows(p.TextOut(), status.Objects, wide); err != nil {
		return err
	}
	p.Progressf("")
	for _, row := range status.Objects {
		name := strings.ToLower(row.Kind) + " " + strings.TrimPrefix(row.Namespace+"/"+row.Name, "/")
		if row.Kind == "CatalogSource" && row.Reason != "" {
			p.Progressf("%s: %s", name, row.Reason)
		}
		for _, d := range row.Differences {
			p.Progressf("%s differs: %s is %s, the release has %s", name, d.Path, orAbsent(d.Cluster), orAbsent(d.Release))
		}
	}
	return nil
}

func orAbsent(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}
