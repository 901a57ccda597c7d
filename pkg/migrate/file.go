package migrate

import (
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/gosource"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/safeyaml"
	"github.com/operon-sdk/operon/pkg/textdiff"
)

// merged is the result of merging one file.
type merged struct {
	text []byte
	// conflicts is the number of conflicts marked in the text.
	conflicts int
	edited    bool
	// choices are the units that both sides changed, and that keep the user's form.
	choices []string
	// reason is the reason to keep the file unchanged, or "".
	reason string
}

// oursLabel is the label of the project's side in conflict markers.
const oursLabel = "the project"

func mergeFile(name string, ours, theirs []byte, b merge.Base, o merge.Options) (*merged, error) {
	ours, crlf := textdiff.AllToLF(ours)
	o.OursLabel = oursLabel
	text, result, err := merge.MergeFile(name, ours, theirs, b, o)
	if err != nil {
		return nil, err
	}
	m := &merged{text: textdiff.FromLF(text, crlf), conflicts: len(result.Conflicts), edited: result.Edited, reason: result.Reason}
	for _, choice := range result.Choices {
		m.choices = append(m.choices, strings.Join(choice, "."))
	}
	return m, nil
}

// checkSyntax returns an error if a text is not valid in its format, if that can be parsed.
func checkSyntax(name string, text []byte) error {
	switch path.Ext(name) {
	case ".go":
		return gosource.CheckSyntax(name, text)
	case ".yaml", ".yml":
		nodes, err := safeyaml.Documents[yaml.Node](text)
		for _, node := range nodes {
			if err := duplicateKey(node); err != nil {
				return err
			}
		}
		return err
	}
	return nil
}

// duplicateKey returns an error for a key that a mapping has twice.
func duplicateKey(node *yaml.Node) error {
	keys := map[string]bool{}
	for key := range safeyaml.Fields(node) {
		if keys[key.Value] {
			return fmt.Errorf("line %d: duplicate key %q", key.Line, key.Value)
		}
		keys[key.Value] = true
	}
	for _, child := range node.Content {
		if err := duplicateKey(child); err != nil {
			return err
		}
	}
	return nil
}
