package cmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scorecard"
)

// The values of --pod-security.
const (
	podLegacy     = "legacy"
	podRestricted = "restricted"
)

// scorecardOptions are the flags of scorecard.
type scorecardOptions struct {
	clusterChoice
	config, namespace, output, podSecurity, selector     string
	serviceAccount, storageImage, untarImage, testOutput string
	list, skipCleanup, local                             bool
	waitTime                                             time.Duration
	images.Registry
}

func newScorecard(a *app) *cobra.Command {
	var o scorecardOptions
	c := &cobra.Command{
		Use:   "scorecard DIR|IMAGE",
		Short: "Run scorecard tests against a bundle",
		Long: `Run the tests of a bundle's configuration, tests/scorecard/config.yaml, and print their results. The
exit code is 1 if a test fails.

Each test runs as a pod in the cluster of the kubeconfig, with the bundle at /bundle. Its log is
printed while it runs, as is the reason if a pod cannot run. The pods and everything created for
them are deleted at the end, on timeout and on Ctrl-C.

With --local the built-in tests run in this program, without a cluster and without images:
` + strings.Join(scorecard.BuiltIns(), ", ") + `.`,
		Example: fmt.Sprintf(`  # All tests that need no cluster:
  %[1]s scorecard bundle --local

  # One suite, as a report for CI:
  %[1]s scorecard bundle --local --selector suite=olm -o xunit > scorecard.xml

  # In the cluster, in a namespace that permits only restricted pods:
  %[1]s scorecard bundle --namespace my-tests --pod-security restricted --wait-time 2m

  # List the tests:
  %[1]s scorecard registry.example.com/memcached-operator-bundle:v0.0.1 --list`, a.program),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(c, "%s takes one bundle, a directory or an image, but got %d arguments", c.CommandPath(), len(args))
			}
			return o.Within(c, func() error {
				return a.scorecard(c.Context(), c.Flags().Changed("service-account"), args[0], o)
			})
		},
	}
	f := c.Flags()
	f.StringVarP(&o.config, "config", "c", "", "configuration `file` (default: the one that the bundle names)")
	f.StringVarP(&o.selector, "selector", "l", "", "label `selector` of the tests to run, such as suite=olm")
	f.BoolVarP(&o.list, "list", "L", false, "list the tests and run none")
	choiceVar(c, &o.output, "output", "o", scorecard.Text, "output format", scorecard.Formats()...)
	f.BoolVar(&o.local, "local", false, "run the built-in tests in this program, without a cluster")
	o.addTo(f, kubeconfigDefault)
	f.StringVarP(&o.namespace, "namespace", "n", "", "`namespace` of the pods (default: from the kubeconfig)")
	f.StringVarP(&o.serviceAccount, "service-account", "s", "default", "service `account` of the pods")
	choiceVar(c, &o.podSecurity, "pod-security", "", podLegacy, "security context of the pods; legacy is for images that run as root", podRestricted, podLegacy)
	f.DurationVarP(&o.waitTime, "wait-time", "w", 30*time.Second, "maximum `duration` of all tests together")
	f.BoolVarP(&o.skipCleanup, "skip-cleanup", "x", false, "keep the pods and the bundle's ConfigMap in the cluster")
	f.StringVarP(&o.testOutput, "test-output", "t", "test-output", "`directory` for the output files of tests with storage")
	f.StringVarP(&o.untarImage, "untar-image", "u", scorecard.UntarImage, "`image` with tar, to unpack the bundle (default: quay.io/operator-framework/scorecard-untar, by digest)")
	f.StringVarP(&o.storageImage, "storage-image", "b", scorecard.StorageImage, "`image` with sh and tar, to copy files from (default: quay.io/operator-framework/scorecard-storage, by digest)")
	o.Registry.AddTo(f)
	return c
}

// check returns the findings about the flags as an error, and the selector.
func (o *scorecardOptions) check() (labels.Selector, error) {
	findings := o.Registry.Check()
	selector, err := labels.Parse(o.selector)
	if err != nil {
		findings.Add("--selector", o.selector, "is not a valid label selector: "+err.Error())
	}
	if !slices.Contains(scorecard.Formats(), o.output) {
		findings.Add("--output", o.output, "must be one of "+strings.Join(scorecard.Formats(), ", "))
	}
	findings = append(findings, checkChoice("--pod-security", o.podSecurity, podRestricted, podLegacy)...)
	if o.waitTime <= 0 {
		findings.Add("--wait-time", o.waitTime.String(), "must be greater than zero, such as 2m")
	}
	if o.namespace != "" && len(validation.IsDNS1123Label(o.namespace)) > 0 {
		findings.Add("--namespace", o.namespace, "must consist of at most 63 lower-case letters, digits and dashes")
	}
	if len(validation.IsDNS1123Subdomain(o.serviceAccount)) > 0 {
		findings.Add("--service-account", o.serviceAccount, "is not a valid service account name")
	}
	for _, given := range []struct{ flag, value string }{{"--untar-image", o.untarImage}, {"--storage-image", o.storageImage}} {
		findings = append(findings, project.CheckImage(given.flag, given.value)...)
	}
	if o.testOutput == "" {
		findings.Add("--test-output", "", "must name a directory")
	}
	return selector, findings.Err()
}

// scorecard reads the bundle and its configuration, runs the tests and prints the results.
func (a *app) scorecard(ctx context.Context, accountGiven bool, arg string, o scorecardOptions) error {
	selector, err := o.check()
	if err != nil {
		return err
	}
	opened, err := images.OpenBundle(ctx, a.print, a.Dir, arg, o.Access(a.print))
	if err != nil {
		if is[*image.Error](err) {
			return err
		}
		return fmt.Errorf("%s: %w", filepath.ToSlash(arg), err)
	}
	defer func() { _ = opened.Close() }() // only read
	bundle := scorecard.Bundle{FS: opened.FS, Name: opened.Name}
	var file *scorecard.ConfigFile
	if o.config != "" {
		file = &scorecard.ConfigFile{FS: a.FS, Path: env.Absolute(a.Dir, o.config), Name: filepath.ToSlash(o.config)}
	}
	config, err := scorecard.ReadConfig(bundle, file)
	if err != nil {
		return err
	}
	if config.Unknown != nil {
		a.print.Warn(diag.Finding{Position: diag.Position{File: config.Name}, Problem: config.Unknown.Error(), Fix: "it has no effect"})
	}
	stages := config.Select(selector)
	list := scorecard.List(stages)
	switch {
	case o.list || len(list.Items) == 0:
		return scorecard.Write(a.print.As(o.output), o.output, list)
	case o.local:
		if err := config.CheckLocal(list); err != nil {
			return err
		}
		list = scorecard.Run(ctx, stages, scorecard.Local{Bundle: bundle})
	default:
		if a.dryRun {
			return diag.Usage(errors.New("--dry-run: the results of tests are not known before they run; --list shows the tests, and --local changes no cluster"))
		}
		if err := config.CheckPods(list); err != nil {
			return err
		}
		if config.ServiceAccount != "" {
			if accountGiven && config.ServiceAccount != o.serviceAccount {
				a.print.Notef("note: %s names the service account %s, which goes before --service-account", config.Name, config.ServiceAccount)
			}
			o.serviceAccount = config.ServiceAccount
		}
		return a.scorecardInCluster(ctx, bundle, stages, o)
	}
	return printTests(a.print, list, o.output)
}

// printTests prints results. It is an error if a test has not passed.
func printTests(p *output.Printer, list v1alpha3.TestList, format string) error {
	if err := scorecard.Write(p.As(format), format, list); err != nil {
		return err
	}
	return scorecard.CheckPassed(list)
}
