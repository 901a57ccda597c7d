package image

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/operon-sdk/operon/pkg/image/reference"
)

// CheckTag returns an error unless a repository and a tag make the name of an image. The error speaks of the one
// that is wrong.
func CheckTag(repository, tag string) error {
	if i := strings.LastIndexAny(repository, ":@"); i > strings.LastIndex(repository, "/") {
		return fmt.Errorf("must be without tag and digest, such as %s", repository[:i])
	}
	if err := reference.Check(repository); err != nil {
		return err
	}
	if err := reference.Check(repository + ":" + tag); err != nil {
		return fmt.Errorf("cannot have the tag %q: %w", tag, err)
	}
	return nil
}

// CheckName tells whether a text names an image that can be written: with a tag, or with none, which is latest.
func CheckName(ref string) error {
	_, err := parseTag(ref, nil)
	return err
}

// parseTag takes the name of an image apart that is to be written.
func parseTag(ref string, plainHTTP []string) (name.Reference, error) {
	parsed, err := parse(ref, plainHTTP)
	if err != nil {
		return nil, err
	}
	if _, ok := parsed.(name.Digest); ok {
		return nil, errors.New("must have a tag and no digest, which follows from the image")
	}
	return parsed, nil
}

// Elsewhere is an image's name in another registry, which may be given with a path.
func Elsewhere(ref, registry string) (string, error) {
	if ref == "" {
		return "", errors.New("cannot take an image that has no name; give it one: image load SOURCE IMAGE")
	}
	parsed, err := parse(ref, nil)
	if err != nil {
		return "", err
	}
	tag, ok := parsed.(name.Tag)
	if !ok {
		return "", fmt.Errorf("cannot take %s, which has no tag; give it one: image load SOURCE IMAGE", ref)
	}
	moved := strings.TrimSuffix(registry, "/") + "/" + tag.RepositoryStr() + ":" + tag.TagStr()
	if _, err := parse(moved, nil); err != nil {
		return "", fmt.Errorf("makes no name of an image: %w", err)
	}
	return moved, nil
}
