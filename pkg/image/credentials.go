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

// credentialFiles is a keychain of the files of docker and podman, which have the same form. Each registry
// is looked for in all of them: a file that has nothing to say of a registry does not hide the next one.
type credentialFiles struct{ Settings }

// credentialError is a file of credentials that does not work. Its text holds no secret.
type credentialError struct{ text string }

func (e *credentialError) Error() string { return e.text }

// Resolve finds the credentials for a repository.
func (c credentialFiles) Resolve(target authn.Resource) (authn.Authenticator, error) {
	return c.ResolveContext(context.Background(), target)
}

// ResolveContext finds the credentials for a repository.
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
			return nil, &credentialError{p.shown + " is no file of credentials"} // the cause may quote it
		}
		auth, err := c.lookUp(ctx, file, target.String())
		if err != nil {
			return nil, &credentialError{p.shown + ": " + err.Error()}
		}
		if auth != nil {
			return authn.FromConfig(*auth), nil
		}
	}
	return authn.Anonymous, nil
}

// lookUp finds the credentials for a repository in one file: those of the longest path that it names. Nil
// means that there are none.
func (c credentialFiles) lookUp(ctx context.Context, file *configfile.ConfigFile, repository string) (*authn.AuthConfig, error) {
	for key := repository; key != ""; key = parent(key) {
		for _, written := range spellings(key) {
			if helper := file.CredentialHelpers[written]; helper != "" {
				if auth, err := c.fromHelper(ctx, helper, written); auth != nil || err != nil {
					return auth, err
				}
			}
			there, ok := file.AuthConfigs[written]
			auth := authn.AuthConfig{Username: there.Username, Password: there.Password, IdentityToken: there.IdentityToken, RegistryToken: there.RegistryToken}
			if ok && auth != (authn.AuthConfig{}) { // docker leaves an empty entry for what a helper keeps
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

// parent is the path around another one, empty around a host.
func parent(key string) string {
	return key[:max(strings.LastIndex(key, "/"), 0)]
}

// spellings are the ways in which files name a registry or a path in it.
func spellings(key string) []string {
	all := []string{key}
	if host, rest, _ := strings.Cut(key, "/"); host == name.DefaultRegistry {
		all = append(all, strings.TrimSuffix("docker.io/"+rest, "/"))
		if rest == "" {
			all = append(all, authn.DefaultAuthKey)
		}
	}
	return append(all, "https://"+key, "https://"+key+"/", "http://"+key)
}

// fromHelper asks a program that keeps credentials. Nil means that it has none.
func (c credentialFiles) fromHelper(ctx context.Context, helper, host string) (*authn.AuthConfig, error) {
	program := &helperProgram{name: "docker-credential-" + helper}
	got, err := client.Get(func(args ...string) client.Program {
		program.run = func(in io.Reader, out io.Writer) error { return c.Run(ctx, in, out, program.name, args...) }
		return program
	}, host)
	switch {
	case err == nil && got.Username == "<token>": // the helpers' protocol
		return &authn.AuthConfig{IdentityToken: got.Secret}, nil
	case err == nil:
		return &authn.AuthConfig{Username: got.Username, Password: got.Secret}, nil
	case credentials.IsErrCredentialsNotFound(err):
		return nil, nil
	case errors.Is(program.err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no program %s", program.name)
	}
	return nil, fmt.Errorf("the program %s fails", program.name) // what it prints may be a secret
}

// helperProgram is a credential helper that shares no stream with this process.
type helperProgram struct {
	name string
	run  func(in io.Reader, out io.Writer) error
	in   io.Reader
	// err is how the program ended; the client keeps only its text.
	err error
}

func (h *helperProgram) Output() ([]byte, error) {
	var out bytes.Buffer
	h.err = h.run(h.in, &out)
	return out.Bytes(), h.err
}

func (h *helperProgram) Input(in io.Reader) { h.in = in }
