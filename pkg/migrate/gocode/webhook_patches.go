package gocode

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

// patches comments out the old patches in the kustomization of CRDs that added the annotation of cert-manager's
// injector: the current scaffold adds it in config/default for CRDs with conversion. Edited patches, and those that a
// CRD with conversion needs, are kept.
func (w *Webhooks) patches(config *project.Config) {
	const name = project.CRDKustomization
	current, err := w.tree.ReadFile(name)
	if err != nil {
		return // no CRDs
	}
	patch := regexp.MustCompile(`^- (?:path: )?(patches/cainjection_in_(.+)\.yaml)\s*$`)
	selected := w.selectsCRDs()
	lines := strings.SplitAfter(string(current), "\n")
	for i, line := range lines {
		found := patch.FindStringSubmatch(line)
		if found == nil || !w.isPlainInjection(path.Join(project.CRDDir, found[1])) {
			continue
		}
		converts := slices.ContainsFunc(config.Resources(), func(r project.Resource) bool {
			return r.Webhooks != nil && r.Webhooks.Conversion && (r.Plural == found[2] || r.Group+"_"+r.Plural == found[2])
		})
		if !converts || selected {
			lines[i] = "#" + line
		}
	}
	if text := strings.Join(lines, ""); text != string(current) {
		w.tree.WriteFile(name, []byte(text), 0o644)
	}
}

// selectsCRDs reports whether config/default adds the annotation of cert-manager's injector to CRDs.
func (w *Webhooks) selectsCRDs() bool {
	text, err := w.tree.ReadFile(project.DefaultKustomization)
	return err == nil && regexp.MustCompile(`(?m)^[^#\n]*kind: CustomResourceDefinition\s*$`).Match(text)
}

// isPlainInjection reports whether a patch sets only the annotation.
func (w *Webhooks) isPlainInjection(name string) bool {
	text, err := w.tree.ReadFile(name)
	if err != nil {
		return false
	}
	plain := regexp.MustCompile(`^(#.*|apiVersion: .*|kind: CustomResourceDefinition|metadata:|annotations:|` +
		`cert-manager\.io/inject-ca-from: .*|name: .*)?$`)
	for line := range strings.Lines(string(text)) {
		if !plain.MatchString(strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}
