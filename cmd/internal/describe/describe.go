// Package describe gets the description of an operator, which catalogs show, from flags, a file and the user's answers.
package describe

import (
	"bufio"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/cmd/internal/prompt"
	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/action/bundles"
	"github.com/operon-sdk/operon/pkg/bundle/base"
	"github.com/operon-sdk/operon/pkg/diag"
)

// Options are the flags that describe the operator in the base of the CSV.
type Options struct {
	displayName, description, providerName, providerURL string
	keywords, maintainers                               []string
	maturity, minKubeVersion, icon, file                string
}

// AddTo adds the flags.
func (o *Options) AddTo(f *pflag.FlagSet) {
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

// Check validates the flags.
func (o *Options) Check() diag.Findings {
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

// Metadata returns the values of the file and the flags.
func (o *Options) Metadata(e *env.Env) (base.Metadata, error) {
	var m base.Metadata
	icon := ""
	if o.file != "" {
		data, err := readFile(e, "--metadata-file", o.file)
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
		m.Keywords = words.Trimmed(o.keywords)
	}
	if o.maintainers != nil {
		m.Maintainers, _ = base.ParseMaintainers(words.Trimmed(o.maintainers))
	}
	if icon != "" {
		data, err := readFile(e, "--icon", icon)
		if err != nil {
			return m, err
		}
		if m.Icon, err = base.NewIcon(icon, data); err != nil {
			return m, diag.Findings{{Field: "--icon", Value: icon, Problem: err.Error()}}
		}
	}
	return m, nil
}

// readFile reads a file that a flag names, relative to the working directory.
func readFile(e *env.Env, flag, name string) ([]byte, error) {
	file := e.Absolute(name)
	info, err := e.FS.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a regular file")
	}
	var data []byte
	if err == nil {
		data, err = afero.ReadFile(e.FS, file)
	}
	if err != nil {
		return nil, diag.Findings{{Field: flag, Value: name, Problem: diag.Cause(err).Error()}}
	}
	return data, nil
}

// An Interview asks the user about the operator.
type Interview struct {
	*output.Printer
	// Ask asks the questions of an interview.
	Ask func(steps func(prompt.Answers) []prompt.Step) (prompt.Answers, error)
	// Command is the command in hints.
	Command string
	// Interactive is --interactive, or nil if it is not given.
	Interactive *bool
}

// Metadata returns the description of the operator: from flags, and from prompts for the rest if there is no base yet or
// --interactive is given.
func (v *Interview) Metadata(current *bundles.CurrentBase, o *Options) (base.Metadata, error) {
	m, err := o.Metadata(v.Env)
	if err != nil {
		return m, err
	}
	interactive := v.Interactive != nil && *v.Interactive
	needed := current.Content == nil || current.Scaffolded
	if !interactive && (v.Interactive != nil || !needed) {
		return m, nil
	}
	described, err := current.Described()
	if err != nil {
		return m, err // before the user answers questions
	}
	optional := current.Scaffolded && !interactive && !v.InTerminal // as in CI, where the texts of the scaffold are sufficient
	if optional && !v.InPipe && v.inputIsEmpty() {
		v.warnUnanswered(current)
		return m, nil
	}
	asked, err := v.ask(m, described)
	if errors.Is(err, prompt.ErrNoAnswer) && optional {
		v.warnUnanswered(current)
		return m, nil
	}
	if errors.Is(err, prompt.ErrNoAnswer) || errors.Is(err, prompt.ErrBadAnswers) {
		return m, fmt.Errorf("%w; answer it, set it by flags or --metadata-file, or pass --interactive=false to leave it open", err)
	}
	return asked, err
}

// inputIsEmpty reports whether stdin, which must not be a terminal or a pipe, has nothing to read.
func (v *Interview) inputIsEmpty() bool {
	in := bufio.NewReader(v.In)
	v.In = in
	_, err := in.Peek(1)
	return err != nil
}

// warnUnanswered reports that required questions about the operator have no answer.
func (v *Interview) warnUnanswered(current *bundles.CurrentBase) {
	v.Warnf("%s still has the scaffold's display name, description, provider, keywords or maintainers; run '%s --interactive' at a terminal, "+
		"pass --display-name, --description, --provider-name, --keywords and --maintainers, or edit the file", current.Output, v.Command)
}

// ask asks the questions of operator-sdk that have no answer yet, in its order. At a terminal, an empty answer keeps what described says;
// from a pipe, questions must be answered, as in operator-sdk.
func (v *Interview) ask(m, described base.Metadata) (base.Metadata, error) {
	required := func(answer string) error {
		if answer == "" && !v.InTerminal {
			return errors.New("an answer is required")
		}
		return nil
	}
	list := func(answer string) error { return required(base.SplitList(answer)[0]) }
	var people []string
	for _, one := range described.Maintainers {
		people = append(people, one.Name+":"+one.Email)
	}
	questions := []struct {
		answered bool
		current  string
		prompt.Step
	}{
		{m.DisplayName != "", described.DisplayName, prompt.Step{Name: "display-name", Question: prompt.Question{Text: "Display name for the operator", Example: "Memcached Operator", Check: required}}},
		{m.Description != "", described.Description, prompt.Step{Name: "description", Question: prompt.Question{Text: "Description for the operator", Example: "Runs Memcached clusters.", Check: required, Lines: true}}},
		{m.ProviderName != "", described.ProviderName, prompt.Step{Name: "provider-name", Question: prompt.Question{Text: "Provider's name for the operator", Example: "Example Inc.", Check: required}}},
		{m.ProviderURL != "" || m.ProviderName != "", described.ProviderURL, prompt.Step{Name: "provider-url", Question: prompt.Question{Text: "URL of the provider, empty for none", Example: "https://example.com", Check: v.checkProviderURL}}},
		{m.Keywords != nil, strings.Join(described.Keywords, ","), prompt.Step{Name: "keywords", Question: prompt.Question{Text: "Comma-separated list of keywords for the operator", Example: "memcached,cache", Check: list}}},
		{m.Maintainers != nil, strings.Join(people, ","), prompt.Step{Name: "maintainers", Value: maintainersFlag, Question: prompt.Question{Text: "Comma-separated list of maintainers and their emails", Example: "Ana:ana@example.com", Check: func(answer string) error {
			if _, wrong := parseMaintainers(answer); len(wrong) > 0 && v.InTerminal {
				return fmt.Errorf("%q: must have the form name:email", wrong[0])
			}
			return list(answer)
		}}}},
	}
	var steps []prompt.Step
	for _, q := range questions {
		switch {
		case q.answered:
			continue
		case !v.InTerminal:
		case strings.Contains(q.current, "\n"):
			q.Text += ", empty to keep the current one"
		case q.current != "":
			q.Default = q.current
		case q.Name != "provider-url":
			q.Text += ", empty to leave it open"
		}
		steps = append(steps, q.Step)
	}
	answers, err := v.Ask(func(prompt.Answers) []prompt.Step { return steps })
	if err != nil {
		return m, err
	}
	for name, into := range map[string]*string{
		"display-name": &m.DisplayName, "description": &m.Description, "provider-name": &m.ProviderName, "provider-url": &m.ProviderURL,
	} {
		if answer, ok := answers[name]; ok {
			*into = answer
		}
	}
	if m.Keywords == nil && answers["keywords"] != "" {
		m.Keywords = slices.DeleteFunc(base.SplitList(answers["keywords"]), func(word string) bool { return word == "" })
	}
	if m.Maintainers == nil && answers["maintainers"] != "" {
		found, wrong := parseMaintainers(answers["maintainers"])
		for _, entry := range wrong {
			v.Warnf("maintainer %q is left out, because it does not have the form name:email", entry)
		}
		m.Maintainers = append([]base.Maintainer{}, found...)
	}
	return m, nil
}

// checkProviderURL checks an answer as --provider-url is checked. Answers from a pipe are not checked, as in operator-sdk.
func (v *Interview) checkProviderURL(answer string) error {
	if problem := base.CheckURL(answer); answer != "" && problem != "" && v.InTerminal {
		return fmt.Errorf("%q: %s", answer, problem)
	}
	return nil
}

// maintainersFlag returns the value of --maintainers for an answer about maintainers.
func maintainersFlag(answer string) string {
	var entries []string
	found, _ := parseMaintainers(answer)
	for _, m := range found {
		entries = append(entries, m.Name+":"+m.Email)
	}
	return strings.Join(entries, ",")
}

// parseMaintainers parses an answer about maintainers. The name of an address without one is the part before the @.
func parseMaintainers(answer string) ([]base.Maintainer, []string) {
	entries := base.SplitList(answer)
	for i, entry := range entries {
		if name, email, ok := base.ParseAddress(entry); ok && !strings.Contains(entry, ":") {
			entries[i] = name + ":" + email
		}
	}
	return base.ParseMaintainers(entries)
}
