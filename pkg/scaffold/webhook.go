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

	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// WebhookReport says what CreateWebhook did beyond the changes of the tree.
type WebhookReport struct {
	// Missing is what config/default lacks for webhooks and a person must add.
	Missing []string
	// NotConverted are the fields that a new conversion does not carry over, each with its version.
	NotConverted []string
	// Skipped are files of end-to-end tests that get no tests of the webhooks, each with the reason.
	Skipped []string
}

// CreateWebhook writes the webhooks that data.Webhook asks for, with conversion from and to the spokes, into the
// tree and wires them into the project. A file that has webhooks of the kind already is extended: what the user
// made of it stays. With force, what the scaffold declares for the asked kinds of webhooks is written again.
// existing are the webhooks that the project has: end-to-end tests that they need as well are not added.
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
	have, err := renderStaying(tree, nil, existing)
	if err != nil {
		return nil, err
	}
	report := &WebhookReport{}
	w := webhookWriter{existing: have.inserts, configured: map[string]bool{}, tree: tree, force: force, replaced: replacedBy(data), skipped: map[string]bool{}}
	for name := range have.files {
		w.configured[name] = true
	}
	for _, event := range webhookEvents(data) {
		w.event(event, data)
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
		w.event("spoke", data)
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
	report.Missing = enableWebhooks(tree, data, len(existing) > 0)
	report.Skipped = slices.Sorted(maps.Keys(w.skipped))
	return report, nil
}

// webhookEvents are the events of create webhook, but for those of its spokes.
func webhookEvents(data Data) []string {
	events := []string{"webhook"}
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
	return compareFields(tree, outputPath("api/GROUP/SPOKE", data), outputPath("api/GROUP/VERSION", data), data.Resource.Kind)
}

// webhookWriter lays events into a tree and collects what goes wrong.
type webhookWriter struct {
	tree     *worktree.Tree
	force    bool
	replaced map[string]bool
	existing map[string]map[string]map[string]bool // file → marker → texts that existing webhooks need
	// configured are the files that existing webhooks need as well.
	configured map[string]bool
	skipped    map[string]bool
	failures   []error
}

// event renders one event: files that are missing are written, Go files that are there get the declarations they
// lack, other files stay, and inserts go to their markers.
func (w *webhookWriter) event(event string, data Data) {
	rendered, err := Render(event, data)
	if err != nil {
		w.failures = append(w.failures, err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(rendered.Files)) {
		if unreferenced(w.tree, name) || strings.HasPrefix(name, "config/") && w.configured[name] && !w.tree.Exists(name) {
			continue // the project does without it
		}
		if err := w.file(name, rendered.Files[name], data); err != nil {
			w.failures = append(w.failures, err)
		}
	}
	inserts := rendered.Inserts
	for name := range inserts {
		// Projects may do without network policies and end-to-end tests; neither is what the webhooks run by.
		switch {
		case strings.HasPrefix(name, "config/network-policy/") && !(w.tree.Exists(name) && w.tree.Exists("config/network-policy/allow-webhook-traffic.yaml")):
			delete(inserts, name)
		case strings.HasPrefix(name, "test/e2e/"):
			w.skipUnmarked(name, inserts)
		}
	}
	if err := insertAll(w.tree, inserts); err != nil {
		w.failures = append(w.failures, err)
	}
}

// skipUnmarked leaves out what a file of end-to-end tests has no marker for, and what is there for other webhooks.
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
		// Suites of kubebuilder before v4.7 do not have the place for the other one.
		if marker == "e2e-webhooks-checks" {
			w.skipped[fmt.Sprintf("%s lacks the marker +kubebuilder:scaffold:%s", name, marker)] = true
		}
	}
}

// unreferenced reports whether the kustomization of a file's directory, written before, does without the file.
func unreferenced(tree *worktree.Tree, name string) bool {
	dir, base := path.Split(name)
	if base == "kustomization.yaml" || dir != "config/webhook/" && dir != certificates && dir != "config/network-policy/" && dir != "config/crd/" {
		return false
	}
	content, err := tree.ReadFile(dir + "kustomization.yaml")
	if errors.Is(err, fs.ErrNotExist) {
		return dir == "config/network-policy/" // of which webhooks only need a part
	}
	return err == nil && dir != "config/network-policy/" && !bytes.Contains(content, []byte(base))
}

func (w *webhookWriter) file(name string, content []byte, data Data) error {
	if err := w.tree.Blocked(name); err != nil {
		return err
	}
	have, err := w.tree.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if path.Base(name) == outputPath("KIND_webhook_test.go", data) && !bytes.Contains(content, []byte("Describe(")) {
			return nil // conversion brings a test of its own
		}
		w.tree.WriteFile(name, content, worktree.FileMode)
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, worktree.Cause(err))
	}
	if path.Ext(name) != ".go" || policyFor(name) == shared {
		return nil
	}
	merged, err := mergeDeclarations(name, have, content, func(declaration string) bool {
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
	if !bytes.Equal(merged, have) {
		w.tree.WriteFile(name, merged, worktree.FileMode)
	}
	return nil
}

// replacedBy names the declarations that --force writes again: those of the asked kinds of webhooks.
func replacedBy(data Data) map[string]bool {
	kind := data.Resource.Kind
	names := map[string]bool{}
	if data.Webhook.Defaulting {
		names["type "+kind+"CustomDefaulter"] = true
		names["func "+kind+"CustomDefaulter.Default"] = true
	}
	if data.Webhook.Validation {
		names["type "+kind+"CustomValidator"] = true
		for _, method := range []string{"Create", "Update", "Delete"} {
			names["func "+kind+"CustomValidator.Validate"+method] = true
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

// enableCRDConfiguration makes config/crd rename the service in conversion patches; kubebuilder leaves the
// lines out as comments until then.
func enableCRDConfiguration(tree *worktree.Tree) {
	const name = "config/crd/kustomization.yaml"
	content, err := tree.ReadFile(name)
	if err != nil {
		return
	}
	plain, crlf := textdiff.ToLF(content)
	lines := uncommentLine(strings.Split(string(plain), "\n"), `configurations:`)
	out := strings.Join(uncommentLine(lines, `- kustomizeconfig\.yaml`), "\n")
	if out := textdiff.FromLF([]byte(out), crlf); !bytes.Equal(out, content) {
		tree.WriteFile(name, out, worktree.FileMode)
	}
}
