package scaffold

import (
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// overlayFile holds the lines of config/default/kustomization.yaml.
type overlayFile struct {
	lines  []string
	crlf   bool
	edited diag.Findings
}

func openOverlay(content []byte) *overlayFile {
	plain, crlf := textdiff.ToLF(content)
	return &overlayFile{lines: strings.Split(string(plain), "\n"), crlf: crlf}
}

func (o *overlayFile) bytes() []byte {
	return textdiff.FromLF([]byte(strings.Join(o.lines, "\n")), o.crlf)
}

// disable is the reverse of enableWebhooks.
func (o *overlayFile) disable(removed, kept []Webhooks) {
	needed := func(uses func(Webhooks) bool) bool { return slices.ContainsFunc(kept, uses) }
	for _, w := range removed {
		name := crdName(w.Data)
		converted := needed(func(s Webhooks) bool { return s.Webhook.Conversion && crdName(s.Data) == name })
		if w.Webhook.Conversion && !converted {
			o.removeTargets(name, false)
		} else if converted {
			o.removeTargets(name, true)
		}
	}
	var unwanted []string
	if !needed(func(w Webhooks) bool { return w.Webhook.Validation }) {
		unwanted = append(unwanted, "kind: ValidatingWebhookConfiguration")
	}
	if !needed(func(w Webhooks) bool { return w.Webhook.Defaulting }) {
		unwanted = append(unwanted, "kind: MutatingWebhookConfiguration")
	}
	if len(kept) == 0 {
		unwanted = append(unwanted, "name: webhook-service")
	}
	o.commentReplacements(unwanted)
	if len(kept) > 0 {
		return
	}
	o.comment("- ../webhook")
	o.comment("- path: manager_webhook_patch.yaml")
	o.comment("- manager_webhook_patch.yaml")
	o.commentEmpty("patches:")
	if !o.hasOtherCertificates() {
		o.comment("- ../certmanager")
	}
	o.commentEmpty("replacements:")
	o.lines = withoutCertificates(o.lines)
}

// commentEmpty comments out a top-level key whose list has no items left.
func (o *overlayFile) commentEmpty(key string) {
	at := slices.Index(o.lines, key)
	if at < 0 {
		return
	}
	next := slices.IndexFunc(o.lines[at+1:], func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !strings.HasPrefix(line, "#")
	})
	if next < 0 || !strings.HasPrefix(strings.TrimSpace(o.lines[at+1+next]), "-") {
		o.lines[at] = "#" + key
	}
}

func crdName(data Data) string { return data.Resource.Plural + "." + data.Resource.QualifiedGroup }

// hasOtherCertificates reports whether something other than webhooks uses certificates, such as metrics.
func (o *overlayFile) hasOtherCertificates() bool {
	return slices.ContainsFunc(o.lines, func(line string) bool {
		text := strings.TrimSpace(line)
		return !strings.HasPrefix(text, "#") && (strings.Contains(text, "cert-manager.io") || strings.Contains(text, "cert_metrics_manager_patch.yaml"))
	})
}

// comment comments out a list item or key that fills a line, and the indented lines after it.
func (o *overlayFile) comment(text string) {
	for i := 0; i < len(o.lines); i++ {
		if line := strings.TrimSpace(o.lines[i]); line == text || strings.HasPrefix(line, text+" ") {
			end := blockEnd(o.lines, i, "")
			o.commentOut(i, end)
			i = end - 1
		}
	}
}

// commentOut comments out a range of lines.
func (o *overlayFile) commentOut(from, to int) {
	for i := from; i < to; i++ {
		o.lines[i] = "#" + o.lines[i]
	}
}

// blockEnd returns the end of the block that starts in a line: the lines with more indentation, ignoring a prefix of each.
func blockEnd(lines []string, start int, prefix string) int {
	depth := func(i int) int {
		line := strings.TrimPrefix(lines[i], prefix)
		if strings.TrimSpace(line) == "" {
			return -1
		}
		return len(indentation(line))
	}
	end := start + 1
	for end < len(lines) && depth(end) > depth(start) {
		end++
	}
	return end
}

// commentReplacements comments out the replacements with an unwanted text, and those without a remaining target.
func (o *overlayFile) commentReplacements(unwanted []string) {
	for i := 0; i < len(o.lines); {
		if !strings.HasPrefix(strings.TrimSpace(o.lines[i]), "- source:") {
			i++
			continue
		}
		end := blockEnd(o.lines, i, "")
		targets := slices.ContainsFunc(o.lines[i:end], func(line string) bool { return strings.Contains(line, "- select:") })
		if !targets || mentions(o.lines[i:end], unwanted) {
			o.commentOut(i, end)
		}
		i = end
	}
}

// removeTargets removes the replacement targets for a CRD, commented out or not, or only those that are commented out and repeat
// another one: kubebuilder adds them with each webhook.
func (o *overlayFile) removeTargets(crd string, onlyRepeated bool) {
	plain := func(line string) string { return strings.TrimPrefix(line, "#") }
	if onlyRepeated && !slices.ContainsFunc(o.lines, func(line string) bool { return strings.TrimSpace(line) == "name: "+crd }) {
		return
	}
	for i := 0; i < len(o.lines); {
		if !strings.HasPrefix(strings.TrimSpace(plain(o.lines[i])), "- select:") {
			i++
			continue
		}
		end := blockEnd(o.lines, i, "#")
		if !mentions(o.lines[i:end], []string{"name: " + crd}) || onlyRepeated && !strings.HasPrefix(o.lines[i], "#") {
			i = end
			continue
		}
		var words []string
		for _, line := range o.lines[i:end] {
			words = append(words, strings.Fields(plain(line))...)
		}
		if !isCATarget(strings.Join(words, " "), crd) {
			o.edited = append(o.edited, Edited(diag.Position{File: project.DefaultKustomization, Line: i + 1}, "name: "+crd))
		}
		o.lines = slices.Delete(o.lines, i, end)
	}
}

// isCATarget reports whether the words of a target are those that create webhook adds.
func isCATarget(words, crd string) bool {
	for _, index := range []string{"0", "1"} {
		if words == "- select: kind: CustomResourceDefinition name: "+crd+
			" fieldPaths: - .metadata.annotations.[cert-manager.io/inject-ca-from] options: delimiter: '/' index: "+index+" create: true" {
			return true
		}
	}
	return false
}
