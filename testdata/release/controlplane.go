package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/operon-sdk/operon/pkg/controlplane"
)

// hasControlPlane reports whether there is an archive with the control plane for the platform. Elsewhere, few develop operators, and
// Operon builds the control plane from source.
func (p platform) hasControlPlane() bool {
	return p.arch == "amd64" || p.arch == "arm64" && p.os != "windows"
}

// packControlPlane writes the archive with the control plane for a platform. The platform's program, which is built later, looks for it by its
// name and digest.
func (r *release) packControlPlane(ctx context.Context, p platform) error {
	name, err := controlplane.ArchiveName(p.os, p.arch)
	if err != nil {
		return err
	}
	sum := sha256.New()
	err = create(r.file(name), func(w io.Writer) error {
		return r.pack(ctx, controlplane.PackOptions{
			OS: p.os, Arch: p.arch, Dir: r.stage, Modified: r.date, Environ: r.environ,
			Progress: func(message string) { fmt.Fprintln(r.log, message) },
		}, io.MultiWriter(w, sum))
	})
	if err != nil {
		return err
	}
	r.linked[p] = fmt.Sprintf("-X %[1]s.controlPlaneURL=%[2]s/%[3]s -X %[1]s.controlPlaneSHA256=%[4]s",
		"github.com/operon-sdk/operon/pkg/buildinfo", r.baseURL, name, hex.EncodeToString(sum.Sum(nil)))
	return nil
}
