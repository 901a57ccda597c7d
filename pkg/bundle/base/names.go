package base

import (
	"strings"
	"unicode"
)

// DisplayName returns a title for a name: of a package such as memcached-operator, or of a kind or field such as maxHeat.
// Abbreviations stay together: HTTPCache becomes HTTP Cache.
func DisplayName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".-_ ", r) || unicode.IsSpace(r) })
	for i, word := range words {
		words[i] = title(strings.Join(splitCamelCase([]rune(word)), " "))
	}
	return strings.Join(words, " ")
}

// splitCamelCase splits a word before its upper-case letters, and between an abbreviation and the next word.
func splitCamelCase(word []rune) []string {
	var parts []string
	start := 0
	for i := 1; i < len(word); i++ {
		if !unicode.IsUpper(word[i]) {
			continue
		}
		// DB|Instance, but neither Pod|CIDRs nor IPv6 nor OAuth.
		afterAbbreviation := i-start > 1 && unicode.IsUpper(word[i-1]) &&
			i+2 < len(word) && unicode.IsLower(word[i+1]) && unicode.IsLower(word[i+2])
		if !unicode.IsUpper(word[i-1]) || afterAbbreviation {
			parts = append(parts, string(word[start:i]))
			start = i
		}
	}
	return append(parts, string(word[start:]))
}

// title capitalizes the first letter of every word, also after digits.
func title(text string) string {
	pending := true
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r):
			if pending {
				pending = false
				return unicode.ToTitle(r)
			}
		case !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("':’", r):
			pending = true
		}
		return r
	}, text)
}
