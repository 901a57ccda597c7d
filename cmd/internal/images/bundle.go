package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/operon-sdk/operon/cmd/internal/env"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
)

// OpenBundle opens the bundle of an argument DIR|IMAGE, relative to dir: a directory, an OCI layout, a tarball, or an image in a registry.
// Existing files take precedence, and paths that do not exist are not looked up in registries. The error contains the fix,
// and the name only for images. It is a usage error if nothing has that name.
func OpenBundle(ctx context.Context, p *output.Printer, dir, arg string, registries image.Registries) (*image.Bundle, error) {
	abs := env.Absolute(dir, arg)
	info, err := p.FS.Stat(abs)
	switch {
	case arg == "":
		return nil, diag.Usage(errors.New("the name of a bundle is empty; pass a directory or an image"))
	case err == nil && info.IsDir() && !image.IsLayout(p.FS, abs):
		name := filepath.ToSlash(abs)
		if rel, err := filepath.Rel(dir, abs); err == nil && !action.IsOutside(filepath.ToSlash(rel)) {
			name = filepath.ToSlash(rel)
		}
		return image.OpenDirectory(p.FS, abs, name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, diag.Finding{Position: diag.Position{File: filepath.ToSlash(arg)}, Problem: diag.Cause(err).Error(), Err: err}
	}
	opened, err := image.Open(ctx, arg, image.Options{Registries: registries, FS: p.FS, Dir: dir})
	if errors.Is(err, fs.ErrNotExist) && info == nil && !strings.ContainsAny(arg, ":@") {
		return nil, diag.Usage(fmt.Errorf("no such file or directory; '%s generate bundle' writes a bundle, and images have the form registry/name:tag", p.Program))
	}
	if err != nil && info != nil && info.Mode().IsRegular() {
		err = diag.Finding{
			Position: diag.Position{File: filepath.ToSlash(arg)},
			Problem:  fmt.Sprintf("must be the directory of a bundle or the archive of an image: %v", err), Err: err,
		}
	}
	return opened, err
}
