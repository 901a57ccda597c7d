package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/docker-credential-helpers/client"
	"github.com/docker/docker-credential-helpers/credentials"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// credentialFiles is a keychain of the files of docker and podman, which have the same format. The first file that contains a
// registry applies to it.
type credentialFiles struct{ Settings }

// credentialError reports an invalid credentials file. Its text contains no secrets.
type credentialError struct{ text string }

func (e *credentialError) Error() string { return e.text }

// Resolve returns the credentials for a repository.
func (c credentialFiles) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return c.ResolveContext(context.Background(), target)
}

// ResolveContext returns the credentials for a repository.
func (c credentialFiles) ResolveContext(ctx context.Context, target authn.Resource) (authn.Authenticator, error) {
	for _, p := range c.authFiles() {
		data, ok, err := c.read(p)
		if err != nil {
			return nil, &credentialError{err.Error()}
		}
		if !ok {
			continue
		}
		file := configfile.New("")
		if err := file.LoadFromReader(bytes.NewReader(data)); err != nil {
			return nil, &credentialError{p.display + " is not a valid credentials file"} // the cause may contain a secret
		}
		auth, err := c.lookUp(ctx, file, target.String())
		if err != nil {
			return nil, &credentialError{p.display + ": " + err.Error()}
		}
		if auth != nil {
			return authn.FromConfig(*auth), nil
		}
	}
	return authn.Anonymous, nil
}

// lookUp returns the credentials for a repository in one file, by the longest matching path. It returns nil if there
// are none.
func (c credentialFiles) lookUp(ctx context.Context, file *configfile.ConfigFile, repository string) (*authn.AuthConfig, error) {
	for key := repository; key != ""; key = parent(key) {
		for _, alternative := range alternativeKeys(key) {
			if helper := file.CredentialHelpers[alternative]; helper != "" {
				if auth, err := c.fromHelper(ctx, helper, alternative); auth != nil || err != nil {
					return auth, err
				}
			}
			entry, ok := file.AuthConfigs[alternative]
			auth := authn.AuthConfig{Username: entry.Username, Password: entry.Password, IdentityToken: entry.IdentityToken, RegistryToken: entry.RegistryToken}
			if ok && auth != (authn.AuthConfig{}) { // docker writes an empty entry if a helper has the credentials
				return &auth, nil
			}
		}
	}
	if file.CredentialsStore == "" {
		return nil, nil
	}
	host, _, _ := strings.Cut(repository, "/")
	if host == name.DefaultRegistry {
		host = authn.DefaultAuthKey
	}
	return c.fromHelper(ctx, file.CredentialsStore, host)
}

// parent returns the parent of a path, or "" for a host.
func parent(key string) string {
	return key[:max(strings.LastIndex(key, "/"), 0)]
}

// alternativeKeys returns the keys that credentials files use for a registry or a path in it.
func alternativeKeys(key string) []string {
	all := []string{key}
	if host, rest, _ := strings.Cut(key, "/"); host == name.DefaultRegistry {
		all = append(all, strings.TrimSuffix("docker.io/"+rest, "/"))
		if rest == "" {
			all = append(all, authn.DefaultAuthKey)
		}
	}
	return append(all, "https://"+key, "https://"+key+"/", "http://"+key)
}

// fromHelper returns the credentials of a credential helper, or nil if it has none.
func (c credentialFiles) fromHelper(ctx context.Context, helper, host string) (*authn.AuthConfig, error) {
	program := &helperProgram{name: "docker-credential-" + helper}
	got, err := client.Get(func(args ...string) client.Program {
		program.run = func(in io.Reader, out io.Writer) error { return c.Run(ctx, in, out, program.name, args...) }
		return program
	}, host)
	switch {
	case err == nil && got.Username == "<token>": // defined by the protocol of credential helpers
		return &authn.AuthConfig{IdentityToken: got.Secret}, nil
	case err == nil:
		return &authn.AuthConfig{Username: got.Username, Password: got.Secret}, nil
	case credentials.IsErrCredentialsNotFound(err):
		return nil, nil
	case errors.Is(program.err, fs.ErrNotExist):
		return nil, fmt.Errorf("program %s not found", program.name)
	}
	return nil, fmt.Errorf("program %s failed", program.name) // its output may contain a secret
}

// helperProgram is a credential helper without access to the standard streams of this process.
type helperProgram struct {
	name string
	run  func(in io.Reader, out io.Writer) error
	in   io.Reader
	// err is the error of the program; the client returns only its text.
	err error
}

func (h *helperProgram) Output() ([]byte, error) {
	var out bytes.Buffer
	h.err = h.run(h.in, &out)
	return out.Bytes(), h.err
}

func (h *helperProgram) Input(in io.Reader) { h.in = in }
