package image

import (
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// CheckTag tells whether a repository and a tag make the name of an image. The error speaks of the one
// that is wrong.
func CheckTag(repository, tag string) error {
	if _, err := name.NewRepository(repository); err != nil {
		if i := strings.LastIndexAny(repository, ":@"); i > strings.LastIndex(repository, "/") {
			return fmt.Errorf("must be without tag and digest, such as %s", repository[:i])
		}
		return fmt.Errorf("is no name of an image, such as registry.example.com/team/operator-bundle")
	}
	if _, err := name.NewTag(repository + ":" + tag); err != nil {
		return fmt.Errorf("cannot have the tag %q: tags are of letters, digits, _, . and -", tag)
	}
	return nil
}
