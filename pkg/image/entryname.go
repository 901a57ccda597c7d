package image

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// maxName, maxPart and maxDepth bound the names of entries; Linux has the first two of them. maxNames bounds the bytes of
// all names of an image or a tarball.
const maxName, maxPart, maxDepth, maxNames = 4096, 255, 100, 32 << 20

// splitName splits the name of an entry. Names outside of the root of the image are an error.
func splitName(name string) ([]string, error) {
	switch {
	case len(name) > maxName:
		return nil, fmt.Errorf("has a name of more than %d bytes", maxName)
	case strings.ContainsRune(name, 0):
		return nil, errors.New("has a name with a NUL byte")
	case strings.HasPrefix(name, "/") && strings.Trim(name, "/") != "":
		return nil, errors.New("has an absolute path; build the image with paths that start at its root")
	}
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "" || part == ".":
		case part == "..":
			return nil, errors.New("has a path with ..; build the image again")
		case len(part) > maxPart:
			return nil, fmt.Errorf("has a name with more than %d bytes between two slashes", maxPart)
		default:
			parts = append(parts, part)
		}
	}
	if len(parts) > maxDepth {
		return nil, fmt.Errorf("is nested in more than %d directories", maxDepth)
	}
	return parts, nil
}

// linkTarget returns the target of a symbolic link relative to the root of the image.
func linkTarget(parents []string, target string) (string, error) {
	if len(target) > maxName || target == "" || strings.ContainsRune(target, 0) {
		return "", errors.New("is a symbolic link without a valid target")
	}
	// An absolute target is relative to the root of the image, as in a container.
	at := []string{}
	if !strings.HasPrefix(target, "/") {
		at = append(at, parents...)
	}
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && len(at) == 0:
			return "", fmt.Errorf("is a symbolic link to %q, which is outside of the image", truncate(target))
		case part == "..":
			at = at[:len(at)-1]
		default:
			at = append(at, part)
		}
	}
	return path.Join(at...), nil
}

// truncate truncates a foreign name for a message.
func truncate(name string) string {
	const maxLength = 200
	if len(name) <= maxLength {
		return name
	}
	return strings.ToValidUTF8(name[:maxLength], "") + "…"
}

// printable escapes and truncates a foreign name for a message without quotes.
func printable(name string) string {
	name = truncate(name)
	if !strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return name
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// joinNames lists names for a message, truncated after 20.
func joinNames(names []string) string {
	const maxNames = 20
	var b strings.Builder
	for i, name := range names[:min(len(names), maxNames)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(printable(name))
	}
	if more := len(names) - maxNames; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}
