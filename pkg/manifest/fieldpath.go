package manifest

import (
	"fmt"
	"strings"
)

// FieldPath formats a path in an object: spec.links[0].url, metadata.annotations["a.b/c"].
func FieldPath(steps []string) string {
	var b strings.Builder
	for _, step := range steps {
		switch {
		case step != "" && strings.Trim(step, "0123456789") == "" && b.Len() > 0:
			b.WriteString("[" + step + "]")
		case strings.ContainsAny(step, "./ ") && b.Len() > 0:
			fmt.Fprintf(&b, "[%q]", step)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(step)
		}
	}
	return b.String()
}

// Steps parses a path in the format of FieldPath or Kubernetes.
func Steps(path string) []string {
	var out []string
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return out
			}
			out, path = append(out, strings.Trim(path[1:end], `"`)), path[end+1:]
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			out, path = append(out, path[:end]), path[end:]
		}
	}
	return out
}
