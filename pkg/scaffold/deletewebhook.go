package scaffold

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// Webhooks are webhooks of a kind, as create webhook is asked for them: data.Webhook says which, Spokes are
// the versions that convert to and from it.
type Webhooks struct {
	Data
	Spokes []Spoke
}

const (
	overlay          = "config/default/kustomization.yaml"
	webhookManifests = "config/webhook/manifests.yaml"
	certificates     = "config/certmanager/"
)

// addWebhooks renders what create webhook writes.
func (r *rendering) addWebhooks(tree *worktree.Tree, w Webhooks) error {
	data := w.Data
	if err := adapt(tree, &data); err != nil {
		return err
	}
	// Projects of kubebuilder before v4.3 have them in the package of the types: only the manifests are alike.
	here := inWebhookPackage(tree, data)
	elsewhere := !tree.Exists(outputPath("internal/webhook/GROUP/VERSION/KIND_webhook.go", data)) ||
		here != data.Webhook && !here.Defaulting && !here.Validation && !here.Conversion
	suite := outputPath("internal/webhook/GROUP/VERSION/webhook_suite_test.go", data)
	add := func(event string) error {
		rendered, err := Render(event, data)
		if err != nil {
			return err
		}
		if elsewhere {
			delete(rendered.Files, suite)
			delete(rendered.Inserts, suite)
			delete(rendered.Inserts, data.Project.MainFile())
		}
		declared := rendered
		if here := inWebhookPackage(tree, data); here != data.Webhook {
			code := data
			code.Webhook = here
			if declared, err = Render(event, code); err != nil {
				return err
			}
		}
		for name := range rendered.Files {
			if !extendable(name, data) {
				continue
			}
			content := declared.Files[name]
			delete(rendered.Files, name)
			if content != nil && !(elsewhere && strings.HasPrefix(path.Base(name), outputPath("KIND_webhook", data))) {
				r.extended[name] = append(r.extended[name], content)
			}
		}
		delete(rendered.Inserts, overlay) // configuration knows its comments
		r.add(rendered.Files, rendered.Inserts)
		return nil
	}
	for _, event := range webhookEvents(data) {
		if err := add(event); err != nil {
			return err
		}
	}
	if w.Webhook.Conversion && (w.Webhook.Defaulting || w.Webhook.Validation) {
		// Conversion may have come first, and then the others.
		data.Webhook.Defaulting, data.Webhook.Validation = false, false
		if err := add("webhook"); err != nil {
			return err
		}
		data.Webhook = w.Webhook
	}
	for _, spoke := range w.Spokes {
		data.Spoke = spoke
		// Types that cannot be read any more have a conversion that looks edited.
		data.Spoke.Fields, _ = spokeFields(tree, data)
		if err := add("spoke"); err != nil {
			return err
		}
	}
	return nil
}

// inWebhookPackage returns the webhooks of data without those that are in the package of their types, where tools wrote
// them before there was internal/webhook.
func inWebhookPackage(tree *worktree.Tree, data Data) Webhook {
	w := data.Webhook
	if !tree.Exists(outputPath("api/GROUP/VERSION/KIND_webhook.go", data)) {
		return w
	}
	content, _ := tree.ReadFile(outputPath("internal/webhook/GROUP/VERSION/KIND_webhook.go", data)) // nil where there is none
	w.Defaulting = w.Defaulting && bytes.Contains(content, []byte(data.Resource.Kind+"CustomDefaulter"))
	w.Validation = w.Validation && bytes.Contains(content, []byte(data.Resource.Kind+"CustomValidator"))
	return w
}

// besideTypes refuses webhooks in the package of their types.
func besideTypes(tree *worktree.Tree, data Data) error {
	if inWebhookPackage(tree, data) == data.Webhook {
		return nil
	}
	return &ContentError{fmt.Errorf("%s: webhooks in the package of their types cannot be deleted; run upgrade, which moves them to internal/webhook, "+
		"or remove them by hand with their entry in PROJECT", outputPath("api/GROUP/VERSION/KIND_webhook.go", data))}
}

// extendable tells whether create webhook adds declarations to a file that is there.
func extendable(name string, data Data) bool {
	kind := outputPath("KIND", data)
	switch path.Base(name) {
	case kind + "_webhook.go", kind + "_webhook_test.go", kind + "_conversion.go", kind + "_conversion_test.go":
		return true
	}
	return false
}

// otherCertificates reports whether config/certmanager is not what create webhook wrote.
func (x *deleter) otherCertificates() bool {
	const name = certificates + "kustomization.yaml"
	content, ok, err := x.read(name)
	return err == nil && ok && !scaffolded(name, content, x.going)
}

// leftovers finds what the end-to-end tests of other tools still expect of webhooks that are gone.
func leftovers(tree *worktree.Tree, d Deletion) []string {
	const tests = "test/e2e/e2e_test.go"
	content, err := tree.ReadFile(tests)
	if err != nil || len(d.GoingWebhooks) == 0 {
		return nil
	}
	name := d.GoingWebhooks[0].Project.Name
	needed := func(is func(Webhooks) bool) bool { return slices.ContainsFunc(d.StayingWebhooks, is) }
	var gone []string
	if len(d.StayingWebhooks) == 0 {
		gone = append(gone, name+"-webhook-service", "webhook-server-cert")
	}
	if !needed(func(w Webhooks) bool { return w.Webhook.Defaulting }) {
		gone = append(gone, name+"-mutating-webhook-configuration")
	}
	if !needed(func(w Webhooks) bool { return w.Webhook.Validation }) {
		gone = append(gone, name+"-validating-webhook-configuration")
	}
	var places []string
	for i, line := range strings.Split(string(content), "\n") {
		if slices.ContainsFunc(gone, func(text string) bool { return strings.Contains(line, text) }) {
			places = append(places, fmt.Sprintf("%s:%d", tests, i+1))
		}
	}
	return places
}

// declarations takes declarations out of Go files, and the files with their last one.
func (x *deleter) declarations() error {
	for _, name := range slices.Sorted(maps.Keys(x.going.extended)) {
		content, ok, err := x.read(name)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		cut, err := cutDeclarations(name, content, x.going.extended[name], x.staying.extended[name])
		if err != nil {
			return err
		}
		x.edited = append(x.edited, cut.edited...)
		if cut.rest == nil {
			x.gone = append(x.gone, name)
		} else if !bytes.Equal(cut.rest, content) {
			x.rest[name] = cut.rest
		}
	}
	return nil
}

// configuration switches off what config/default has for the webhooks that go, and leaves no trace of them in
// the generated configurations.
func (x *deleter) configuration(going, staying []Webhooks) error {
	content, ok, err := x.read(overlay)
	if err != nil {
		return err
	}
	if ok {
		o := openOverlay(content)
		o.disable(going, staying)
		x.edited = append(x.edited, o.edited...)
		if rest := o.bytes(); !bytes.Equal(rest, content) {
			x.rest[overlay] = rest
		}
		if len(staying) == 0 && (o.certificatesInUse() || x.otherCertificates()) {
			x.kept = append(x.kept, path.Clean(certificates))
			maps.DeleteFunc(x.going.files, func(name string, _ [][]byte) bool { return strings.HasPrefix(name, certificates) })
		}
	}
	called := func(w Webhooks) bool { return w.Webhook.Defaulting || w.Webhook.Validation }
	initial := x.going.files[webhookManifests]
	if len(initial) == 0 || slices.ContainsFunc(staying, called) || !x.tree.Exists(webhookManifests) {
		return nil
	}
	// It is generated, so there is nothing of a person in it.
	if x.staying.files[webhookManifests] != nil {
		x.rest[webhookManifests] = initial[0]
	} else {
		x.gone = append(x.gone, webhookManifests)
	}
	return nil
}
