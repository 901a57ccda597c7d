package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// imagesFile keeps the digests of images, so that a run without network gives the same bundle.
const imagesFile = ".operon/images.json"

// lockedImages finds the digests of images: the registries know them, and where none can be reached,
// the project's file does.
type lockedImages struct {
	registries image.Registries
	// known is the file as read, used what this run took.
	known, used map[string]string
	offline     func(ref string)
}

// readImages reads the digests of a project.
func (a *app) readImages(tree *worktree.Tree, o *bundleOptions) (*lockedImages, error) {
	l := &lockedImages{
		registries: a.registries(o.registryOptions),
		known:      map[string]string{}, used: map[string]string{},
		offline: func(ref string) {
			a.notef("note: no registry answers for %s; its digest is taken from %s", ref, imagesFile)
		},
	}
	data, err := readOptional(tree, imagesFile)
	if data == nil || err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l.known); err != nil {
		return nil, diag.Findings{{Position: diag.Position{File: imagesFile}, Problem: "must map image references to digests: " + err.Error() + "; restore it from version control, or delete it"}}
	}
	return l, nil
}

// pin gives an image by digest.
func (l *lockedImages) pin(ctx context.Context, ref string) (string, error) {
	if image.HasDigest(ref) {
		return ref, nil
	}
	digest, err := l.registries.Digest(ctx, ref)
	if errors.Is(err, image.ErrUnreachable) && l.known[ref] != "" {
		l.offline(ref)
		digest, err = l.known[ref], nil
	}
	if err != nil {
		return "", err
	}
	l.used[ref] = digest
	return image.WithDigest(ref, digest), nil
}

// write keeps the digests that were used.
func (l *lockedImages) write(tree *worktree.Tree) error {
	if l == nil || len(l.used) == 0 {
		return nil
	}
	data, err := json.MarshalIndent(l.used, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", imagesFile, err)
	}
	tree.WriteFile(imagesFile, append(data, '\n'), 0o644)
	return nil
}
