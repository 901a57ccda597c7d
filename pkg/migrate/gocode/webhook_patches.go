package gocode

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
)

const (
	crdFolder           = "config/crd"
	kustomizationFile   = "kustomization.yaml"
	defaultsKustomizing = "config/default/" + kustomizationFile
)

// patches comments out again, in the CRDs' kustomization, the patches of before that gave CRDs the annotation of
// cert-manager's injector: today's scaffold gives it to those that convert in config/default. One that a person
// edited stays, and so does one that a CRD with conversion would miss.
func (w *Webhooks) patches(config *project.Config) {
	const name = crdFolder + "/" + kustomizationFile
	have, err := w.tree.ReadFile(name)
	if err != nil {
		return // there are no CRDs to kustomize
	}
	patch := regexp.MustCompile(`^- (?:path: )?(patches/cainjection_in_(.+)\.yaml)\s*$`)
	selected := w.selectsCRDs()
	lines := strings.SplitAfter(string(have), "\n")
	for i, line := range lines {
		found := patch.FindStringSubmatch(line)
		if found == nil || !w.plainInjection(path.Join(crdFolder, found[1])) {
			continue
		}
		converts := slices.ContainsFunc(config.Resources(), func(r project.Resource) bool {
			return r.Webhooks != nil && r.Webhooks.Conversion && (r.Plural == found[2] || r.Group+"_"+r.Plural == found[2])
		})
		if !converts || selected {
			lines[i] = "#" + line
		}
	}
	if text := strings.Join(lines, ""); text != string(have) {
		w.tree.WriteFile(name, []byte(text), 0o644)
	}
}

// selectsCRDs tells that config/default gives CRDs what cert-manager's injector asks for.
func (w *Webhooks) selectsCRDs() bool {
	text, err := w.tree.ReadFile(defaultsKustomizing)
	return err == nil && regexp.MustCompile(`(?m)^[^#\n]*kind: CustomResourceDefinition\s*$`).Match(text)
}

// plainInjection tells that a patch sets the annotation and nothing else.
func (w *Webhooks) plainInjection(name string) bool {
	text, err := w.tree.ReadFile(name)
	if err != nil {
		return false
	}
	plain := regexp.MustCompile(`^(#.*|apiVersion: .*|kind: CustomResourceDefinition|metadata:|annotations:|cert-manager\.io/inject-ca-from: .*|name: .*)?$`)
	for line := range strings.Lines(string(text)) {
		if !plain.MatchString(strings.TrimSpace(line)) {
			return false
		}
	}
	return true
}
