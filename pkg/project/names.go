package project

import (
	"fmt"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

const (
	longestLabel     = 63
	longestSubdomain = 253
)

// CheckDomain validates --domain: a DNS subdomain (RFC 1123), the second part of API groups.
func CheckDomain(domain string) diag.Findings {
	const field = "--domain"
	if domain == "" {
		return one(field, domain, required+": a domain that you control, such as example.com", "")
	}
	if problem := subdomainProblem(domain); problem != "" {
		return one(field, domain, problem, suggestSubdomain(domain))
	}
	return nil
}

// CheckProjectName validates --project-name: a DNS label (RFC 1123).
func CheckProjectName(name string) diag.Findings {
	if problem := labelProblem(name); problem != "" {
		return one("--project-name", name, problem, suggestLabel(name))
	}
	return nil
}

// CheckPackageName validates --package: a DNS subdomain (RFC 1123), because the names of CSVs begin with it.
func CheckPackageName(name string) diag.Findings {
	if problem := subdomainProblem(name); problem != "" {
		return one("--package", name, problem, suggestSubdomain(name))
	}
	return nil
}

// ProjectNameFromDir returns the name of a directory in lower case, as both peers do. If that is not a valid project name, the
// finding asks for --project-name.
func ProjectNameFromDir(base string) (string, diag.Findings) {
	name := strings.ToLower(base)
	findings := CheckProjectName(name)
	if len(findings) == 0 {
		return name, nil
	}
	f := findings[0]
	f.Value = base
	f.Problem = "the directory name is not a valid project name: " + f.Problem + "; choose one with --project-name"
	if strings.Trim(base, `./\`) == "" {
		f = diag.Finding{Field: f.Field, Problem: required + ": the directory has no name"}
	}
	return "", diag.Findings{f}
}

// labelProblem returns why s is not a DNS label of RFC 1123, or "": at most 63 of a-z, 0-9 and -, letters or digits at both ends.
func labelProblem(s string) string {
	if s == "" {
		return required
	}
	if problem := characterProblem(s, "-", "lower-case letters, digits and '-'"); problem != "" {
		return problem
	}
	if s[0] == '-' || s[len(s)-1] == '-' {
		return "must start and end with a letter or digit"
	}
	if len(s) > longestLabel {
		return fmt.Sprintf("must not be longer than %d characters (it has %d)", longestLabel, len(s))
	}
	return ""
}

// nameLabelProblem is labelProblem for RFC 1035, which requires a letter first.
func nameLabelProblem(s string) string {
	if problem := labelProblem(s); problem != "" {
		return problem
	}
	if !isLower(s[0]) {
		return "must start with a letter"
	}
	return ""
}

// subdomainProblem returns why s is not a DNS subdomain of RFC 1123, or "".
func subdomainProblem(s string) string {
	switch {
	case s == "":
		return required
	case strings.Contains(s, "://"):
		return "must be a name, not a URL"
	case strings.HasPrefix(s, "."), strings.HasSuffix(s, "."):
		return "must not start or end with a dot"
	case strings.Contains(s, ".."):
		return "must not have an empty part between two dots"
	}
	if problem := characterProblem(s, "-.", "lower-case letters, digits, '-' and '.'"); problem != "" {
		return problem
	}
	for part := range strings.SplitSeq(s, ".") {
		if problem := labelProblem(part); problem != "" {
			return fmt.Sprintf("part %q %s", part, problem)
		}
	}
	if len(s) > longestSubdomain {
		return fmt.Sprintf("must not be longer than %d characters (it has %d)", longestSubdomain, len(s))
	}
	return ""
}

// characterProblem returns the problem of the first character that is not a lower-case letter, a digit or one of more.
func characterProblem(s, more, allowed string) string {
	for _, r := range s {
		switch {
		case r < 0x80 && (isLower(byte(r)) || isDigit(byte(r))) || strings.ContainsRune(more, r):
		case r >= 'A' && r <= 'Z':
			return "must be in lower case"
		case r > 0x7F:
			return fmt.Sprintf("must consist of %s, not %q; other letters are written in Punycode (xn--…)", allowed, r)
		case r == ' ':
			return "must not contain spaces"
		default:
			return fmt.Sprintf("must consist of %s, not %q", allowed, r)
		}
	}
	return ""
}

// suggestSubdomain returns the DNS subdomain that s probably means, or "".
func suggestSubdomain(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if strings.ContainsFunc(s, func(r rune) bool { return r > 0x7F }) {
		// Omitting letters would suggest another name.
		return ""
	}
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	if i := strings.IndexAny(s, "/?#"); i >= 0 {
		s = s[:i]
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		s = s[i+1:]
	}
	if host, port, ok := strings.Cut(s, ":"); ok && strings.Trim(port, "0123456789") == "" {
		s = host
	}
	var parts []string
	for part := range strings.SplitSeq(s, ".") {
		suggestion := suggestLabel(part)
		if suggestion == "" && strings.ContainsFunc(part, func(r rune) bool { return r > 0x7F }) {
			return "" // the other parts are another domain
		}
		if suggestion != "" {
			parts = append(parts, suggestion)
		}
	}
	s = strings.Join(parts, ".")
	if subdomainProblem(s) != "" {
		return ""
	}
	return s
}

// suggestLabel returns the DNS label that s probably means, or "".
func suggestLabel(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(s)) {
		switch {
		case r < 0x80 && (isLower(byte(r)) || isDigit(byte(r))):
			b.WriteRune(r)
		case strings.ContainsRune("-_. \t/", r):
			b.WriteByte('-')
		case r > 0x7F:
			return ""
		}
	}
	out := b.String()
	for strings.Contains(out, "--") {
		out = strings.ReplaceAll(out, "--", "-")
	}
	out = strings.Trim(out, "-")
	if len(out) > longestLabel {
		out = strings.Trim(out[:longestLabel], "-")
	}
	return out
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
