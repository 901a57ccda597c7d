package scaffold

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
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
func (r *rendering) addWebhooks(tree *Tree, w Webhooks) error {
	data := w.Data
	if err := adapt(tree, &data); err != nil {
		return err
	}
	add := func(event string) error {
		rendered, err := Render(event, data)
		if err != nil {
			return err
		}
		for name, content := range rendered.Files {
			if extendable(name, data) {
				r.extended[name] = append(r.extended[name], content)
				delete(rendered.Files, name)
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

// extendable tells whether create webhook adds declarations to a file that is there.
func extendable(name string, data Data) bool {
	kind := outputPath("KIND", data)
	switch path.Base(name) {
	case kind + "_webhook.go", kind + "_webhook_test.go", kind + "_conversion.go", kind + "_conversion_test.go":
		return true
	}
	return false
}

// leftovers finds what the end-to-end tests of other tools still expect of webhooks that are gone.
func leftovers(tree *Tree, d Deletion) []string {
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
	for _, name := range sortedKeys(x.going.extended) {
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
		if len(staying) == 0 && o.certificatesInUse() {
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

// overlayFile is config/default/kustomization.yaml as lines.
type overlayFile struct {
	lines  []string
	crlf   bool
	edited []string
}

func openOverlay(content []byte) *overlayFile {
	plain, crlf := unixLines(content)
	return &overlayFile{lines: strings.Split(string(plain), "\n"), crlf: crlf}
}

func (o *overlayFile) bytes() []byte {
	end := "\n"
	if o.crlf {
		end = "\r\n"
	}
	return []byte(strings.Join(o.lines, end))
}

// disable is the reverse of enableWebhooks.
func (o *overlayFile) disable(going, staying []Webhooks) {
	needed := func(is func(Webhooks) bool) bool { return slices.ContainsFunc(staying, is) }
	for _, w := range going {
		name := crdName(w.Data)
		if w.Webhook.Conversion && !needed(func(s Webhooks) bool { return s.Webhook.Conversion && crdName(s.Data) == name }) {
			o.cutTargets(name)
		}
	}
	var unwanted []string
	if !needed(func(w Webhooks) bool { return w.Webhook.Validation }) {
		unwanted = append(unwanted, "kind: ValidatingWebhookConfiguration")
	}
	if !needed(func(w Webhooks) bool { return w.Webhook.Defaulting }) {
		unwanted = append(unwanted, "kind: MutatingWebhookConfiguration")
	}
	if len(staying) == 0 {
		unwanted = append(unwanted, "name: webhook-service")
	}
	o.commentReplacements(unwanted)
	if len(staying) > 0 {
		return
	}
	o.comment("- ../webhook")
	o.comment("- path: manager_webhook_patch.yaml")
	if !o.certificatesInUse() {
		o.comment("- ../certmanager")
	}
	if !slices.ContainsFunc(o.lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "- source:") }) {
		o.comment("replacements:")
	}
}

func crdName(data Data) string { return data.Resource.Plural + "." + data.Resource.QualifiedGroup }

// certificatesInUse tells whether something other than webhooks has certificates, as metrics may have.
func (o *overlayFile) certificatesInUse() bool {
	return slices.ContainsFunc(o.lines, func(line string) bool {
		text := strings.TrimSpace(line)
		return !strings.HasPrefix(text, "#") && (strings.Contains(text, "cert-manager.io") || strings.Contains(text, "cert_metrics_manager_patch.yaml"))
	})
}

// comment makes comments of the list item or key that is a whole line, and of what is indented below it.
func (o *overlayFile) comment(text string) {
	for i := 0; i < len(o.lines); i++ {
		if line := strings.TrimSpace(o.lines[i]); line != text && !strings.HasPrefix(line, text+" ") {
			continue
		}
		depth := len(indentation(o.lines[i]))
		o.lines[i] = "#" + o.lines[i]
		for i++; i < len(o.lines) && len(indentation(o.lines[i])) > depth && strings.TrimSpace(o.lines[i]) != ""; i++ {
			o.lines[i] = "#" + o.lines[i]
		}
		i--
	}
}

// commentReplacements makes comments of the replacements that have an unwanted text, and of those that have
// lost their last target.
func (o *overlayFile) commentReplacements(unwanted []string) {
	for i := 0; i < len(o.lines); {
		if !strings.HasPrefix(strings.TrimSpace(o.lines[i]), "- source:") {
			i++
			continue
		}
		end := i + 1
		depth := len(indentation(o.lines[i]))
		for end < len(o.lines) && strings.TrimSpace(o.lines[end]) != "" && len(indentation(o.lines[end])) > depth {
			end++
		}
		targets := slices.ContainsFunc(o.lines[i:end], func(line string) bool { return strings.Contains(line, "- select:") })
		if !targets || mentions(o.lines[i:end], unwanted) {
			for j := i; j < end; j++ {
				o.lines[j] = "#" + o.lines[j]
			}
		}
		i = end
	}
}

// cutTargets takes the targets of replacements out that are the CRD of that name, switched on or not.
func (o *overlayFile) cutTargets(crd string) {
	plain := func(line string) string { return strings.TrimPrefix(line, "#") }
	for i := 0; i < len(o.lines); {
		if !strings.HasPrefix(strings.TrimSpace(plain(o.lines[i])), "- select:") {
			i++
			continue
		}
		end := i + 1
		depth := len(indentation(plain(o.lines[i])))
		for end < len(o.lines) && strings.TrimSpace(plain(o.lines[end])) != "" && len(indentation(plain(o.lines[end]))) > depth {
			end++
		}
		if !mentions(o.lines[i:end], []string{"name: " + crd}) {
			i = end
			continue
		}
		var words []string
		for _, line := range o.lines[i:end] {
			words = append(words, strings.Fields(plain(line))...)
		}
		if !caTarget(strings.Join(words, " "), crd) {
			o.edited = append(o.edited, fmt.Sprintf("%s:%d (%s)", overlay, i+1, "name: "+crd))
		}
		o.lines = slices.Delete(o.lines, i, end)
	}
}

// caTarget tells whether the words of a target are those that create webhook adds.
func caTarget(words, crd string) bool {
	for _, index := range []string{"0", "1"} {
		if words == "- select: kind: CustomResourceDefinition name: "+crd+
			" fieldPaths: - .metadata.annotations.[cert-manager.io/inject-ca-from] options: delimiter: '/' index: "+index+" create: true" {
			return true
		}
	}
	return false
}
