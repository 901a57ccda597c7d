package scaffold

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/textdiff"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// enableWebhooks uncomments the entries of config/default that the webhooks of data need, in the form of this program,
// kubebuilder and operator-sdk. If the project has webhooks already, or they are enabled, only the replacements for the new
// kinds of webhooks are uncommented: the user chose to leave the rest, unless the source of their certificates has just been switched. It
// returns the entries that are missing.
func enableWebhooks(tree *worktree.Tree, data Data, existing, switched bool) (missing []string) {
	content, err := tree.ReadFile(project.DefaultKustomization)
	if err != nil {
		return []string{"the whole file, which is missing"}
	}
	plain, crlf := textdiff.ToLF(content)
	lines := strings.Split(string(plain), "\n")
	has := func(entry string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == entry })
	}
	on := (has("- ../webhook") || existing) && !switched
	from := cmp.Or(data.Project.Certificates, project.CertManager)
	resources := []string{"- ../webhook"}
	if from == project.CertManager {
		resources = append(resources, "- ../certmanager")
	}
	if !on {
		for _, entry := range resources {
			lines = uncommentLine(lines, regexp.QuoteMeta(entry))
		}
	}
	for _, entry := range resources {
		if !has(entry) {
			missing = append(missing, fmt.Sprintf("%s under resources", entry))
		}
	}
	if from != project.SelfManaged {
		if !on {
			lines = uncommentLine(lines, `patches:`)
			lines = uncommentLine(lines, `- manager_webhook_patch\.yaml`)
			lines = uncommentBlock(lines, regexp.MustCompile(`^#\s*- path: manager_webhook_patch\.yaml`))
		}
		if !slices.ContainsFunc(lines, isEntry("manager_webhook_patch.yaml")) {
			missing = append(missing, "manager_webhook_patch.yaml under patches")
		}
	}
	if from != project.CertManager {
		lines = withCertificates(lines)
		writeOverlay(tree, content, lines, crlf)
		return missing
	}
	var wanted []string
	if !on {
		wanted = []string{"name: webhook-service"}
	}
	if data.Webhook.Validation {
		wanted = append(wanted, "kind: ValidatingWebhookConfiguration")
	}
	if data.Webhook.Defaulting {
		wanted = append(wanted, "kind: MutatingWebhookConfiguration")
	}
	if data.Webhook.Conversion {
		wanted = append(wanted, "name: "+crdName(data))
	}
	if has("- ../certmanager") {
		lines = uncommentReplacements(uncommentLine(lines, `replacements:`), wanted)
	}
	for _, want := range wanted {
		if !slices.ContainsFunc(lines, isEntry(want)) {
			missing = append(missing, "replacements with "+want)
		}
	}
	writeOverlay(tree, content, lines, crlf)
	return missing
}

// writeOverlay writes config/default/kustomization.yaml if its lines have changed.
func writeOverlay(tree *worktree.Tree, before []byte, lines []string, crlf bool) {
	if out := textdiff.FromLF([]byte(strings.Join(lines, "\n")), crlf); !bytes.Equal(out, before) {
		tree.WriteFile(project.DefaultKustomization, out, worktree.FileMode)
	}
}

// isEntry returns a function that reports whether a line contains a text and is not a comment.
func isEntry(text string) func(string) bool {
	return func(line string) bool {
		return !strings.HasPrefix(strings.TrimSpace(line), "#") && strings.Contains(line, text)
	}
}

// uncommentLine uncomments the line that matches an expression completely.
func uncommentLine(lines []string, expression string) []string {
	commented := regexp.MustCompile(`^#(\s*)(` + expression + `)\s*$`)
	for i, line := range lines {
		if m := commented.FindStringSubmatch(line); m != nil {
			indentation := m[1]
			if indentation == " " { // it belongs to the comment
				indentation = ""
			}
			lines[i] = indentation + m[2]
		}
	}
	return lines
}

// uncommentBlock uncomments the matching line and the indented lines after it.
func uncommentBlock(lines []string, first *regexp.Regexp) []string {
	for i := range lines {
		if !first.MatchString(lines[i]) {
			continue
		}
		prefix := "#"
		if strings.HasPrefix(lines[i], "# -") {
			prefix = "# " // the space belongs to the comment
		}
		end := blockEnd(lines, i, prefix)
		for j := i; j < end && strings.HasPrefix(lines[j], prefix); j++ {
			lines[j] = strings.TrimPrefix(lines[j], prefix)
		}
	}
	return lines
}

var (
	// Match commented replacements and their targets. The space after the comment sign is part of the indentation.
	commentedSource = lazyregexp.New(`^#\s*- source:`)
	commentedSelect = lazyregexp.New(`^#\s*- select:`)
	scaffoldMarker  = lazyregexp.New(`^#\s*\+kubebuilder:scaffold:`)
)

// uncommentReplacements uncomments the replacements that contain a wanted text, and such targets of active replacements.
func uncommentReplacements(lines, wanted []string) []string {
	for i := 0; i < len(lines); {
		source := commentedSource.MatchString(lines[i])
		if !source && !commentedSelect.MatchString(lines[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(lines) && strings.HasPrefix(lines[end], "#") && !commentedSource.MatchString(lines[end]) &&
			!scaffoldMarker.MatchString(lines[end]) && (source || !commentedSelect.MatchString(lines[end])) {
			end++
		}
		for strings.TrimSpace(lines[end-1]) == "#" { // a separator between replacements
			end--
		}
		if mentions(lines[i:end], wanted) {
			for j := i; j < end; j++ {
				lines[j] = strings.TrimPrefix(lines[j], "#")
			}
		}
		i = end
	}
	return lines
}

func mentions(block, wanted []string) bool {
	return slices.ContainsFunc(block, func(line string) bool {
		text := strings.TrimSpace(strings.TrimPrefix(line, "#"))
		return slices.ContainsFunc(wanted, func(want string) bool { return text == want || strings.HasPrefix(text, want+" ") })
	})
}

// IncludeWebhooks includes webhook configurations in config/default and adds the manifests that they need, as CreateWebhook does. data.Webhook
// selects the configurations. It returns the entries for which config/default has no place, and then changes nothing.
func IncludeWebhooks(tree *worktree.Tree, data Data) (missing []string, err error) {
	files := map[string][]byte{}
	for _, event := range webhookEvents(data) {
		rendered, err := render(event, data, func(name string) bool {
			dir := path.Dir(name)
			return dir == project.WebhookConfigDir || dir == project.CertManagerDir || dir == project.DefaultDir || dir == project.CertificatesDir
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(files, rendered.Files)
	}
	before, err := tree.ReadFile(project.DefaultKustomization)
	if err != nil {
		return []string{project.DefaultKustomization}, nil
	}
	if missing := enableWebhooks(tree, data, false, false); len(missing) > 0 {
		tree.WriteFile(project.DefaultKustomization, before, worktree.FileMode)
		return missing, nil
	}
	for name, content := range files {
		if !tree.Exists(name) {
			tree.WriteFile(name, content, worktree.FileMode)
		}
	}
	return nil, nil
}
