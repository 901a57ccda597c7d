package scaffold

import (
	"go/version"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// goImage matches the version of a Go image. Without a patch version, the tag means the latest one.
var goImage = lazyregexp.New(`(?i)^\s*(?:FROM\s|ARG\s+\w+=).*\bgolang:([0-9]+\.[0-9]+(?:\.[0-9]+)?)`)

// CheckGoImage returns findings about Go images in the Dockerfile that are older than the Go version of go.mod. These images do not
// download a newer Go version, so that the build of the operator's image fails.
func CheckGoImage(tree *worktree.Tree) (diag.Findings, error) {
	_, file, err := ReadGoMod(tree)
	if err != nil || file.Go == nil {
		return nil, err
	}
	content, err := tree.ReadOptional(dockerfile)
	if err != nil {
		return nil, err
	}
	var findings diag.Findings
	needed := "go" + file.Go.Version
	for i, line := range strings.Split(string(content), "\n") {
		image := goImage.FindStringSubmatch(line)
		if image == nil {
			continue
		}
		has, than := "go"+image[1], needed
		if version.Lang(has) == has {
			than = version.Lang(needed)
		}
		if version.Compare(has, than) < 0 {
			findings.Addf(diag.Position{File: dockerfile, Line: i + 1},
				"golang:%s is older than Go %s, which go.mod requires, so that the image cannot be built; raise the version of the image", image[1], file.Go.Version)
		}
	}
	return findings, nil
}
