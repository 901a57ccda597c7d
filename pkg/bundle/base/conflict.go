package base

import (
	"fmt"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// Conflict is a value that a person changed in the base while the code changed it, too.
type Conflict struct {
	// Position is where the base has the value, or what is around it.
	manifest.Position
	// Field is the value's path in the CSV.
	Field string
	// Base and Code are the two values; nothing where a side took it away.
	Base, Code any
}

// Error shows both sides.
func (c Conflict) Error() string {
	return fmt.Sprintf("%s: %s was changed by hand and in the code: the base has %s, the code gives %s",
		c.Position, c.Field, show(c.Base), show(c.Code))
}

// Conflicts is the error of a base that cannot be merged.
type Conflicts []Conflict

// Error lists the conflicts, one a line, and says what can be done.
func (c Conflicts) Error() string {
	lines := make([]string, len(c), len(c)+1)
	for i, conflict := range c {
		lines[i] = conflict.Error()
	}
	return strings.Join(append(lines, "make both alike, or choose with --prefer=base or --prefer=code; nothing was written"), "\n")
}

// Unwrap returns the conflicts.
func (c Conflicts) Unwrap() []error { return diag.Errors(c) }

// show is a value in one line.
func show(value any) string {
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
