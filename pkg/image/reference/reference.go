// Package reference validates image references by the grammar of container registries
// (github.com/distribution/reference): [host[:port]/]path[:tag][@digest]. Check returns the problem of a reference, Suggest
// a correction. No registry is contacted.
package reference

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Check returns an error unless ref is a valid image reference. The error does not contain ref, which may contain a password.
func Check(ref string) error {
	const maxName = 255
	scheme, _, isURL := strings.Cut(ref, "://")
	switch {
	case ref == "":
		return errors.New("is required")
	case strings.ContainsAny(ref, " \t\r\n"):
		return errors.New("must not contain spaces")
	case isURL:
		return fmt.Errorf("must be an image reference such as registry.example.com/team/operator:v1, without %s://", scheme)
	}
	rest, digest, hasDigest := strings.Cut(ref, "@")
	if strings.ContainsAny(digest, "/@") {
		return errors.New("must not contain a user and password; log in with 'docker login' or 'podman login' instead")
	}
	if hasDigest {
		if err := checkDigest(digest); err != nil {
			return err
		}
	}
	host, path := splitHost(rest)
	if host != "" {
		if err := checkHost(host); err != nil {
			return err
		}
	}
	name := path
	if i := strings.LastIndexByte(path, ':'); i >= 0 {
		name = path[:i]
		if err := checkTag(path[i+1:]); err != nil {
			return err
		}
	}
	if err := checkPath(name, len(rest)-len(path), ref); err != nil {
		return err
	}
	if host == "" && len(name) == 64 && strings.Trim(name, "0123456789abcdef") == "" {
		return errors.New("must be a name, not an image ID, which registries do not accept")
	}
	if len(host)+1+len(name) > maxName {
		return fmt.Errorf("must have at most %d characters before the tag", maxName)
	}
	return nil
}

// Suggest returns the valid reference that an invalid one probably means, or an empty string.
func Suggest(ref string) string {
	ref = strings.TrimSpace(ref)
	if _, rest, ok := strings.Cut(ref, "://"); ok {
		ref = rest
	}
	name, tail := ref, ""
	if i := strings.LastIndexByte(name, '/'); strings.ContainsAny(name[i+1:], ":@") {
		j := i + 1 + strings.IndexAny(name[i+1:], ":@")
		name, tail = name[:j], name[j:]
	}
	ref = strings.ToLower(strings.Trim(name, "/")) + strings.TrimRight(tail, ":@")
	if Check(ref) != nil {
		return ""
	}
	return ref
}

// splitHost cuts off the registry's host and port, which are empty if the reference starts with a path.
func splitHost(ref string) (host, path string) {
	if first, rest, ok := strings.Cut(ref, "/"); ok && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return first, rest
	}
	return "", ref
}

func checkHost(host string) error {
	name, port, hasPort := strings.Cut(host, ":")
	if strings.HasPrefix(host, "[") {
		end := strings.IndexByte(host, ']')
		if end < 0 || strings.Trim(host[1:end], "0123456789abcdefABCDEF:.") != "" || end == 1 {
			return fmt.Errorf("registry %q must be an IPv6 address in brackets", host)
		}
		name, port, hasPort = "v6", strings.TrimPrefix(host[end+1:], ":"), len(host) > end+1
		if hasPort && host[end+1] != ':' {
			return fmt.Errorf("registry %q must have a colon before its port", host)
		}
	}
	if hasPort {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("registry %q must have a port from 1 to 65535", host)
		}
	}
	for part := range strings.SplitSeq(name, ".") {
		for i := 0; i < len(part); i++ {
			edge := i == 0 || i == len(part)-1
			if c := part[i]; !isLower(c) && !isUpper(c) && !isDigit(c) && (c != '-' || edge) {
				return fmt.Errorf("registry %q must be a valid host name", host)
			}
		}
		if part == "" {
			return fmt.Errorf("registry %q must be a valid host name", host)
		}
	}
	return nil
}

func checkTag(tag string) error {
	const maxTag = 128
	if tag == "" {
		return errors.New("must have a tag after the colon")
	}
	for i, c := range tag {
		if c >= utf8.RuneSelf || !isLower(byte(c)) && !isUpper(byte(c)) && !isDigit(byte(c)) && c != '_' && (i == 0 || c != '.' && c != '-') {
			return fmt.Errorf("tag %q must consist of letters, digits, '_', '.' and '-', and not start with '.' or '-'", tag)
		}
	}
	if len(tag) > maxTag {
		return fmt.Errorf("must have a tag of at most %d characters", maxTag)
	}
	return nil
}

func checkDigest(digest string) error {
	algorithm, sum, ok := strings.Cut(digest, ":")
	want := map[string]int{"sha256": 64, "sha384": 96, "sha512": 128}[algorithm]
	if !ok || want == 0 {
		return fmt.Errorf("digest %q must be sha256: and 64 hexadecimal digits", digest)
	}
	if len(sum) != want || strings.Trim(sum, "0123456789abcdef") != "" {
		return fmt.Errorf("digest %q must have %d lower-case hexadecimal digits after %s", digest, want, algorithm)
	}
	return nil
}

// checkPath checks [a-z0-9]+((\.|_|__|-+)[a-z0-9]+)* between slashes. The path starts at an offset in ref.
func checkPath(path string, offset int, ref string) error {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" {
			return errors.New("must have a name before, between and after slashes")
		}
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
			position := utf8.RuneCountInString(ref[:offset+i]) + 1
			longest := map[byte]int{'.': 1, '_': 2, '-': len(part)}[c]
			switch {
			case isUpper(c):
				return fmt.Errorf("must be in lower case before the tag; character %d is %q", position, c)
			case longest == 0:
				character, _ := utf8.DecodeRuneInString(part[i:])
				return fmt.Errorf("character %d must not be %q; names consist of lower-case letters and digits, with '.', '_' and '-' between them", position, character)
			case i == 0 || j == len(part) || j-i > longest || !isLower(part[j]) && !isDigit(part[j]):
				return fmt.Errorf("character %d, %q, must be alone between letters or digits", position, c)
			}
			i = j
		}
		offset += len(part) + 1
	}
	return nil
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
