package manifest

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A Remote decides about references of kustomizations to other machines: repositories, which kustomize clones with git, and files,
// which it downloads.
type Remote int

const (
	// RefuseRemote refuses all of them. It is the default, because a kustomization can have come with a clone.
	RefuseRemote Remote = iota
	// AllowRemote allows references by HTTPS and SSH that git cannot mistake for options.
	AllowRemote
)

// A RemoteError reports that a kustomization refers to another machine.
type RemoteError struct {
	// File is the kustomization, relative to the directory of the build.
	File string
	// Reference is the repository or the file.
	Reference string
	// Problem is the reason why it is refused even with AllowRemote, or empty.
	Problem string
}

func (e *RemoteError) Error() string {
	if e.Problem != "" {
		return fmt.Sprintf("%s: %q: %s", e.File, e.Reference, e.Problem)
	}
	return fmt.Sprintf("%s: %q is on another machine; copy it to the project, or use --allow-remote-resources", e.File, e.Reference)
}

// check returns an error for the first reference in a file that is refused. Files other than kustomizations have references if they
// configure builtin plugins of kustomize.
func (r Remote) check(file string, data []byte) error {
	var documents []any
	if IsKustomization(file) {
		var content any
		if err := safeyaml.UnmarshalJSON(data, &content); err != nil {
			return nil // kustomize reports it
		}
		documents = []any{content}
	} else {
		documents = plugins(data)
	}
	for _, reference := range references(nil, documents) {
		if err := r.checkReference(file, reference); err != nil {
			return err
		}
	}
	return nil
}

// checkReference returns an error for a reference that is refused.
func (r Remote) checkReference(file, reference string) error {
	if !isRemote(reference) {
		return nil
	}
	if problem := remoteProblem(reference); r == RefuseRemote || problem != "" {
		return &RemoteError{File: file, Reference: reference, Problem: problem}
	}
	return nil
}

// checkArguments returns an error for an argument of kustomize that is a refused reference.
func (r Remote) checkArguments(args []string) error {
	switch {
	case len(args) > 0 && slices.Contains([]string{"build", "localize"}, args[0]):
	case len(args) > 2 && args[0] == "edit" && args[1] == "add" && slices.Contains([]string{"resource", "base", "component"}, args[2]):
	default:
		return nil
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			continue
		}
		if err := r.checkReference("kustomize "+args[0], arg); err != nil {
			return err
		}
	}
	return nil
}

// plugins returns the documents of a stream that configure builtin plugins.
func plugins(data []byte) (found []any) {
	if !bytes.Contains(data, []byte("builtin")) {
		return nil
	}
	documents, _ := safeyaml.Documents[any](data)
	for _, document := range documents {
		if object, ok := (*document).(map[string]any); ok && object["apiVersion"] == "builtin" {
			found = append(found, object)
		}
	}
	return found
}

// notReferences are the fields whose values are no references: text, and what selects or changes fields of objects.
func notReferences() []string {
	return []string{
		"apiVersion", "kind", "metadata", "buildMetadata", "namespace", "namePrefix", "nameSuffix", "commonLabels", "commonAnnotations",
		"labels", "images", "literals", "patch", "vars", "options", "sortOptions", "replicas", "target", "targets", "source", "sources",
		"fieldSpecs", "valuesInline",
	}
}

// references appends all strings of a value that can be references. Of objects within strings, only builtin plugins have some.
func references(found []string, value any) []string {
	switch value := value.(type) {
	case string:
		found = references(found, plugins([]byte(value)))
		if strings.Contains(value, "\n") {
			return found
		}
		// A generator names its files as KEY=FILE.
		if _, file, ok := strings.Cut(value, "="); ok {
			found = append(found, file)
		}
		return append(found, value)
	case []any:
		for _, item := range value {
			found = references(found, item)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if !slices.Contains(notReferences(), key) {
				found = references(found, value[key])
			}
		}
	}
	return found
}

// isRemote reports whether kustomize can take a reference for a URL or for a repository of git: with a scheme or a transport of git,
// USER@HOST:PATH or HOST:PATH, on GitHub, or with a branch.
func isRemote(reference string) bool {
	host, _, _ := strings.Cut(reference, "/")
	lower := strings.ToLower(reference)
	isDrive := len(host) == 2 && host[1] == ':'
	return strings.Contains(reference, "://") || strings.Contains(reference, "::") ||
		strings.ContainsAny(host, "@:") && !isDrive ||
		strings.HasPrefix(lower, "github.com") || strings.HasPrefix(lower, "www.github.com") || strings.HasPrefix(lower, "ssh.github.com") ||
		strings.Contains(reference, "?")
}

// option matches a part of a URL that a program can take for an option.
var option = lazyregexp.New(`(?:^|[/:@=&?\\])\s*-`)

// remoteProblem returns why a reference is refused even where references to other machines are allowed, or an empty string.
func remoteProblem(reference string) string {
	decoded := reference
	for range 3 { // a part can be decoded more than once
		text, err := url.QueryUnescape(decoded)
		if err != nil {
			return "is not a valid URL"
		}
		decoded = text
	}
	switch {
	case strings.ContainsFunc(decoded, unicode.IsControl):
		return "contains a control character"
	case option.MatchString(decoded) || option.MatchString(reference):
		return "contains a part that begins with -, which git takes for an option"
	}
	address := strings.TrimPrefix(decoded, "git::")
	scheme, rest, ok := strings.Cut(address, "://")
	if ok && scheme != "https" && scheme != "ssh" || strings.Contains(rest, "://") || strings.Contains(address, "::") {
		return "must be an https or ssh URL"
	}
	return ""
}
