package cmd

import (
	"bufio"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

// describeOptions are the flags that say what catalogs show of an operator.
type describeOptions struct {
	displayName, description, providerName, providerURL string
	keywords, maintainers                               []string
	maturity, minKubeVersion, icon, file                string
}

func (o *describeOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.displayName, "display-name", "", "`name` of the operator in catalogs")
	f.StringVar(&o.description, "description", "", "`text` about the operator, in Markdown")
	f.StringVar(&o.providerName, "provider-name", "", "`name` of who publishes the operator")
	f.StringVar(&o.providerURL, "provider-url", "", "`page` of who publishes the operator")
	f.StringSliceVar(&o.keywords, "keywords", nil, "`words` to find the operator by, separated by commas")
	f.StringSliceVar(&o.maintainers, "maintainers", nil, "who looks after it: `name:email`, separated by commas")
	f.StringVar(&o.maturity, "maturity", "", "`state` of the operator, such as alpha or stable")
	f.StringVar(&o.minKubeVersion, "min-kube-version", "", "oldest `version` of Kubernetes that it runs on, such as 1.29.0")
	f.StringVar(&o.icon, "icon", "", "`file` with a picture for catalogs, .svg or .png")
	f.StringVar(&o.file, "metadata-file", "", "YAML `file` with all of this, by the names of the CSV's fields; flags win")
}

// check finds what is wrong with the flags alone.
func (o describeOptions) check() project.Findings {
	var findings project.Findings
	_, wrong := base.ParseMaintainers(o.maintainers)
	for _, entry := range wrong {
		findings = append(findings, project.Finding{Field: "--maintainers", Value: entry, Problem: "must have the form name:email"})
	}
	for _, entry := range o.maintainers {
		if _, email, ok := strings.Cut(entry, ":"); ok && !slices.Contains(wrong, entry) && base.CheckEmail(strings.TrimSpace(email)) != "" {
			findings = append(findings, project.Finding{Field: "--maintainers", Value: entry, Problem: fmt.Sprintf("%q is no e-mail address", strings.TrimSpace(email))})
		}
	}
	if slices.Contains(o.keywords, "") {
		findings = append(findings, project.Finding{Field: "--keywords", Value: strings.Join(o.keywords, ","), Problem: "must not hold an empty word"})
	}
	if problem := base.CheckURL(o.providerURL); o.providerURL != "" && problem != "" {
		findings = append(findings, project.Finding{Field: "--provider-url", Value: o.providerURL, Problem: problem})
	}
	if problem := base.CheckKubeVersion(o.minKubeVersion); o.minKubeVersion != "" && problem != "" {
		findings = append(findings, project.Finding{Field: "--min-kube-version", Value: o.minKubeVersion, Problem: problem})
	}
	return findings
}

// metadata is what the file and the flags say.
func (a *app) metadata(o describeOptions) (base.Metadata, error) {
	var m base.Metadata
	icon := ""
	if o.file != "" {
		data, err := a.readFlagFile("--metadata-file", o.file)
		if err != nil {
			return m, err
		}
		if m, icon, err = base.ParseMetadata(filepath.ToSlash(o.file), data); err != nil {
			return m, err
		}
		if icon != "" && !path.IsAbs(icon) {
			icon = path.Join(path.Dir(filepath.ToSlash(o.file)), icon)
		}
	}
	for _, one := range []struct {
		into *string
		flag string
	}{
		{&m.DisplayName, o.displayName}, {&m.Description, o.description}, {&m.ProviderName, o.providerName},
		{&m.ProviderURL, o.providerURL}, {&m.Maturity, o.maturity}, {&m.MinKubeVersion, o.minKubeVersion}, {&icon, o.icon},
	} {
		if one.flag != "" {
			*one.into = one.flag
		}
	}
	if o.keywords != nil {
		m.Keywords = trimmed(o.keywords)
	}
	if o.maintainers != nil {
		m.Maintainers, _ = base.ParseMaintainers(trimmed(o.maintainers))
	}
	if icon != "" {
		data, err := a.readFlagFile("--icon", icon)
		if err != nil {
			return m, err
		}
		if m.Icon, err = base.NewIcon(icon, data); err != nil {
			return m, project.Findings{{Field: "--icon", Value: icon, Problem: err.Error()}}
		}
	}
	return m, nil
}

func trimmed(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.TrimSpace(s)
	}
	return out
}

// readFlagFile reads a file that a flag names, relative to the working directory.
func (a *app) readFlagFile(flag, name string) ([]byte, error) {
	file := a.absolute(name)
	info, err := a.FS.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	var data []byte
	if err == nil {
		data, err = afero.ReadFile(a.FS, file)
	}
	if err != nil {
		return nil, project.Findings{{Field: flag, Value: name, Problem: reason(err).Error()}}
	}
	return data, nil
}

// describe gathers what is to be said about the operator: from the flags, and from a person for what these
// leave open, where there is no base yet or --interactive asks for it.
func (a *app) describe(c *cobra.Command, tree *scaffold.Tree, config *project.Config, o kustomizeOptions) (base.Metadata, error) {
	m, err := a.metadata(o.describe)
	if err != nil {
		return m, err
	}
	content, err := readOptional(tree, o.basePath(o.inputDir))
	if err != nil {
		return m, err
	}
	scaffolded := isScaffolded(config, o.packageName, content)
	if ask := content == nil || scaffolded; c.Flags().Changed("interactive") && !o.interactive || !ask && !o.interactive {
		return m, nil
	}
	if content != nil {
		if err := base.Check(o.basePath(o.inputDir), content); err != nil {
			return m, err // nobody should answer questions for nothing
		}
	}
	optional := scaffolded && !o.interactive && !a.InTerminal // as in CI, where the texts of the scaffold have to do
	if optional && !a.InPipe && a.inputIsEmpty() {
		a.warnUnanswered(c, o)
		return m, nil
	}
	asked, err := a.ask(m)
	if errors.Is(err, errNoAnswer) && optional {
		a.warnUnanswered(c, o)
		return m, nil
	}
	if errors.Is(err, errNoAnswer) || errors.Is(err, errBadAnswers) {
		return m, fmt.Errorf("%w; answer it, say it by flags or --metadata-file, or give --interactive=false to leave it open", err)
	}
	return asked, err
}

// inputIsEmpty reports whether stdin, which must not be a terminal or a pipe, has nothing to read.
func (a *app) inputIsEmpty() bool {
	in := bufio.NewReader(a.In)
	a.In = in
	_, err := in.Peek(1)
	return err != nil
}

// warnUnanswered reports that required questions about the operator have no answer.
func (a *app) warnUnanswered(c *cobra.Command, o kustomizeOptions) {
	a.progressf("warning: %s still has the scaffold's display name, description, provider, keywords or maintainers; run '%s --interactive' at a terminal, "+
		"give --display-name, --description, --provider-name, --keywords and --maintainers, or edit the file", o.basePath(o.outputDir), c.CommandPath())
}

// ask puts the questions of operator-sdk, in its order, but for those that are answered already.
func (a *app) ask(m base.Metadata) (base.Metadata, error) {
	required := func(answer string) string {
		if answer == "" {
			return "Input is required."
		}
		return ""
	}
	list := func(answer string) string {
		if base.SplitList(answer)[0] == "" {
			return "No list provided."
		}
		return ""
	}
	var keywords, maintainers string
	asked := false
	for _, q := range []struct {
		question string
		answered bool
		into     *string
		insist   func(string) string
	}{
		{"Display name for the operator (required):", m.DisplayName != "", &m.DisplayName, required},
		{"Description for the operator (required):", m.Description != "", &m.Description, required},
		{"Provider's name for the operator (required):", m.ProviderName != "", &m.ProviderName, required},
		{"Any relevant URL for the provider name (optional):", m.ProviderURL != "" || m.ProviderName != "", &m.ProviderURL, func(string) string { return "" }},
		{"Comma-separated list of keywords for your operator (required):", m.Keywords != nil, &keywords, list},
		{"Comma-separated list of maintainers and their emails (e.g. 'name1:email1, name2:email2') (required):", m.Maintainers != nil, &maintainers, func(answer string) string {
			if _, wrong := a.parseMaintainers(answer); len(wrong) > 0 && a.InTerminal {
				return fmt.Sprintf("%q is not of the form name:email.", wrong[0])
			}
			return list(answer)
		}},
	} {
		if q.answered {
			continue
		}
		answer, err := a.prompt().Ask(q.question, q.insist)
		if err != nil {
			return m, err
		}
		*q.into, asked = answer, true
	}
	if asked && !a.InTerminal {
		fmt.Fprintln(a.Out) // nobody pressed return behind the last answer
	}
	if m.Keywords == nil {
		m.Keywords = slices.DeleteFunc(base.SplitList(keywords), func(word string) bool { return word == "" })
	}
	if m.Maintainers == nil {
		found, wrong := a.parseMaintainers(maintainers)
		for _, entry := range wrong {
			a.progressf("warning: maintainer %q is left out, as it is not of the form name:email", entry)
		}
		m.Maintainers = append([]base.Maintainer{}, found...)
	}
	return m, nil
}

// parseMaintainers reads an answer about maintainers. An address will do: its name, or the part before the @, is
// the maintainer's.
func (a *app) parseMaintainers(answer string) ([]base.Maintainer, []string) {
	entries := base.SplitList(answer)
	for i, entry := range entries {
		if name, email, ok := base.ParseAddress(entry); ok && !strings.Contains(entry, ":") {
			entries[i] = name + ":" + email
		}
	}
	return base.ParseMaintainers(entries)
}
