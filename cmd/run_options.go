package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
	"github.com/operon-sdk/operon/pkg/olm/operator"
	"github.com/operon-sdk/operon/pkg/project"
)

// operatorOptions are the flags of all commands that install or remove operators with OLM.
type operatorOptions struct {
	clusterOptions
	namespace string
}

func (o *operatorOptions) add(c *cobra.Command) {
	o.clusterOptions.add(c)
	c.Flags().StringVarP(&o.namespace, "namespace", "n", "", "`namespace` of the operator (default: from the kubeconfig)")
}

func (o *operatorOptions) check() diag.Findings {
	var findings diag.Findings
	if o.namespace != "" {
		findings = checkNamespace("--namespace", o.namespace)
	}
	return append(findings, o.clusterOptions.check()...)
}

// runOptions are the flags of commands that run bundles.
type runOptions struct {
	operatorOptions
	images.Registry
	mode, indexImage, decompression, pullPolicy, pullSecret, caSecret, account, security, output, pushCatalog string
	skipTLS, skipTLSVerify, useHTTP, cleanUp                                                                  bool
	selector                                                                                                  map[string]string
	env                                                                                                       []string
}

const (
	defaultIndexImage    = "quay.io/operator-framework/opm:latest"
	defaultDecompression = "registry.access.redhat.com/ubi9/ubi:9.8"
	restricted, legacy   = "restricted", "legacy"
)

// addServing adds the flags about the catalog and its pods.
func (o *runOptions) addServing(c *cobra.Command) {
	o.operatorOptions.add(c)
	flags := c.Flags()
	o.AddHosts(flags)
	flags.StringVar(&o.indexImage, "index-image", defaultIndexImage, "`image` with opm that serves the catalog, together with what it has in /configs")
	flags.StringVar(&o.pushCatalog, "push-catalog", "", "serve the catalog from an `image` of this name, built on the index image and pushed, instead of ConfigMaps")
	flags.StringVar(&o.decompression, "decompression-image", defaultDecompression, "`image` with sh, cat and gzip, for catalogs too large for one ConfigMap")
	choiceVar(c, &o.pullPolicy, "image-pull-policy", "", "Always", "pull policy of the registry's images", "Always", "IfNotPresent", "Never")
	flags.StringVar(&o.pullSecret, "pull-secret-name", "", "`secret` in the namespace for pulling the bundle and the registry's images")
	flags.StringVar(&o.account, "service-account", "", "service `account` of the registry pod (default: the namespace's default)")
	choiceVar(c, &o.security, "security-context-config", "", restricted, "security context of the registry pod; legacy is for clusters without Pod Security Standards", restricted, legacy)
	flags.StringToStringVar(&o.selector, "node-selector", nil, "`label=value` pairs of nodes for the registry and the operator")
	flags.StringArrayVar(&o.env, "env", nil, "`NAME=value` for the registry and the operator, or NAME to inherit from the environment, such as HTTPS_PROXY")
	choiceVar(c, &o.output, "output", "o", "", "format of the objects that --dry-run prints (default: yaml)", "yaml", "json")
}

// addPulling adds the flags about reading a bundle image.
func (o *runOptions) addPulling(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&o.caSecret, "ca-secret-name", "", "`secret` in the namespace with the CA certificate of the bundle's registry as cert.pem")
	flags.BoolVar(&o.skipTLSVerify, "skip-tls-verify", false, "do not verify the registry's certificate when reading the bundle")
	flags.BoolVar(&o.useHTTP, "use-http", false, "read the bundle over plain HTTP if the registry does not serve TLS")
	flags.BoolVar(&o.skipTLS, "skip-tls", false, "like --use-http")
	_ = flags.MarkHidden("skip-tls") // the only error is a flag that does not exist
	flags.String("mode", "", "no effect: update mode of index images")
	_ = flags.MarkHidden("mode")
}

func (o *runOptions) addMode(c *cobra.Command) {
	c.Flags().BoolVar(&o.cleanUp, "cleanup-on-failure", false, "remove everything again if the installation fails")
	choiceVar(c, &o.mode, "install-mode", "", "", "`mode`: AllNamespaces, OwnNamespace, SingleNamespace=NAMESPACE or MultiNamespace=ONE,TWO (default: the first one that the bundle supports and the namespace permits)", operator.Modes()...)
}

// check returns the findings about the flags, and the install mode.
func (o *runOptions) check(dryRun bool) (diag.Findings, operator.InstallMode) {
	findings := append(o.operatorOptions.check(), o.Registry.Check()...)
	mode, err := operator.ParseInstallMode(o.mode)
	if err != nil {
		findings.Add("--install-mode", o.mode, err.Error())
	}
	for _, ref := range []struct{ flag, value string }{{"--index-image", o.indexImage}, {"--decompression-image", o.decompression}} {
		findings = append(findings, project.CheckImage(ref.flag, ref.value)...)
	}
	if o.pushCatalog != "" {
		findings = append(findings, images.CheckNew("--push-catalog", o.pushCatalog)...)
	}
	for _, choice := range []struct {
		flag, value string
		values      []string
	}{
		{"--image-pull-policy", o.pullPolicy, []string{"Always", "IfNotPresent", "Never"}},
		{"--security-context-config", o.security, []string{restricted, legacy}},
		{"-o", o.output, []string{"", "yaml", "json"}},
	} {
		if !slices.Contains(choice.values, choice.value) {
			findings.Add(choice.flag, choice.value, "must be one of "+strings.TrimPrefix(strings.Join(choice.values, ", "), ", "))
		}
	}
	if o.output != "" && !dryRun {
		findings.Add("-o", o.output, "requires --dry-run")
	}
	for _, name := range []struct{ flag, value string }{{"--pull-secret-name", o.pullSecret}, {"--ca-secret-name", o.caSecret}, {"--service-account", o.account}} {
		if name.value != "" && len(validation.IsDNS1123Subdomain(name.value)) > 0 {
			findings.Add(name.flag, name.value, "is not a valid object name")
		}
	}
	for label, value := range o.selector {
		if len(validation.IsQualifiedName(label))+len(validation.IsValidLabelValue(value)) > 0 {
			findings.Add("--node-selector", label+"="+value, "must be label=value")
		}
	}
	for _, v := range o.env {
		name, _, _ := strings.Cut(v, "=")
		if len(validation.IsEnvVarName(name)) > 0 {
			findings.Add("--env", v, "must be NAME=value or NAME")
		}
	}
	return findings, mode
}

// serving returns the settings of the catalog and its pods.
func (o *runOptions) serving(a *app) operator.Serving {
	s := operator.Serving{
		IndexImage: o.indexImage, DecompressionImage: o.decompression, PullPolicy: o.pullPolicy, PullSecret: o.pullSecret,
		ServiceAccount: o.account, Legacy: o.security == legacy, NodeSelector: o.selector,
	}
	for _, v := range o.env {
		name, value, given := strings.Cut(v, "=")
		if !given {
			value = a.Getenv(name)
		}
		s.Env = append(s.Env, operator.EnvVar{Name: name, Value: value})
	}
	return s
}

// connectOrDryRun connects to the cluster and returns the namespace of the operator. A dry run does not connect.
func (a *app) connectOrDryRun(ctx context.Context, o *operatorOptions) (*kube.Client, string, error) {
	if a.dryRun {
		namespace := o.namespace
		if namespace == "" {
			namespace = "default"
			client, err := a.locator(o.clusterChoice).Client()
			if err == nil {
				namespace = client.Namespace
			} else if diag.IsUsage(err) {
				return nil, "", err
			}
		}
		return nil, namespace, nil
	}
	client, err := a.connectIn(ctx, o, a.connectWithNodes)
	if err != nil {
		return nil, "", err
	}
	return client, client.Namespace, nil
}

// connectIn connects to the cluster with the given function, and sets the namespace of the flags.
func (a *app) connectIn(ctx context.Context, o *operatorOptions, connect func(context.Context, clusterChoice) (*kube.Client, error)) (*kube.Client, error) {
	client, err := connect(ctx, o.clusterChoice)
	if err == nil && o.namespace != "" {
		client.Namespace = o.namespace
	}
	return client, err
}

// oneArgument requires exactly one argument; what describes it in the error.
func oneArgument(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return usagef(c, "%s takes one argument: %s", c.CommandPath(), what)
	}
}

// runOperator calls run, which reports its steps through reporter, and explains an interruption.
func runOperator(ctx context.Context, p *output.Printer, reporter *olm.Reporter, run func() error) error {
	progress := &output.Steps{Printer: p}
	reporter.Progress = progress.Report
	err := run()
	progress.End()
	if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return diag.Explain(err, "the command was interrupted; run it again to continue")
	}
	return err
}
