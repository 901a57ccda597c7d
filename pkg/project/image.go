package project

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// CheckImage validates --image by the grammar of image references (github.com/distribution/reference):
// [host[:port]/]path[:tag][@digest]. It does not ask a registry.
func CheckImage(ref string) Findings {
	const field = "--image"
	problem := imageProblem(ref)
	if problem == "" {
		return nil
	}
	suggestion := strings.TrimSpace(ref)
	if _, rest, ok := strings.Cut(suggestion, "://"); ok {
		suggestion = rest
	}
	name, tail := suggestion, ""
	if i := strings.LastIndexByte(name, '/'); strings.ContainsAny(name[i+1:], ":@") {
		j := i + 1 + strings.IndexAny(name[i+1:], ":@")
		name, tail = name[:j], name[j:]
	}
	suggestion = strings.ToLower(strings.Trim(name, "/")) + strings.TrimRight(tail, ":@")
	if imageProblem(suggestion) != "" {
		suggestion = ""
	}
	return one(field, ref, problem, suggestion)
}

func imageProblem(ref string) string {
	const longestName = 255
	switch {
	case ref == "":
		return "must not be empty"
	case strings.ContainsAny(ref, " \t\r\n"):
		return "must not contain spaces"
	case strings.Contains(ref, "://"):
		return "must be an image reference, not a URL"
	}
	rest, digest, hasDigest := strings.Cut(ref, "@")
	if hasDigest {
		if problem := digestProblem(digest); problem != "" {
			return problem
		}
	}
	path := rest
	host := ""
	if first, tail, ok := strings.Cut(rest, "/"); ok && (strings.ContainsAny(first, ".:") || first == "localhost" || first != strings.ToLower(first)) {
		host, path = first, tail
		if problem := hostProblem(host); problem != "" {
			return problem
		}
	}
	name := path
	if i := strings.LastIndexByte(path, ':'); i >= 0 {
		name = path[:i]
		if problem := tagProblem(path[i+1:]); problem != "" {
			return problem
		}
	}
	for part := range strings.SplitSeq(name, "/") {
		if problem := pathPartProblem(part); problem != "" {
			return problem
		}
	}
	if host == "" && len(name) == 64 && strings.Trim(name, "0123456789abcdef") == "" {
		return "is an image's ID, which no registry knows; give its name"
	}
	if len(host)+1+len(name) > longestName {
		return fmt.Sprintf("has a name of more than %d characters", longestName)
	}
	return ""
}

func hostProblem(host string) string {
	name, port, hasPort := strings.Cut(host, ":")
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 || strings.Trim(host[1:end], "0123456789abcdefABCDEF:.") != "" || end == 1 {
			return fmt.Sprintf("registry %q is no IPv6 address in brackets", host)
		}
		name, port, hasPort = "v6", strings.TrimPrefix(host[end+1:], ":"), len(host) > end+1
		if hasPort && host[end+1] != ':' {
			return fmt.Sprintf("registry %q has something behind its address", host)
		}
	}
	if hasPort {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Sprintf("registry %q has no valid port", host)
		}
	}
	for part := range strings.SplitSeq(name, ".") {
		for i := 0; i < len(part); i++ {
			edge := i == 0 || i == len(part)-1
			if c := part[i]; !isLower(c) && !isUpper(c) && !isDigit(c) && (c != '-' || edge) {
				return fmt.Sprintf("registry %q is no host name", host)
			}
		}
		if part == "" {
			return fmt.Sprintf("registry %q is no host name", host)
		}
	}
	return ""
}

func tagProblem(tag string) string {
	const longestTag = 128
	if tag == "" {
		return "has a colon without a tag behind it"
	}
	for i := 0; i < len(tag); i++ {
		c := tag[i]
		if !isLower(c) && !isUpper(c) && !isDigit(c) && c != '_' && (i == 0 || c != '.' && c != '-') {
			return fmt.Sprintf("tag %q must consist of letters, digits, '_', '.' and '-', and not start with the last two", tag)
		}
	}
	if len(tag) > longestTag {
		return fmt.Sprintf("has a tag of more than %d characters", longestTag)
	}
	return ""
}

func digestProblem(digest string) string {
	algorithm, sum, ok := strings.Cut(digest, ":")
	want := map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}[algorithm]
	if !ok || want == 0 {
		return fmt.Sprintf("digest %q must be sha256: and 64 hexadecimal digits", digest)
	}
	if len(sum) != want || strings.Trim(sum, "0123456789abcdef") != "" {
		return fmt.Sprintf("digest %q must have %d lower-case hexadecimal digits behind %s", digest, want, algorithm)
	}
	return ""
}

// pathPartProblem checks [a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*.
func pathPartProblem(part string) string {
	if part == "" {
		return "has an empty part between slashes"
	}
	problem := fmt.Sprintf("part %q must consist of lower-case letters and digits, with single '.', '_' or any '-' between them", part)
	for i := 0; i < len(part); {
		c := part[i]
		if isLower(c) || isDigit(c) {
			i++
			continue
		}
		j := i
		for j < len(part) && part[j] == c {
			j++
		}
		between := i > 0 && j < len(part) && (isLower(part[j]) || isDigit(part[j]))
		longest := map[byte]int{'.': 1, '_': 2, '-': len(part)}[c]
		switch {
		case isUpper(c):
			return fmt.Sprintf("part %q must be in lower case", part)
		case !between || j-i > longest:
			return problem
		}
		i = j
	}
	return ""
}

// CheckPort validates --image-container-port; empty means that none was given.
func CheckPort(port string) Findings {
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '+' {
		return one("--image-container-port", port, "must be a number from 1 to 65535", "")
	}
	return nil
}

// CheckRunAsUser validates --run-as-user: a user's number, as restricted pod security lets no one run as root.
// Empty means that none was given.
func CheckRunAsUser(user string) Findings {
	const field = "--run-as-user"
	if user == "" {
		return nil
	}
	n, err := strconv.ParseInt(user, 10, 64)
	switch {
	case err != nil || n < 0 || n > math.MaxInt32 || user[0] == '+':
		return one(field, user, fmt.Sprintf("must be a number from 1 to %d", math.MaxInt32), "")
	case n == 0:
		return one(field, user, "must not be root (0): the pod runs under restricted pod security, which demands runAsNonRoot", "")
	}
	return nil
}
