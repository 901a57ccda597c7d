package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/action/chart"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/tempdir"
)

// chartPackageOptions are the flags of chart package.
type chartPackageOptions struct {
	destination, version, appVersion string
	sign                             bool
	key, keyring, passphraseFile     string
}

func newChartPackage(a *app) *cobra.Command {
	var o chartPackageOptions
	c := &cobra.Command{
		Use:   "package [DIR|ARCHIVE]",
		Short: "Write a Helm chart to an archive",
		Long: `Write the operator's chart, or the chart in a directory, to an archive NAME-VERSION.tgz, as 'helm
package' does. The same files always give the same archive: they have the time of SOURCE_DATE_EPOCH,
or of 1970. Files in .helmignore are left out, and dependencies that charts lacks are fetched.

A chart with errors is refused, as by 'chart lint'.

With --sign, a provenance file is written beside the archive, with which 'helm verify' and 'helm
install --verify' check the archive. The keyring is a file with private keys, such as one that 'gpg
--export-secret-keys' writes.`,
		Example: fmt.Sprintf(`  %[1]s chart package --destination dist

  # A release, signed:
  %[1]s chart package --version 1.2.0 --app-version v1.2.0 --sign --key release@example.com --keyring secring.gpg --passphrase-file passphrase`, a.program),
		Args: oneChart,
		RunE: func(c *cobra.Command, args []string) error { return a.runChartPackage(c.Context(), args, o) },
	}
	f := c.Flags()
	a.addChartOffline(f)
	f.StringVarP(&o.destination, "destination", "d", ".", "`directory` to write the archive to")
	f.StringVar(&o.version, "version", "", "`version` of the chart (default: the one in Chart.yaml)")
	f.StringVar(&o.appVersion, "app-version", "", "`version` of the operator, appVersion (default: the one in Chart.yaml)")
	f.BoolVar(&o.sign, "sign", false, "write a provenance file, too")
	f.StringVar(&o.key, "key", "", "`name` of the key to sign with, or a part of it")
	f.StringVar(&o.keyring, "keyring", "", "`file` with private keys")
	f.StringVar(&o.passphraseFile, "passphrase-file", "", "`file` whose first line is the passphrase of the key; - is the standard input")
	return c
}

func (a *app) runChartPackage(ctx context.Context, args []string, o chartPackageOptions) error {
	key, err := a.signingKey(o)
	if err != nil {
		return err
	}
	made, err := a.packageChart(ctx, args, helmchart.PackageRequest{Version: o.version, AppVersion: o.appVersion, Sign: key})
	if err != nil {
		return err
	}
	if err := a.FS.MkdirAll(a.Absolute(o.destination), 0o755); err != nil && !a.dryRun {
		return fmt.Errorf("--destination %s: %w", o.destination, diag.Cause(err))
	}
	name := filepath.Join(o.destination, made.Name)
	for _, file := range []struct {
		name string
		text []byte
	}{{name, made.Archive}, {name + ".prov", made.Provenance}} {
		switch {
		case file.text == nil:
			continue
		case a.dryRun:
			a.print.Progressf("would write %s", filepath.ToSlash(file.name))
			continue
		}
		err := tempdir.Replace(a.FS, a.Absolute(file.name), func(w io.Writer) error {
			_, err := w.Write(file.text)
			return err
		})
		if err != nil {
			return fmt.Errorf("writing %s: %w", filepath.ToSlash(file.name), diag.Cause(err))
		}
		if _, err := fmt.Fprintf(a.print.TextOut(), "wrote    %s\n", filepath.ToSlash(file.name)); err != nil {
			return err
		}
	}
	return nil
}

// packageChart checks the chart in the first of args, or else the operator's, and packages it.
func (a *app) packageChart(ctx context.Context, args []string, request helmchart.PackageRequest) (*helmchart.PackageAnswer, error) {
	at, err := a.ImageTime()
	if err != nil {
		return nil, err
	}
	src, err := a.chartSource(ctx, args)
	if err != nil {
		return nil, err
	}
	if err := a.lintChart(ctx, src, chart.LintOptions{}, false); err != nil {
		return nil, err
	}
	request.Files, request.Time = src.Files, at
	made, err := a.charts().Package(ctx, request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", src.Name, err)
	}
	return made, nil
}

// signingKey returns the key that the flags name, or nil without --sign.
func (a *app) signingKey(o chartPackageOptions) (*helmchart.SigningKey, error) {
	findings := chart.CheckVersion("--version", o.version)
	for _, flag := range []struct{ name, value string }{{"--key", o.key}, {"--keyring", o.keyring}} {
		switch {
		case o.sign && flag.value == "":
			findings.Add(flag.name, "", "is required with --sign")
		case !o.sign && flag.value != "":
			findings.Add(flag.name, flag.value, "requires --sign")
		}
	}
	if len(findings) > 0 || !o.sign {
		return nil, findings.Err()
	}
	key := &helmchart.SigningKey{Keyring: o.keyring, Name: o.key}
	if o.passphraseFile != "" {
		text, err := a.readPassphrase(o.passphraseFile)
		if err != nil {
			return nil, diag.Findings{{Field: "--passphrase-file", Value: o.passphraseFile, Problem: err.Error()}}
		}
		line, _, _ := bytes.Cut(text, []byte("\n"))
		key.Passphrase = string(bytes.TrimSuffix(line, []byte("\r")))
	}
	return key, nil
}

// maxPassphrase limits the file with a passphrase.
const maxPassphrase = 64 << 10

func (a *app) readPassphrase(name string) ([]byte, error) {
	if name != "-" {
		text, err := afero.ReadFile(a.FS, a.Absolute(name))
		return text, diag.Cause(err)
	}
	text, err := io.ReadAll(io.LimitReader(a.In, maxPassphrase))
	if err == nil && len(text) == 0 {
		err = errors.New("is empty")
	}
	return text, err
}
