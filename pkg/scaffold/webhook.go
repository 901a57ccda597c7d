package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// WebhookReport describes the result of CreateWebhook beyond the changes of the tree.
type WebhookReport struct {
	// Missing are entries that the user must add to config/default.
	Missing []string
	// NotConverted are the fields that a new conversion does not handle, each with its version.
	NotConverted []string
	// Skipped are files of end-to-end tests without tests of the webhooks, each with the reason.
	Skipped []string
}

// CreateWebhook writes the webhooks that data.Webhook selects, with conversion from and to the spokes, into the tree. A
// file with webhooks of the kind is extended, and edits of the user are kept. With force, the declarations of the
// selected kinds of webhooks are overwritten. existing are the webhooks of the project: end-to-end tests that they
// share are not added again.
func CreateWebhook(tree *worktree.Tree, data Data, spokes []Spoke, existing []Webhooks, force bool) (*WebhookReport, error) {
	if err := CheckModule(tree, data.Project.Repo); err != nil {
		return nil, err
	}
	if err := checkRuntime(tree, data); err != nil {
		return nil, err
	}
	if err := adapt(tree, &data); err != nil {
		return nil, err
	}
	if err := checkCertificates(tree, data); err != nil {
		return nil, err
	}
	current, err := renderKept(tree, nil, existing)
	if err != nil {
		return nil, err
	}
	report := &WebhookReport{}
	w := webhookWriter{existing: current.inserts, configured: map[string]bool{}, tree: tree, force: force, replaced: replacedBy(data), skipped: map[string]bool{}}
	for name := range current.files {
		w.configured[name] = true
	}
	for _, event := range webhookEvents(data) {
		w.writeEvent(event, data)
	}
	for _, spoke := range spokes {
		data.Spoke = spoke
		fields, err := spokeFields(tree, data)
		if err != nil {
			return nil, err
		}
		data.Spoke.Fields = fields
		for _, field := range fields.OnlySpoke {
			report.NotConverted = append(report.NotConverted, spoke.Version+" "+field)
		}
		for _, field := range fields.OnlyHub {
			report.NotConverted = append(report.NotConverted, data.Resource.Version+" "+field)
		}
		w.writeEvent("spoke", data)
	}
	if err := errors.Join(worktree.OnePerCause(w.failures)...); err != nil {
		return nil, err
	}
	if data.Webhook.Conversion {
		if err := markStorage(tree, data); err != nil {
			return nil, err
		}
		enableCRDConfiguration(tree)
	}
	copyWebhooks(tree, data.Project)
	report.Missing = enableWebhooks(tree, data, len(existing) > 0, false)
	report.Skipped = slices.Sorted(maps.Keys(w.skipped))
	return report, nil
}

// webhookEvents returns the events of create webhook, without events for spokes.
func webhookEvents(data Data) []string {
	events := append([]string{"webhook"}, certificateEvents(data.Project.Certificates)...)
	if data.Webhook.Defaulting {
		events = append(events, "webhook-defaulting")
	}
	if data.Webhook.Validation {
		events = append(events, "webhook-validation")
	}
	if data.Webhook.Conversion {
		events = append(events, "hub")
	}
	return events
}

// spokeFields compares the fields of the spoke and of the hub.
func spokeFields(tree *worktree.Tree, data Data) (ConvertedFields, error) {
	return compareFields(tree, outputPath(spokePath, data), outputPath(apiPath, data), data.Resource.Kind)
}

// A webhookWriter writes events into a tree and collects errors.
type webhookWriter struct {
	tree     *worktree.Tree
	force    bool
	replaced map[string]bool
	existing map[string]map[string]map[string]bool // file → marker → texts that existing webhooks need
	// configured holds the files that existing webhooks also need.
	configured map[string]bool
	skipped    map[string]bool
	failures   []error
}

// writeEvent writes one event: missing files are created, Go files get missing declarations, other files are kept, and
// inserts are added at their markers.
func (w *webhookWriter) writeEvent(event string, data Data) {
	rendered, err := Render(event, data)
	if err != nil {
		w.failures = append(w.failures, err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rendered.Files)) {
		if isUnreferenced(w.tree, name) ||
			strings.HasPrefix(name, project.ConfigDir+"/") && w.configured[name] && !w.tree.Exists(name) {
			continue // the project has removed it
		}
		if err := w.writeFile(name, rendered.Files[name], data); err != nil {
			w.failures = append(w.failures, err)
		}
	}
	inserts := rendered.Inserts
	for name := range inserts {
		// Network policies and end-to-end tests are optional in projects, and webhooks work without them.
		switch {
		case strings.HasPrefix(name, project.NetworkPolicyDir+"/") &&
			!(w.tree.Exists(name) && w.tree.Exists(project.WebhookPolicyFile)):
			delete(inserts, name)
		case strings.HasPrefix(name, "test/e2e/"):
			w.skipUnmarked(name, inserts)
		}
	}
	if err := insertAll(w.tree, inserts); err != nil {
		w.failures = append(w.failures, err)
	}
}

// skipUnmarked removes inserts for which a file of end-to-end tests has no marker, and those that other webhooks have added.
func (w *webhookWriter) skipUnmarked(name string, inserts map[string]map[string]string) {
	content, err := w.tree.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		w.skipped[name+" does not exist"] = true
		delete(inserts, name)
		return
	}
	for marker, text := range inserts[name] {
		if w.existing[name][marker][text] {
			delete(inserts[name], marker)
			continue
		}
		if err != nil || bytes.Contains(content, []byte("+kubebuilder:scaffold:"+marker)) {
			continue
		}
		delete(inserts[name], marker)
		// Suites of kubebuilder before v4.7 do not have the marker for the other one.
		if marker == "e2e-webhooks-checks" {
			w.skipped[fmt.Sprintf("%s lacks the marker +kubebuilder:scaffold:%s", name, marker)] = true
		}
	}
}

// isUnreferenced reports whether the existing kustomization in a file's directory does not list the file.
func isUnreferenced(tree *worktree.Tree, name string) bool {
	dir, base := path.Dir(name), path.Base(name)
	isPolicy := dir == project.NetworkPolicyDir
	if base == project.KustomizationFile ||
		!isPolicy && dir != project.WebhookConfigDir && dir != project.CertManagerDir && dir != project.CertificatesDir && dir != project.CRDDir {
		return false
	}
	content, err := tree.ReadFile(path.Join(dir, project.KustomizationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return isPolicy // of which webhooks only need a part
	}
	return err == nil && !isPolicy && !bytes.Contains(content, []byte(base))
}

func (w *webhookWriter) writeFile(name string, content []byte, data Data) error {
	if err := w.tree.Blocked(name); err != nil {
		return err
	}
	current, err := w.tree.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if path.Base(name) == outputPath("KIND_webhook_test.go", data) && !bytes.Contains(content, []byte("Describe(")) {
			return nil // conversion has its own test
		}
		w.tree.WriteFile(name, content, worktree.FileMode)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	}
	if rule, _ := project.FileRuleOf(name); path.Ext(name) != ".go" || rule.Existing == project.Share {
		return nil
	}
	merged, err := mergeDeclarations(name, current, content, func(declaration string) bool {
		return w.force && w.replaced[declaration]
	})
	if err != nil {
		return err
	}
	if path.Base(name) == outputPath("KIND_webhook.go", data) {
		if merged, err = wireWebhooks(name, merged, data); err != nil {
			return err
		}
	}
	if !bytes.Equal(merged, current) {
		w.tree.WriteFile(name, merged, worktree.FileMode)
	}
	return nil
}

// replacedBy returns the keys of the declarations that --force overwrites: the ones for the selected types of webhooks.
func replacedBy(data Data) map[string]bool {
	kind := data.Resource.Kind
	names := map[string]bool{}
	if data.Webhook.Defaulting {
		names["type "+data.Defaulter()] = true
		names["func "+data.Defaulter()+".Default"] = true
	}
	if data.Webhook.Validation {
		names["type "+data.Validator()] = true
		for _, method := range []string{"Create", "Update", "Delete"} {
			names["func "+data.Validator()+".Validate"+method] = true
		}
	}
	if data.Webhook.Conversion {
		for _, method := range []string{"Hub", "ConvertTo", "ConvertFrom"} {
			names["func "+kind+"."+method] = true
		}
		names["func Fuzz"+kind+"Conversion"] = true
	}
	return names
}

// enableCRDConfiguration uncomments the configuration in config/crd that renames the service in conversion patches, which
// kubebuilder leaves commented out until then.
func enableCRDConfiguration(tree *worktree.Tree) {
	rewriteFile(tree, project.CRDKustomization, func(content []byte) []byte {
		plain, crlf := textdiff.ToLF(content)
		lines := uncommentLine(strings.Split(string(plain), "\n"), `configurations:`)
		lines = uncommentLine(lines, `- kustomizeconfig\.yaml`)
		return textdiff.FromLF([]byte(strings.Join(lines, "\n")), crlf)
	})
}
