package variables

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// initialisms are words of capitals that operator-sdk keeps together, also with a lower-case plural s.
var initialisms = []string{"HTTP", "URL", "IP"}

// SnakeCase returns the name of a variable for a key in camel case, as operator-sdk forms it: podCIDR becomes pod_cidr, egressIPs
// egress_ips, k8sVersion k8s_version and Kind _kind. Spaces and dashes become underscores, other characters remain.
func SnakeCase(key string) string {
	runes := []rune(strings.Trim(key, " "))
	var out strings.Builder
	boundary := func() {
		if text := out.String(); text == "" || !strings.HasSuffix(text, "_") {
			out.WriteByte('_')
		}
	}
	for i := 0; i < len(runes); {
		c := runes[i]
		if c == ' ' || c == '-' || c == '_' {
			out.WriteByte('_')
			i++
			continue
		}
		if !isUpper(c) {
			out.WriteRune(unicode.ToLower(c))
			i++
			continue
		}
		afterDigit := i > 0 && unicode.IsDigit(runes[i-1])
		for first := true; i < len(runes) && isUpper(runes[i]); first = false {
			n := wordLength(runes[i:])
			// An acronym after a digit is part of its word: a boundary is before capitals that a lower-case letter follows.
			if !first || !afterDigit || i+n < len(runes) && isLower(runes[i+n]) || isInitialism(runes[i:i+n]) {
				boundary()
			}
			for _, r := range runes[i : i+n] {
				out.WriteRune(unicode.ToLower(r))
			}
			if i += n; !isInitialism(runes[i-n : i]) {
				continue
			}
			if i < len(runes) && runes[i] == 's' {
				out.WriteByte('s')
				i++
			}
			if i < len(runes) && isLower(runes[i]) {
				boundary()
			}
		}
	}
	return out.String()
}

// wordLength returns how many capitals at the beginning of runes belong to the first word. The last capital before a lower-case
// letter begins a word, unless it ends an initialism.
func wordLength(runes []rune) int {
	n := 0
	for n < len(runes) && isUpper(runes[n]) {
		n++
	}
	if known := leadingInitialism(runes[:n]); known > 0 {
		rest := runes[known:n]
		next := len(runes) > n && isLower(runes[n])
		if len(rest) == 0 || leadingInitialism(rest) > 0 || next && len(rest) == 1 {
			return known
		}
	}
	if n < len(runes) && isLower(runes[n]) && n > 1 && trailingInitialism(runes[:n]) == 0 {
		return n - 1
	}
	if n < len(runes) && isLower(runes[n]) && n > 1 {
		return max(1, n-trailingInitialism(runes[:n]))
	}
	return n
}

func isInitialism(word []rune) bool { return leadingInitialism(word) == len(word) && len(word) > 0 }

func leadingInitialism(word []rune) int {
	for _, name := range initialisms {
		if strings.HasPrefix(string(word), name) {
			return utf8.RuneCountInString(name)
		}
	}
	return 0
}

func trailingInitialism(word []rune) int {
	for _, name := range initialisms {
		if strings.HasSuffix(string(word), name) {
			return utf8.RuneCountInString(name)
		}
	}
	return 0
}

func isUpper(c rune) bool { return c >= 'A' && c <= 'Z' }
func isLower(c rune) bool { return c >= 'a' && c <= 'z' }
