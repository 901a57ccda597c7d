package kube

// ValueAt returns the value at a path of fields below v, without a copy; nil if there is none.
func ValueAt(v any, fields ...string) any {
	for _, field := range fields {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[field]
	}
	return v
}

// StringAt returns the string at a path of fields below v; empty if there is none.
func StringAt(v any, fields ...string) string {
	text, _ := ValueAt(v, fields...).(string)
	return text
}

// IntAt returns the integer at a path of fields below v; 0 if there is none. Numbers of files are decoded as float64.
func IntAt(v any, fields ...string) int64 {
	switch number := ValueAt(v, fields...).(type) {
	case int64:
		return number
	case float64:
		return int64(number)
	}
	return 0
}

// ListAt returns the list at a path of fields below v; nil if there is none.
func ListAt(v any, fields ...string) []any {
	list, _ := ValueAt(v, fields...).([]any)
	return list
}
