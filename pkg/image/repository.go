package image

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/operon-sdk/operon/pkg/image/reference"
)

// CheckTag returns an error unless a repository and a tag form a valid image reference.
func CheckTag(repository, tag string) error {
	if i := strings.LastIndexAny(repository, ":@"); i > strings.LastIndex(repository, "/") {
		return fmt.Errorf("must not have a tag or digest; use %s", repository[:i])
	}
	if err := reference.Check(repository); err != nil {
		return err
	}
	if err := reference.Check(repository + ":" + tag); err != nil {
		return fmt.Errorf("cannot have the tag %q: %w", tag, err)
	}
	return nil
}

// CheckName returns an error unless ref is a valid reference to push to. Without a tag, the tag is latest.
func CheckName(ref string) error {
	_, err := parseTag(ref, nil)
	return err
}

// parseTag parses a reference to push to.
func parseTag(ref string, plainHTTP []string) (name.Reference, error) {
	parsed, err := parse(ref, plainHTTP)
	if err != nil {
		return nil, err
	}
	if _, ok := parsed.(name.Digest); ok {
		return nil, errors.New("must have a tag instead of a digest")
	}
	return parsed, nil
}

// WithRegistry returns an image reference with another registry, which may be followed by a path.
func WithRegistry(ref, registry string) (string, error) {
	if ref == "" {
		return "", errors.New("the image has no name; pass one: image load SOURCE IMAGE")
	}
	parsed, err := parse(ref, nil)
	if err != nil {
		return "", err
	}
	tag, ok := parsed.(name.Tag)
	if !ok {
		return "", fmt.Errorf("image %s has no tag; pass a name with one: image load SOURCE IMAGE", ref)
	}
	moved := strings.TrimSuffix(registry, "/") + "/" + tag.RepositoryStr() + ":" + tag.TagStr()
	if _, err := parse(moved, nil); err != nil {
		return "", fmt.Errorf("is not a valid prefix of an image name: %w", err)
	}
	return moved, nil
}
