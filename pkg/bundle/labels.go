package bundle

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// isGenerated reports whether the generator sets an annotation or label of this key.
func isGenerated(key string) bool {
	return strings.HasPrefix(key, prefixBundle) || strings.HasPrefix(key, prefixMetrics) || strings.HasPrefix(key, prefixTest)
}

// A labelFile is annotations.yaml or bundle.Dockerfile as keys and values, with the texts that a user added.
type labelFile struct {
	values map[string]any
	// extras holds the texts of keys that are not generated, in file order; those without a key are always kept.
	extras []extra
}

type extra struct {
	key, text string
}

// HasMetadata reports whether a file holds the metadata of a bundle; its name may be any.
func HasMetadata(name string, text []byte) bool {
	file, err := parseAnnotations(name, text)
	return err == nil && len(file.values) > 0
}

// parseAnnotations parses annotations.yaml.
func parseAnnotations(name string, text []byte) (labelFile, error) {
	f := labelFile{values: map[string]any{}}
	var doc yaml.Node
	if err := safeyaml.Unmarshal(text, &doc); err != nil {
		return f, diag.Findings{{Position: diag.Position{File: name}, Problem: "is not valid YAML: " + strings.TrimPrefix(err.Error(), "yaml: ") + "; correct it, or delete it to regenerate it"}}
	}
	if len(doc.Content) == 0 {
		return f, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return f, diag.Findings{{Position: diag.Position{File: name, Line: top.Line, Column: top.Column}, Problem: "must be a mapping with the key annotations; correct it, or delete it to regenerate it"}}
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if key.Value != "annotations" || value.Kind != yaml.MappingNode {
			if key.Value != "annotations" {
				f.extras = append(f.extras, extra{text: entryText(key, value)})
			}
			continue
		}
		for j := 0; j+1 < len(value.Content); j += 2 {
			k, v := value.Content[j], value.Content[j+1]
			f.values[k.Value] = v.Value
			if !isGenerated(k.Value) {
				f.extras = append(f.extras, extra{key: k.Value, text: indent(entryText(k, v), "  ") + "\n"})
			}
		}
	}
	return f, nil
}

// entryText encodes an entry of a mapping with its comments.
func entryText(key, value *yaml.Node) string {
	k := *key
	if template := strings.HasPrefix(k.HeadComment, "# Core bundle annotations.") || strings.HasPrefix(k.HeadComment, "# Annotations for testing."); template {
		k.HeadComment = ""
	}
	data, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{&k, value}})
	if err != nil {
		return fmt.Sprintf("%s: %s\n", key.Value, value.Value)
	}
	return string(data)
}

// The keys of Dockerfile values that are not labels.
const (
	keyFrom = "FROM"
	keyCopy = "COPY "
)

// parseDockerfile parses bundle.Dockerfile.
func parseDockerfile(text []byte) labelFile {
	f := labelFile{values: map[string]any{}}
	comment := ""
	add := func(key, text string) {
		f.extras = append(f.extras, extra{key, comment + text})
		comment = ""
	}
	for _, instruction := range instructions(string(text)) {
		trimmed := strings.TrimSpace(instruction)
		word, rest, _ := strings.Cut(trimmed, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case trimmed == "":
			comment = ""
		case strings.HasPrefix(trimmed, "#"):
			if !isTemplateComment(trimmed) {
				comment += instruction
			}
		case strings.EqualFold(word, "FROM"):
			f.values[keyFrom] = rest
		case strings.EqualFold(word, "COPY") && copyTarget(rest) != "":
			f.values[keyCopy+copyTarget(rest)] = strings.Fields(rest)[0]
		case strings.EqualFold(word, "LABEL"):
			for _, l := range labelPairs(rest) {
				f.values[l.Key] = l.Value
				if !isGenerated(l.Key) {
					add(l.Key, l.instruction())
				}
			}
		default:
			add("", instruction)
		}
	}
	if comment != "" {
		add("", "")
	}
	return f
}

// instructions splits a Dockerfile into instructions, comments and empty lines, each with its line ends.
func instructions(text string) []string {
	var all []string
	current := ""
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") + "\n"
		current += line
		if strings.HasSuffix(strings.TrimRight(line, " \t\n"), `\`) {
			continue
		}
		all = append(all, current)
		current = ""
	}
	if current != "" {
		all = append(all, current)
	}
	return all
}

// isTemplateComment reports whether the template of the Dockerfile has a comment.
func isTemplateComment(line string) bool {
	return slices.Contains([]string{"# Core bundle labels.", "# Labels for testing.", "# Copy files to locations specified by labels."}, line)
}

// copyTarget returns the target of a COPY of the template, empty for any other.
func copyTarget(rest string) string {
	if fields := strings.Fields(rest); len(fields) == 2 && slices.Contains([]string{"/manifests/", "/metadata/", "/tests/scorecard/"}, fields[1]) {
		return fields[1]
	}
	return ""
}

// A pair is a label and its text in the file.
type pair struct {
	label
	raw string
}

// labelPairs parses the arguments of a LABEL instruction.
func labelPairs(text string) []pair {
	text = strings.ReplaceAll(text, "\\\n", " ")
	var tokens []string
	var token strings.Builder
	var quote rune
	escaped := false
	flush := func() {
		if token.Len() > 0 {
			tokens = append(tokens, token.String())
			token.Reset()
		}
	}
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == ' ' || r == '\t' || r == '\n':
			flush()
			continue
		}
		token.WriteRune(r)
	}
	flush()
	if len(tokens) > 0 && !strings.Contains(tokens[0], "=") { // LABEL key value, the legacy form
		value := strings.Join(tokens[1:], " ")
		return []pair{{label{unquote(tokens[0]), value}, tokens[0] + " " + value}}
	}
	var pairs []pair
	for _, t := range tokens {
		key, value, _ := strings.Cut(t, "=")
		pairs = append(pairs, pair{label{unquote(key), unquote(value)}, t})
	}
	return pairs
}

// instruction returns the label as it was written, quoted if it would not be read back as the same label.
func (p pair) instruction() string {
	line := "LABEL " + p.raw + "\n"
	if again := instructions(line); len(again) == 1 {
		raw := strings.TrimSpace(p.raw) // parseDockerfile trims all white space, not only blanks
		if pairs := labelPairs(raw); len(pairs) == 1 && pairs[0].label == p.label && !strings.HasSuffix(raw, `\`) {
			return line
		}
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace
	return fmt.Sprintf("LABEL \"%s\"=\"%s\"\n", quote(p.Key), quote(p.Value))
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		s = s[1 : len(s)-1]
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\ `, ` `).Replace(s)
}
