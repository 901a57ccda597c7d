package base

import (
	"fmt"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"
)

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
