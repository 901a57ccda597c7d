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

// split takes a name apart. It refuses names that lead out of the image's root.
func split(name string) ([]string, error) {
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
			return nil, errors.New("has a path with .., which leads out of its folder; build the image again")
		case len(part) > maxPart:
			return nil, fmt.Errorf("has a name with more than %d bytes between two slashes", maxPart)
		default:
			parts = append(parts, part)
		}
	}
	if len(parts) > maxDepth {
		return nil, fmt.Errorf("lies in more than %d folders", maxDepth)
	}
	return parts, nil
}

// linkTarget is where a symbolic link leads to, from the image's root on.
func linkTarget(parents []string, target string) (string, error) {
	if len(target) > maxName || target == "" || strings.ContainsRune(target, 0) {
		return "", errors.New("is a symbolic link to nowhere")
	}
	// An absolute target starts at the root of the image, as it does in a container.
	at := []string{}
	if !strings.HasPrefix(target, "/") {
		at = append(at, parents...)
	}
	for part := range strings.SplitSeq(target, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && len(at) == 0:
			return "", fmt.Errorf("is a symbolic link to %q, out of the image's root", cut(target))
		case part == "..":
			at = at[:len(at)-1]
		default:
			at = append(at, part)
		}
	}
	return path.Join(at...), nil
}

// cut shortens a name that somebody else chose.
func cut(name string) string {
	const longest = 200
	if len(name) <= longest {
		return name
	}
	return strings.ToValidUTF8(name[:longest], "") + "…"
}

// printable is a name that somebody else chose as it may be printed without quotes.
func printable(name string) string {
	name = cut(name)
	if !strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return name
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// listed lists the first of many names.
func listed(names []string) string {
	const most = 20
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(printable(name))
	}
	if more := len(names) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}
