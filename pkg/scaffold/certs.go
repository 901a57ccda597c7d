package scaffold

import (
	"bytes"
	"fmt"
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
// kinds of webhooks are uncommented: the user chose to leave the rest. It returns the entries that are missing.
func enableWebhooks(tree *worktree.Tree, data Data, existing bool) (missing []string) {
	content, err := tree.ReadFile(project.DefaultKustomization)
	if err != nil {
		return []string{"the whole file, which is missing"}
	}
	plain, crlf := textdiff.ToLF(content)
	lines := strings.Split(string(plain), "\n")
	has := func(entry string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == entry })
	}
	on := has("- ../webhook") || existing
	if !on {
		lines = uncommentLine(lines, `patches:`)
		for _, entry := range []string{"- ../webhook", "- ../certmanager", "- manager_webhook_patch.yaml"} {
			lines = uncommentLine(lines, regexp.QuoteMeta(entry))
		}
		lines = uncommentBlock(lines, regexp.MustCompile(`^#\s?- path: manager_webhook_patch\.yaml`))
	}
	for _, entry := range []string{"- ../webhook", "- ../certmanager"} {
		if !has(entry) {
			missing = append(missing, fmt.Sprintf("%s under resources", entry))
		}
	}
	if !slices.ContainsFunc(lines, isEntry("manager_webhook_patch.yaml")) {
		missing = append(missing, "manager_webhook_patch.yaml under patches")
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
	out := strings.Join(lines, "\n")
	if out := textdiff.FromLF([]byte(out), crlf); !bytes.Equal(out, content) {
		tree.WriteFile(project.DefaultKustomization, out, worktree.FileMode)
	}
	return missing
}

// isEntry returns a function that reports whether a line contains a text and is not a comment.
func isEntry(text string) func(string) bool {
	return func(line string) bool {
		return !strings.HasPrefix(strings.TrimSpace(line), "#") && strings.Contains(line, text)
	}
}

// uncommentLine uncomments the line that matches an expression completely.
func uncommentLine(lines []string, expression string) []string {
	commented := regexp.MustCompile(`^#\s?(` + expression + `)\s*$`)
	for i, line := range lines {
		if m := commented.FindStringSubmatch(line); m != nil {
			lines[i] = m[1]
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
		blank := strings.HasPrefix(lines[i], "# ")
		for j := i; j < len(lines) && (j == i || strings.HasPrefix(lines[j], "#  ")); j++ {
			lines[j] = strings.TrimPrefix(lines[j], "#")
			if blank {
				lines[j] = strings.TrimPrefix(lines[j], " ")
			}
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
	rendered, err := render("webhook", data, func(name string) bool {
		dir := path.Dir(name)
		return dir == path.Dir(project.WebhookManifests) || dir == project.CertManagerDir || dir == project.DefaultDir
	})
	if err != nil {
		return nil, err
	}
	before, err := tree.ReadFile(project.DefaultKustomization)
	if err != nil {
		return []string{project.DefaultKustomization}, nil
	}
	if missing := enableWebhooks(tree, data, false); len(missing) > 0 {
		tree.WriteFile(project.DefaultKustomization, before, worktree.FileMode)
		return missing, nil
	}
	for name, content := range rendered.Files {
		if !tree.Exists(name) {
			tree.WriteFile(name, content, worktree.FileMode)
		}
	}
	return nil, nil
}
