package image

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
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
	to, err := r.destination(ref)
	if err != nil {
		return "", err
	}
	digest, err := img.Digest()
	if err != nil {
		return "", err
	}
	options := append(to.options(ctx), remote.WithJobs(2))
	if img.index != nil {
		if _, err := countImages(img.index, 0, map[v1.Hash]int{}); err != nil {
			return "", img.explain(err)
		}
	}
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

// countImages counts the images and indexes below an index, each as often as it is listed, as they are pushed. Counts that
// are known are not determined again.
func countImages(index v1.ImageIndex, depth int, known map[v1.Hash]int) (int, error) {
	if depth > maxNesting {
		return 0, &LimitError{fmt.Sprintf("has more than %d indexes inside of each other", maxNesting)}
	}
	m, err := index.IndexManifest()
	if err != nil {
		return 0, err
	}
	total := 0
	for _, d := range m.Manifests {
		count, ok := known[d.Digest]
		if !ok {
			count = 1
			if d.MediaType.IsIndex() {
				inner, err := index.ImageIndex(d.Digest)
				if err != nil {
					return 0, err
				}
				if count, err = countImages(inner, depth+1, known); err != nil {
					return 0, err
				}
			}
			known[d.Digest] = count
		}
		if total += count; total > maxImages {
			return 0, &LimitError{fmt.Sprintf("lists more than %d images", maxImages)}
		}
	}
	return total, nil
}

// destination is a registry that is pushed to: neither a mirror of it nor the place that registries.conf has it
// read from.
func (r Registries) destination(name string) (source, error) {
	ref, err := parseTag(name, r.PlainHTTP)
	if err != nil {
		return source{}, err
	}
	sources, err := r.withoutMirrors().sources(ref)
	if err != nil {
		return source{}, err
	}
	to := sources[len(sources)-1]
	if to.ref.Name() != ref.Name() {
		to = r.source(ref)
	}
	to.pushing = true
	return to, nil
}

func (r Registries) withoutMirrors() Registries {
	r.Mirrors = nil
	return r
}

// CheckPush tells whether a registry would take an image under a name, before work is done to make it. It
// begins to send something, as that is the only way to know.
func (r Registries) CheckPush(ctx context.Context, ref string) error {
	to, err := r.destination(ref)
	if err != nil {
		return fmt.Errorf("pushing %s: %w", withoutPassword(ref), err)
	}
	// The library asks for the credentials of a host, and they may be those of a path in it.
	auth, err := to.keys.ResolveContext(ctx, to.ref.Context())
	if err == nil {
		err = remote.CheckPushPermission(to.ref, known{auth}, bound{ctx, to.transport})
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("pushing %s: %w", ref, context.Cause(ctx))
	case err != nil:
		return fmt.Errorf("pushing %s: %w", ref, to.explain(err))
	}
	return nil
}

// known is a keychain of credentials that have been found.
type known struct{ authn.Authenticator }

func (k known) Resolve(authn.Resource) (authn.Authenticator, error) { return k.Authenticator, nil }

// bound ends requests with a context.
type bound struct {
	ctx context.Context
	to  http.RoundTripper
}

func (b bound) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	context.AfterFunc(b.ctx, func() { cancel(context.Cause(b.ctx)) })
	return b.to.RoundTrip(r.WithContext(ctx))
}
