package scaffold

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// selfManagedRuntime is the first release of controller-runtime that internal/webhookcert compiles with.
const selfManagedRuntime = "v0.19.0"

// FindCertificates returns where the webhooks of a project get their certificate, by the files that create webhook wrote.
func FindCertificates(tree *worktree.Tree) project.Certificates {
	switch {
	case tree.Exists(project.CertificatesDir + "/manager_patch.yaml"):
		return project.SelfManaged
	case tree.Exists(project.CertificatesDir + "/" + project.KustomizationFile):
		return project.Provided
	}
	return project.CertManager
}

// certificateEvents returns the events of create webhook for the certificate of the webhook server.
func certificateEvents(from project.Certificates) []string {
	switch from {
	case project.SelfManaged:
		return []string{"certificates-self-managed"}
	case project.Provided:
		return []string{"webhook-mount", "certificates-provided"}
	}
	return []string{"webhook-mount", "certificates-cert-manager"}
}

// CertificatesReport describes the result of SetCertificates beyond the changes of the tree.
type CertificatesReport struct {
	DeleteReport
	// Missing are entries that the user must add to config/default.
	Missing []string
}

// SetCertificates changes where all webhooks of a project get their certificate: it removes what only the current source needs, and
// adds what the new one needs. d.RemovedWebhooks are the webhooks. Edits of the user in what is removed are an EditedError unless
// d.Force is set.
func SetCertificates(tree *worktree.Tree, d Deletion, to project.Certificates) (*CertificatesReport, error) {
	from := FindCertificates(tree)
	with := func(certificates project.Certificates) []Webhooks {
		webhooks := slices.Clone(d.RemovedWebhooks)
		for i := range webhooks {
			webhooks[i].Project.Certificates = certificates
		}
		return webhooks
	}
	x := newDeleter(tree, d)
	var err error
	if x.removed, err = renderAll(tree, nil, with(from)); err != nil {
		return nil, err
	}
	if x.kept, err = renderAll(tree, nil, with(to)); err != nil {
		return nil, err
	}
	for name, contents := range x.removed.files {
		if kept := x.kept.files[name]; kept != nil && !bytes.Equal(kept[0], contents[0]) {
			delete(x.kept.files, name) // each source has its own
		}
	}
	enabled, err := x.switchOverlay(from, to, d.RemovedWebhooks)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{func() error { return x.removeFiles(Deletion{}) }, x.removeTexts, x.removeOtherFiles} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	tests := x.changedTests()
	if err := x.finish(d.Force); err != nil {
		return nil, err
	}
	report := &CertificatesReport{DeleteReport: DeleteReport{Lost: x.edited, Kept: x.inUse}}
	w := webhookWriter{tree: tree, skipped: map[string]bool{}}
	for _, webhook := range with(to) {
		data := webhook.Data
		if err := adapt(tree, &data); err != nil {
			return nil, err
		}
		if err := checkCertificates(tree, data); err != nil {
			return nil, err
		}
		for _, event := range certificateEvents(to) {
			w.writeEvent(event, data)
		}
		if err := insertTests(tree, data, tests); err != nil {
			return nil, err
		}
		if enabled {
			report.Missing = append(report.Missing, enableWebhooks(tree, data, true, true)...)
		}
	}
	slices.Sort(report.Missing)
	report.Missing = slices.Compact(report.Missing)
	return report, errors.Join(worktree.OnePerCause(w.failures)...)
}

// switchOverlay removes from config/default what only the current source of certificates needs. It reports whether the webhooks are
// part of the deployment.
func (x *deleter) switchOverlay(from, to project.Certificates, webhooks []Webhooks) (enabled bool, err error) {
	content, ok, err := x.read(project.DefaultKustomization)
	if err != nil || !ok {
		return false, err
	}
	o := openOverlay(content)
	enabled = slices.ContainsFunc(o.lines, func(l string) bool { return strings.TrimSpace(l) == webhookEntry })
	if from == project.CertManager {
		// Older scaffolds of kubebuilder have this patch for the annotations of cert-manager.
		o.comment("- path: webhookcainjection_patch.yaml")
		o.comment("- webhookcainjection_patch.yaml")
		unwanted := []string{"name: webhook-service", "kind: ValidatingWebhookConfiguration", "kind: MutatingWebhookConfiguration"}
		for _, w := range webhooks {
			if w.Webhook.Conversion {
				unwanted = append(unwanted, "name: "+crdName(w.Data))
			}
		}
		o.commentReplacements(unwanted)
		if !x.keepOtherCertificates(o) {
			o.comment("- ../certmanager")
		}
		o.commentEmpty("replacements:")
	}
	if to == project.SelfManaged {
		o.comment("- path: manager_webhook_patch.yaml")
		o.comment("- manager_webhook_patch.yaml")
	}
	o.commentEmpty("patches:")
	o.lines = withoutCertificates(o.lines)
	x.rest[project.DefaultKustomization] = o.bytes()
	return enabled, nil
}

// changedTests returns the end-to-end tests from which texts are removed.
func (x *deleter) changedTests() map[string]bool {
	changed := map[string]bool{}
	for name, rest := range x.rest {
		if before, err := x.tree.ReadFile(name); err == nil && strings.HasPrefix(name, "test/e2e/") {
			changed[name] = !bytes.Equal(before, rest)
		}
	}
	return changed
}

// insertTests adds the checks of a webhook to end-to-end tests.
func insertTests(tree *worktree.Tree, data Data, tests map[string]bool) error {
	for _, event := range webhookEvents(data) {
		rendered, err := Render(event, data)
		if err != nil {
			return err
		}
		maps.DeleteFunc(rendered.Inserts, func(name string, _ map[string]string) bool { return !tests[name] })
		if err := insertAll(tree, rendered.Inserts); err != nil {
			return err
		}
	}
	return nil
}

// checkCertificates returns an error if a project's libraries are too old for certificates that the manager issues.
func checkCertificates(tree *worktree.Tree, data Data) error {
	if data.Project.Certificates != project.SelfManaged {
		return nil
	}
	runtime, err := findRuntime(tree)
	if err != nil {
		return err
	}
	return checkVersion(runtime, selfManagedRuntime, "certificates that the manager issues")
}

const (
	// Entries of config/default.
	webhookEntry      = "- ../webhook"
	certificatesEntry = "- ../certificates"

	certificatesComment = "# [CERTIFICATES] The certificate of the webhook server, without cert-manager."
)

// withCertificates adds the component config/certificates to the lines of config/default/kustomization.yaml.
func withCertificates(lines []string) []string {
	if slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == certificatesEntry }) {
		return lines
	}
	if at := slices.Index(lines, "components:"); at >= 0 {
		return slices.Insert(lines, at+1, certificatesEntry)
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return append(lines, "", certificatesComment, "components:", certificatesEntry, "")
}

// withoutCertificates is the reverse of withCertificates.
func withoutCertificates(lines []string) []string {
	at := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) == certificatesEntry })
	if at < 0 {
		return lines
	}
	lines = slices.Delete(slices.Clone(lines), at, at+1)
	isItem := at < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[at]), "-")
	if at == 0 || lines[at-1] != "components:" || isItem {
		return lines
	}
	from := at - 1
	for from > 0 && (lines[from-1] == certificatesComment || strings.TrimSpace(lines[from-1]) == "") {
		from--
	}
	return slices.Delete(lines, from, at)
}
