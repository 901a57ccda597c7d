package variables

import (
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// initialisms are kept together, with a lower-case plural s. Of each, only the first one in a key is.
var initialisms = []string{"HTTP", "URL", "IP"}

// numbers matches a number between letters that another number follows, as in cpu2x4. It becomes a word.
var numbers = lazyregexp.New(`([a-zA-Z])(\d+)([a-zA-Z]\d+)`)

// SnakeCase returns the name of a variable for a key in camel case: podCIDR becomes pod_cidr, egressIPs egress_ips, k8sVersion
// k8s_version and Kind _kind. The results are the same as in operator-sdk's ansible-operator 1.42, as roles depend on them, including unusual
// ones: enableHTTPS becomes enable_http_s and aB becomes ab.
func SnakeCase(key string) string {
	words := strings.Trim(numbers.ReplaceAllString(key, "$1 $2 $3"), " ")
	marked := words
	for _, initialism := range initialisms {
		marked = markInitialism(marked, initialism)
	}
	if isInitialism(words) || marked != "" && isUpper(marked[0]) {
		marked = "_" + marked
	}
	return strings.ToLower(markWords(marked))
}

// markInitialism separates the first initialism of a key with underscores and makes it lower case. At the beginning of a key, a
// singular is not preceded by one.
func markInitialism(key, initialism string) string {
	start := strings.Index(key, initialism)
	if start < 0 {
		return key
	}
	end := start + len(initialism)
	plural := strings.HasPrefix(key[end:], "s")
	if plural {
		end++
	}
	before, word, after := key[:start], strings.ToLower(key[start:end]), key[end:]
	switch {
	case after == "":
		return before + "_" + word
	case before == "" && !plural:
		return word + "_" + after
	}
	return before + "_" + word + "_" + after
}

// isInitialism reports whether a key is an initialism or its plural.
func isInitialism(key string) bool {
	for _, initialism := range initialisms {
		if strings.TrimSuffix(key, "s") == initialism {
			return true
		}
	}
	return false
}

// markWords separates words by underscores where lower-case and capital letters meet, except after the first byte. Spaces and dashes
// become underscores.
func markWords(key string) string {
	out := make([]byte, 0, len(key)+8)
	for i := range len(key) {
		c := key[i]
		meets := i > 0 && i+1 < len(key) && out[len(out)-1] != '_'
		switch {
		case meets && isUpper(c) && isLower(key[i+1]):
			out = append(out, '_', c)
		case meets && isLower(c) && isUpper(key[i+1]):
			out = append(out, c, '_')
		case c == ' ' || c == '-':
			out = append(out, '_')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
