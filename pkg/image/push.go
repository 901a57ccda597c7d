package image

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Push pushes an image and returns its reference with a digest. Blobs that the registry contains are not sent. Progress, if
// not nil, is called with the number of bytes that are complete, and of all bytes.
func (r Registries) Push(ctx context.Context, img *Image, ref string, progress func(done, all int64)) (string, error) {
	digest, err := r.push(ctx, img, ref, progress)
	if err != nil || ctx.Err() != nil {
		return "", pushError(ctx, ref, err)
	}
	return WithDigest(ref, digest), nil
}

// pushError adds the reference of an image to an error. The cause of an ended context replaces the error.
func pushError(ctx context.Context, ref string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("pushing %s: %w", withoutPassword(ref), err)
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
		err = remote.Write(to.ref, img.single, options...)
	}
	<-done
	if err != nil {
		return "", to.explain(err)
	}
	return digest, nil
}

// countImages counts the images and indexes in an index, each as often as it is listed, as all of them are pushed. The map
// caches the counts.
func countImages(index v1.ImageIndex, depth int, counts map[v1.Hash]int) (int, error) {
	if depth > maxNesting {
		return 0, &limitError{fmt.Sprintf("has more than %d nested indexes", maxNesting)}
	}
	m, err := index.IndexManifest()
	if err != nil {
		return 0, err
	}
	total := 0
	for _, d := range m.Manifests {
		count, ok := counts[d.Digest]
		if !ok {
			count = 1
			if d.MediaType.IsIndex() {
				inner, err := index.ImageIndex(d.Digest)
				if err != nil {
					return 0, err
				}
				if count, err = countImages(inner, depth+1, counts); err != nil {
					return 0, err
				}
			}
			counts[d.Digest] = count
		}
		if total += count; total > maxImages {
			return 0, &limitError{fmt.Sprintf("lists more than %d images", maxImages)}
		}
	}
	return total, nil
}

// destination returns the registry to push to, which is neither a mirror nor a location of registries.conf.
func (r Registries) destination(name string) (source, error) {
	ref, err := parseTag(name, r.PlainHTTP)
	if err != nil {
		return source{}, err
	}
	r.Mirrors = nil
	sources, err := r.sources(ref)
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

// CheckPush returns an error unless a registry accepts an image with a reference. It starts an upload, as the protocol has no
// other way to check that.
func (r Registries) CheckPush(ctx context.Context, ref string) error {
	to, err := r.destination(ref)
	if err != nil {
		return pushError(ctx, ref, err)
	}
	// The library resolves credentials of the host only; files may contain others for its paths.
	auth, err := to.keys.ResolveContext(ctx, to.ref.Context())
	if err == nil {
		err = remote.CheckPushPermission(to.ref, fixedKeychain{auth}, contextTransport{ctx, to.transport})
	}
	if err != nil {
		return pushError(ctx, ref, to.explain(err))
	}
	return nil
}

// fixedKeychain is a keychain with the same credentials for all registries.
type fixedKeychain struct{ authn.Authenticator }

func (k fixedKeychain) Resolve(authn.Resource) (authn.Authenticator, error) {
	return k.Authenticator, nil
}

// contextTransport cancels requests when a context ends.
type contextTransport struct {
	ctx  context.Context
	base http.RoundTripper
}

func (t contextTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	return t.base.RoundTrip(r.WithContext(ctx))
}
