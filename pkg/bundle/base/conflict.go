package base

import (
	"fmt"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A Conflict is a value that was edited in the base and also changed in the code.
type Conflict struct {
	// Position is the value in the base, or its nearest parent.
	diag.Position
	// Field is the value's path in the CSV.
	Field string
	// Base and Code are the two values, nil if removed.
	Base, Code any
}

// Error describes both values.
func (c Conflict) Error() string {
	return fmt.Sprintf("%s: %s was edited in the base and changed in the code: base %s, code %s",
		c.Position, c.Field, formatValue(c.Base), formatValue(c.Code))
}

// Conflicts is the error of a base that cannot be merged.
type Conflicts []Conflict

// Error lists the conflicts, one per line, and the ways to resolve them.
func (c Conflicts) Error() string {
	lines := make([]string, len(c), len(c)+1)
	for i, conflict := range c {
		lines[i] = conflict.Error()
	}
	return strings.Join(append(lines, "nothing was written; make both values equal, or choose with --prefer=base or --prefer=code"), "\n")
}

// Unwrap returns the conflicts as errors.
func (c Conflicts) Unwrap() []error { return diag.Errors(c) }

// formatValue returns a value on one line.
func formatValue(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case string:
		return strconv.Quote(value)
	}
	data, err := sigsyaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return strings.Join(strings.Fields(string(data)), " ")
}
