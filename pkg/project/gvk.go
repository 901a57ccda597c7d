package project

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// longestKind is the maximum length of a kind: Kubernetes allows 63 characters for its list type, the kind with suffix List.
const longestKind = longestLabel - len("List")

// CheckGroup validates --group of an API of the project in its domain. The API group of an empty group is the domain.
func CheckGroup(group, domain string) diag.Findings {
	findings := checkGroup(group, domain)
	for i, f := range findings {
		if len(checkGroup(f.Suggestion, domain)) > 0 {
			findings[i].Suggestion = ""
		}
	}
	return findings
}

func checkGroup(group, domain string) diag.Findings {
	const field = "--group"
	if group == "" {
		switch {
		case domain == "":
			return one(field, group, required+": the project has no domain", "")
		case !strings.Contains(domain, "."):
			return one(field, group, fmt.Sprintf("%s: the name of an API group must contain a dot and the domain is %q", required, domain), "")
		}
		return groupPackageProblem(field, group, domain)
	}
	if rest, ok := strings.CutSuffix(strings.ToLower(group), "."+domain); ok && domain != "" {
		if subdomainProblem(rest) != "" {
			rest = ""
		}
		return one(field, group, fmt.Sprintf("must not contain the project's domain, which is added to it (%s.%s)", group, domain), rest)
	}
	if problem := subdomainProblem(group); problem != "" {
		suggestion := suggestSubdomain(group)
		if domain != "" {
			suggestion = strings.TrimSuffix(suggestion, "."+domain)
		}
		return one(field, group, problem, suggestion)
	}
	if domain == "" && !strings.Contains(group, ".") {
		return one(field, group, "must contain a dot: the project has no domain, and Kubernetes requires a dot in an API group", "")
	}
	if qualified := (GVK{Group: group, Domain: domain}).QualifiedGroup(); len(qualified) > longestSubdomain {
		return one(field, group, fmt.Sprintf("makes the API group %d characters long; Kubernetes allows %d", len(qualified), longestSubdomain), "")
	}
	return groupPackageProblem(field, group, domain)
}

// groupPackageProblem rejects groups that are valid in Kubernetes but not as the name of a Go package.
func groupPackageProblem(field, group, domain string) diag.Findings {
	name := (Resource{GVK: GVK{Group: group, Domain: domain}}).PackageName()
	switch {
	case !isLower(name[0]):
		suggestion := strings.TrimLeft(group, "0123456789-.")
		return one(field, group, fmt.Sprintf("must start with a letter: Go code imports it as %s…", name), suggestion)
	case token.IsKeyword(name):
		return one(field, group, "is a keyword of Go and cannot be the name of a package", name+"s")
	case name == "main":
		return one(field, group, "is the name of Go's main package, which cannot be imported", "")
	case group == "internal", group == "vendor", group == "testdata":
		return one(field, group, "is a directory name with a special meaning in Go", "")
	}
	return nil
}

// CheckVersion validates --version of an API of the project: v1, v2beta3, in the form that Kubernetes sorts by priority.
func CheckVersion(version string) diag.Findings {
	const field = "--version"
	if version == "" {
		return one(field, version, required, "v1alpha1")
	}
	if versionPattern.MatchString(version) && len(version) <= longestLabel {
		return nil
	}
	return one(field, version, "must be v and a number, followed by alpha or beta and a number if it may change (v1, v1beta1, v1alpha1)",
		suggestVersion(version))
}

var versionPattern = lazyregexp.New(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)

// positive splits s after a leading positive decimal number without leading zero.
func positive(s string) (digits, rest string) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == 0 || s[0] == '0' {
		return "", s
	}
	return s[:i], s[i:]
}

// suggestVersion returns the version that s probably means: v1beta1 for v1beta; v1 for 1, V1 and v1.0.
func suggestVersion(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	number := func() string {
		s = strings.TrimLeft(s, "-_. v0")
		digits, rest := positive(s)
		s = rest
		if digits == "" {
			return "1"
		}
		return digits
	}
	out := "v" + number()
	for {
		s = strings.TrimLeft(s, "-_.")
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		if digits == 0 {
			break
		}
		s = s[digits:]
	}
	if s != "" {
		word := strings.TrimRight(s, "0123456789-_.")
		stage := ""
		switch {
		case word == "a":
			stage = "alpha"
		case word == "b", word == "rc", word == "pre", word == "preview":
			stage = "beta"
		default:
			near, ok := diag.Nearest(word, []string{"alpha", "beta"})
			if !ok {
				return ""
			}
			stage = near
		}
		s = s[len(word):]
		out += stage + number()
	}
	if !versionPattern.MatchString(out) || len(out) > longestLabel {
		return ""
	}
	return out
}

// CheckKind validates --kind of an API of the project: an exported Go identifier of ASCII letters and digits, short enough for
// the names that Kubernetes derives from it.
func CheckKind(kind string) diag.Findings {
	const field = "--kind"
	if problem := kindProblem(kind); problem != "" {
		suggestion := suggestKind(kind)
		if kindProblem(suggestion) != "" {
			suggestion = ""
		}
		return one(field, kind, problem, suggestion)
	}
	switch kind {
	case "GroupVersion", "SchemeBuilder", "AddToScheme":
		return one(field, kind, "is an identifier that each API package declares", kind+"Config")
	}
	return nil
}

func kindProblem(kind string) string {
	if kind == "" {
		return required
	}
	for _, r := range kind {
		if r > 0x7F || !isLower(byte(r)) && !isUpper(byte(r)) && !isDigit(byte(r)) {
			if r == ' ' {
				return "must not contain spaces"
			}
			return fmt.Sprintf("must consist of ASCII letters and digits, not %q", r)
		}
	}
	if !isUpper(kind[0]) {
		return "must start with an upper-case letter"
	}
	if len(kind) > longestKind {
		return fmt.Sprintf("must not be longer than %d characters (it has %d): Kubernetes allows %d for its list type %sList",
			longestKind, len(kind), longestLabel, kind)
	}
	if plural := DefaultPlural(kind); nameLabelProblem(plural) != "" {
		return fmt.Sprintf("has the plural %q, which %s", plural, nameLabelProblem(plural))
	}
	return ""
}

// suggestKind joins words in upper camel case: MemCached for mem-cached.
func suggestKind(s string) string {
	var b strings.Builder
	up := true
	for _, r := range s {
		switch {
		case r > 0x7F:
			return ""
		case isLower(byte(r)) || isUpper(byte(r)) || isDigit(byte(r)) && b.Len() > 0:
			if up {
				b.WriteString(strings.ToUpper(string(r)))
			} else {
				b.WriteRune(r)
			}
			up = false
		default:
			up = true
		}
	}
	return b.String()
}

// CheckPlural validates --plural: a DNS label that starts with a letter.
func CheckPlural(plural string) diag.Findings {
	if problem := nameLabelProblem(plural); problem != "" {
		suggestion := strings.ReplaceAll(suggestLabel(plural), "-", "")
		if nameLabelProblem(suggestion) != "" {
			suggestion = ""
		}
		return one("--plural", plural, problem, suggestion)
	}
	return nil
}

// CheckControllerName validates --controller-name: a DNS label that starts with a letter, because it is used in file names, Go
// identifiers and metrics labels.
func CheckControllerName(name string) diag.Findings {
	if problem := nameLabelProblem(name); problem != "" {
		suggestion := suggestLabel(kebab(name))
		if nameLabelProblem(suggestion) != "" {
			suggestion = ""
		}
		return one("--controller-name", name, problem, suggestion)
	}
	return nil
}

// kebab converts camel case to kebab case: captain-backup for CaptainBackup.
func kebab(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if i > 0 && isUpper(s[i]) && isLower(s[i-1]) {
			b.WriteByte('-')
		}
		b.WriteByte(s[i])
	}
	return strings.ToLower(b.String())
}
