package scaffold

import (
	"bytes"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// Webhooks are the webhooks of a kind in the form of the arguments of CreateWebhook.
type Webhooks struct {
	Data
	Spokes []Spoke
}

// addWebhooks adds the output of create webhook.
func (r *rendering) addWebhooks(tree *worktree.Tree, w Webhooks) error {
	data := w.Data
	if err := adapt(tree, &data); err != nil {
		return err
	}
	// Projects of kubebuilder before v4.3 have them in the package of the types: only the manifests are the same.
	inPackage := inWebhookPackage(tree, data)
	noWebhookPackage := !tree.Exists(outputPath(webhookPath, data)) ||
		inPackage != data.Webhook && !inPackage.Defaulting && !inPackage.Validation && !inPackage.Conversion
	suite := outputPath("internal/webhook/GROUP/VERSION/webhook_suite_test.go", data)
	add := func(event string) error {
		rendered, err := Render(event, data)
		if err != nil {
			return err
		}
		if noWebhookPackage {
			delete(rendered.Files, suite)
			delete(rendered.Inserts, suite)
			delete(rendered.Inserts, data.Project.MainFile())
		}
		declared := rendered
		if inPackage := inWebhookPackage(tree, data); inPackage != data.Webhook {
			code := data
			code.Webhook = inPackage
			if declared, err = Render(event, code); err != nil {
				return err
			}
		}
		for name := range rendered.Files {
			if !isExtendable(name, data) {
				continue
			}
			content := declared.Files[name]
			delete(rendered.Files, name)
			if content != nil && !(noWebhookPackage && strings.HasPrefix(path.Base(name), outputPath("KIND_webhook", data))) {
				r.extended[name] = append(r.extended[name], content)
			}
		}
		delete(rendered.Inserts, project.DefaultKustomization) // handled by updateOverlay
		r.add(rendered.Files, rendered.Inserts)
		return nil
	}
	for _, event := range webhookEvents(data) {
		if err := add(event); err != nil {
			return err
		}
	}
	if w.Webhook.Conversion && (w.Webhook.Defaulting || w.Webhook.Validation) {
		// Conversion may have been created before the others.
		data.Webhook.Defaulting, data.Webhook.Validation = false, false
		if err := add("webhook"); err != nil {
			return err
		}
		data.Webhook = w.Webhook
	}
	for _, spoke := range w.Spokes {
		data.Spoke = spoke
		// If the types cannot be read, the conversion counts as edited.
		data.Spoke.Fields, _ = spokeFields(tree, data)
		if err := add("spoke"); err != nil {
			return err
		}
	}
	return nil
}

// inWebhookPackage returns the webhooks of data without those in the package of their types, where older tools wrote them.
func inWebhookPackage(tree *worktree.Tree, data Data) Webhook {
	w := data.Webhook
	if !tree.Exists(outputPath(apiPath+"/KIND_webhook.go", data)) {
		return w
	}
	content, _ := tree.ReadFile(outputPath(webhookPath, data)) // nil if it does not exist
	declares := func(what string) bool {
		return regexp.MustCompile(`\b` + regexp.QuoteMeta(data.Resource.Kind) + `(Custom)?` + what + `\b`).Match(content)
	}
	w.Defaulting = w.Defaulting && declares("Defaulter")
	w.Validation = w.Validation && declares("Validator")
	return w
}

// checkWebhookPackage returns an error if webhooks are in the package of their types.
func checkWebhookPackage(tree *worktree.Tree, data Data) error {
	if inWebhookPackage(tree, data) == data.Webhook {
		return nil
	}
	return findingf(outputPath(apiPath+"/KIND_webhook.go", data), "webhooks in the package of their types cannot be deleted; "+
		"run 'operon upgrade', which moves them to internal/webhook, or remove them by hand with their entry in PROJECT")
}

// isExtendable reports whether create webhook adds declarations to an existing file.
func isExtendable(name string, data Data) bool {
	kind := outputPath("KIND", data)
	switch path.Base(name) {
	case kind + "_webhook.go", kind + "_webhook_test.go", kind + "_conversion.go", kind + "_conversion_test.go":
		return true
	}
	return false
}

// hasOtherCertificates reports whether config/certmanager was changed or extended.
func (x *deleter) hasOtherCertificates() bool {
	const name = project.CertManagerDir + "/" + project.KustomizationFile
	content, ok, err := x.read(name)
	return err == nil && ok && !isUnedited(name, content, x.removed) && !x.isPeers(name, content)
}

// keepOtherCertificates keeps config/certmanager, and reports that, if something other than webhooks uses it.
func (x *deleter) keepOtherCertificates(o *overlayFile) (kept bool) {
	if !o.hasOtherCertificates() && !x.hasOtherCertificates() {
		return false
	}
	x.inUse = append(x.inUse, project.CertManagerDir)
	maps.DeleteFunc(x.removed.files, func(name string, _ [][]byte) bool { return strings.HasPrefix(name, project.CertManagerDir+"/") })
	return true
}

// removeDeclarations removes declarations from Go files, and files without remaining declarations.
func (x *deleter) removeDeclarations() error {
	for _, name := range slices.Sorted(maps.Keys(x.removed.extended)) {
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		cut, err := cutDeclarations(name, content, x.removed.extended[name], x.kept.extended[name], x.written)
		if err != nil {
			return err
		}
		if cut.rest == nil && x.isPeers(name, content) {
			cut.edited = nil
		}
		x.edited = append(x.edited, cut.edited...)
		if cut.rest == nil {
			x.deleted = append(x.deleted, name)
		} else if !bytes.Equal(cut.rest, content) {
			x.rest[name] = cut.rest
		}
	}
	return nil
}

// updateOverlay disables the removed webhooks in config/default and removes the generated configurations.
func (x *deleter) updateOverlay(removed, kept []Webhooks) error {
	content, ok, err := x.read(project.DefaultKustomization)
	if err != nil {
		return err
	}
	if ok {
		o := openOverlay(content)
		o.disable(removed, kept)
		x.edited = append(x.edited, o.edited...)
		if rest := o.bytes(); !bytes.Equal(rest, content) {
			x.rest[project.DefaultKustomization] = rest
		}
		if len(kept) == 0 {
			x.keepOtherCertificates(o)
		}
	}
	initial := x.removed.files[project.WebhookManifests]
	if len(initial) == 0 || slices.ContainsFunc(kept, isAdmission) || !x.tree.Exists(project.WebhookManifests) {
		return nil
	}
	// Generated files contain no edits of the user.
	if x.kept.files[project.WebhookManifests] != nil {
		x.rest[project.WebhookManifests] = initial[0]
	} else {
		x.deleted = append(x.deleted, project.WebhookManifests)
	}
	return nil
}
