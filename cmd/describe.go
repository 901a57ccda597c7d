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

	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/diag"
)

// describeOptions are the flags that describe the operator in the base of the CSV.
type describeOptions struct {
	displayName, description, providerName, providerURL string
	keywords, maintainers                               []string
	maturity, minKubeVersion, icon, file                string
}

func (o *describeOptions) addTo(c *cobra.Command, b *action.KustomizeOptions) {
	f := c.Flags()
	f.StringVar(&b.Prefer, "prefer", "", "side that wins where both the base and the code changed")
	completeValues(c, "prefer", string(base.InBase), string(base.InCode))
	f.StringVar(&o.displayName, "display-name", "", "display `name` of the operator in catalogs")
	f.StringVar(&o.description, "description", "", "description of the operator, Markdown `text`")
	f.StringVar(&o.providerName, "provider-name", "", "`name` of the operator's provider")
	f.StringVar(&o.providerURL, "provider-url", "", "`URL` of the operator's provider")
	f.StringSliceVar(&o.keywords, "keywords", nil, "comma-separated `keywords` for searching catalogs")
	f.StringSliceVar(&o.maintainers, "maintainers", nil, "comma-separated `name:email` pairs of the maintainers")
	f.StringVar(&o.maturity, "maturity", "", "`maturity` of the operator, such as alpha or stable")
	f.StringVar(&o.minKubeVersion, "min-kube-version", "", "minimum `version` of Kubernetes, such as 1.29.0")
	f.StringVar(&o.icon, "icon", "", "icon `file` for catalogs, .svg or .png")
	f.StringVar(&o.file, "metadata-file", "", "YAML `file` with all of these values, under the field names of the CSV; flags take precedence")
}

// check validates the flags.
func (o describeOptions) check() diag.Findings {
	var findings diag.Findings
	_, wrong := base.ParseMaintainers(o.maintainers)
	for _, entry := range wrong {
		findings.Add("--maintainers", entry, "must have the form name:email")
	}
	for _, entry := range o.maintainers {
		if _, email, ok := strings.Cut(entry, ":"); ok && !slices.Contains(wrong, entry) && base.CheckEmail(strings.TrimSpace(email)) != "" {
			findings.Add("--maintainers", entry, fmt.Sprintf("%q must be an e-mail address", strings.TrimSpace(email)))
		}
	}
	if slices.Contains(o.keywords, "") {
		findings.Add("--keywords", strings.Join(o.keywords, ","), "must not contain an empty word")
	}
	if problem := base.CheckURL(o.providerURL); o.providerURL != "" && problem != "" {
		findings.Add("--provider-url", o.providerURL, problem)
	}
	if problem := base.CheckKubeVersion(o.minKubeVersion); o.minKubeVersion != "" && problem != "" {
		findings.Add("--min-kube-version", o.minKubeVersion, problem)
	}
	return findings
}

// metadata returns the values of the file and the flags.
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
			return m, diag.Findings{{Field: "--icon", Value: icon, Problem: err.Error()}}
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
		return nil, diag.Findings{{Field: flag, Value: name, Problem: diag.Cause(err).Error()}}
	}
	return data, nil
}

// describe returns the description of the operator: from flags, and from prompts for the rest if there is no base yet or
// --interactive is given.
func (a *app) describe(c *cobra.Command, current *action.CurrentBase, o describeOptions, interactive bool) (base.Metadata, error) {
	m, err := a.metadata(o)
	if err != nil {
		return m, err
	}
	needed := current.Content == nil || current.Scaffolded
	if c.Flags().Changed("interactive") && !interactive || !needed && !interactive {
		return m, nil
	}
	if current.Content != nil {
		if err := current.Check(); err != nil {
			return m, err // before the user answers questions
		}
	}
	optional := current.Scaffolded && !interactive && !a.InTerminal // as in CI, where the texts of the scaffold are sufficient
	if optional && !a.InPipe && a.inputIsEmpty() {
		a.warnUnanswered(c, current)
		return m, nil
	}
	asked, err := a.ask(m)
	if errors.Is(err, errNoAnswer) && optional {
		a.warnUnanswered(c, current)
		return m, nil
	}
	if errors.Is(err, errNoAnswer) || errors.Is(err, errBadAnswers) {
		return m, fmt.Errorf("%w; answer it, set it by flags or --metadata-file, or pass --interactive=false to leave it open", err)
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
func (a *app) warnUnanswered(c *cobra.Command, current *action.CurrentBase) {
	a.warnf("%s still has the scaffold's display name, description, provider, keywords or maintainers; run '%s --interactive' at a terminal, "+
		"pass --display-name, --description, --provider-name, --keywords and --maintainers, or edit the file", current.Output, c.CommandPath())
}

// ask asks the questions of operator-sdk that have no answer yet, in its order.
func (a *app) ask(m base.Metadata) (base.Metadata, error) {
	required := func(answer string) error {
		if answer == "" {
			return errors.New("an answer is required")
		}
		return nil
	}
	list := func(answer string) error { return required(base.SplitList(answer)[0]) }
	var keywords, maintainers string
	for _, q := range []struct {
		answered bool
		into     *string
		Question
	}{
		{m.DisplayName != "", &m.DisplayName, Question{Text: "Display name for the operator", Example: "Memcached Operator", Check: required}},
		{m.Description != "", &m.Description, Question{Text: "Description for the operator", Example: "Runs Memcached clusters.", Check: required}},
		{m.ProviderName != "", &m.ProviderName, Question{Text: "Provider's name for the operator", Example: "Example Inc.", Check: required}},
		{m.ProviderURL != "" || m.ProviderName != "", &m.ProviderURL, Question{Text: "URL of the provider, empty for none", Example: "https://example.com", Check: a.checkProviderURL}},
		{m.Keywords != nil, &keywords, Question{Text: "Comma-separated list of keywords for the operator", Example: "memcached,cache", Check: list}},
		{m.Maintainers != nil, &maintainers, Question{Text: "Comma-separated list of maintainers and their emails", Example: "Ana:ana@example.com", Check: func(answer string) error {
			if _, wrong := a.parseMaintainers(answer); len(wrong) > 0 && a.InTerminal {
				return fmt.Errorf("%q: must have the form name:email", wrong[0])
			}
			return list(answer)
		}}},
	} {
		if q.answered {
			continue
		}
		answer, err := a.prompt().Input(q.Question)
		if err != nil {
			return m, err
		}
		*q.into = answer
	}
	if m.Keywords == nil {
		m.Keywords = slices.DeleteFunc(base.SplitList(keywords), func(word string) bool { return word == "" })
	}
	if m.Maintainers == nil {
		found, wrong := a.parseMaintainers(maintainers)
		for _, entry := range wrong {
			a.warnf("maintainer %q is left out, because it does not have the form name:email", entry)
		}
		m.Maintainers = append([]base.Maintainer{}, found...)
	}
	return m, nil
}

// checkProviderURL checks an answer as --provider-url is checked. Answers from a pipe are not checked, as in operator-sdk.
func (a *app) checkProviderURL(answer string) error {
	if problem := base.CheckURL(answer); answer != "" && problem != "" && a.InTerminal {
		return fmt.Errorf("%q: %s", answer, problem)
	}
	return nil
}

// parseMaintainers parses an answer about maintainers. The name of an address without one is the part before the @.
func (a *app) parseMaintainers(answer string) ([]base.Maintainer, []string) {
	entries := base.SplitList(answer)
	for i, entry := range entries {
		if name, email, ok := base.ParseAddress(entry); ok && !strings.Contains(entry, ":") {
			entries[i] = name + ":" + email
		}
	}
	return base.ParseMaintainers(entries)
}
