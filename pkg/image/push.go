package image

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Push puts an image into a registry, and gives its name there by digest. What the registry has already is
// not sent again. progress may be nil; it hears of the bytes that are there, and of all.
func (r Registries) Push(ctx context.Context, img *Image, ref string, progress func(done, all int64)) (string, error) {
	shown := withoutPassword(ref)
	digest, err := r.push(ctx, img, ref, progress)
	if ctx.Err() != nil {
		return "", fmt.Errorf("pushing %s: %w", shown, context.Cause(ctx))
	}
	if err != nil {
		return "", fmt.Errorf("pushing %s: %w", shown, err)
	}
	return WithDigest(ref, digest), nil
}

func (r Registries) push(ctx context.Context, img *Image, ref string, progress func(done, all int64)) (string, error) {
	parsed, err := parse(ref, r.Insecure)
	if err != nil {
		return "", err
	}
	if _, ok := parsed.(name.Digest); ok {
		return "", fmt.Errorf("must have a tag and no digest, which follows from the image")
	}
	to, err := r.destination(parsed)
	if err != nil {
		return "", err
	}
	digest, err := img.Digest()
	if err != nil {
		return "", err
	}
	options := append(to.options(ctx), remote.WithJobs(2))
	done := make(chan struct{})
	if progress != nil {
		updates := make(chan v1.Update, 16)
		options = append(options, remote.WithProgress(updates))
		go func() {
			defer close(done)
			for u := range updates {
				if u.Error == nil {
					progress(u.Complete, u.Total)
				}
			}
		}()
	} else {
		close(done)
	}
	if img.index != nil {
		err = remote.WriteIndex(to.ref, img.index, options...)
	} else {
		err = remote.Write(to.ref, img.one, options...)
	}
	<-done
	if err != nil {
		return "", to.explain(err)
	}
	return digest, nil
}

// destination is a registry that is pushed to: neither a mirror of it nor the place that registries.conf has it
// read from.
func (r Registries) destination(ref name.Reference) (source, error) {
	sources, err := r.withoutMirrors().sources(ref)
	if err != nil {
		return source{}, err
	}
	to := sources[len(sources)-1]
	if to.ref.Name() != ref.Name() {
		to = source{ref: ref, keys: r.keychain(), transport: r.transport(r.Insecure)}
	}
	to.pushing = true
	return to, nil
}

func (r Registries) withoutMirrors() Registries {
	r.Mirrors = nil
	return r
}
