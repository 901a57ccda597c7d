package output

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
)

// Value prints a value as json or yaml.
func (p *Printer) Value(format string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil && format == "yaml" {
		text, err = yaml.JSONToYAML(text)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.As(format), strings.TrimRight(string(text), "\n"))
	return err
}

// Objects prints the objects that would be applied.
func (p *Printer) Objects(objects []*kube.Object, format string) error {
	if format == "json" {
		return p.Value(format, map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	}
	for i, object := range objects {
		if i > 0 {
			if _, err := fmt.Fprintln(p.Out, "---"); err != nil {
				return err
			}
		}
		if err := p.Value("yaml", object.Object); err != nil {
			return fmt.Errorf("printing %s: %w", strings.ToLower(object.GetKind()), err)
		}
	}
	return nil
}

// Row returns a row for a tabwriter, without the line break.
func Row(cells ...string) string {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = diag.EscapeLine(cell)
	}
	return strings.Join(escaped, "\t")
}
