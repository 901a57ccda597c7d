package bundles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// DigestsFile contains the digests of images, so that the bundle is the same if no registry can be reached.
const DigestsFile = ".operon/images.json"

// imageDigests resolves the digests of images: from registries, or from the project's file if none can be reached.
type imageDigests struct {
	resolve func(ctx context.Context, ref string) (string, error)
	// known is the content of the file, used what this run used.
	known, used map[string]string
	// reportOffline reports that a digest is from the file.
	reportOffline func(ref string)
}

// readDigests reads the digests of a project.
func (b *bundleRun) readDigests(tree *worktree.Tree) (*imageDigests, error) {
	d := &imageDigests{
		resolve: b.Digest, known: map[string]string{}, used: map[string]string{},
		reportOffline: func(ref string) {
			b.Reportf(diag.Note, "note: the registry of %s cannot be reached; its digest is from %s", ref, DigestsFile)
		},
	}
	data, err := tree.ReadOptional(DigestsFile)
	if data == nil || err != nil {
		return d, err
	}
	if err := json.Unmarshal(data, &d.known); err != nil {
		return nil, diag.Findings{{Position: diag.Position{File: DigestsFile}, Problem: "must map image references to digests: " + err.Error() + "; restore it from version control, or delete it"}}
	}
	return d, nil
}

// pin returns an image reference with its digest.
func (d *imageDigests) pin(ctx context.Context, ref string) (string, error) {
	if image.HasDigest(ref) {
		return ref, nil
	}
	digest, err := d.resolve(ctx, ref)
	if errors.Is(err, image.ErrUnreachable) && d.known[ref] != "" {
		d.reportOffline(ref)
		digest, err = d.known[ref], nil
	}
	if err != nil {
		return "", err
	}
	d.used[ref] = digest
	return image.WithDigest(ref, digest), nil
}

// write writes the digests that were used.
func (d *imageDigests) write(tree *worktree.Tree) error {
	if d == nil || len(d.used) == 0 {
		return nil
	}
	data, err := json.MarshalIndent(d.used, "", "  ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", DigestsFile, err)
	}
	tree.WriteFile(DigestsFile, append(data, '\n'), 0o644)
	return nil
}
