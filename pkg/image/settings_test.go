package image_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/pkg/image"
)

// machine returns Settings with files and variables of a test. Paths start at the root.
func machine(t *testing.T, files, variables map[string]string) image.Settings {
	t.Helper()
	memory := afero.NewMemMapFs()
	for name, content := range files {
		if err := afero.WriteFile(memory, filepath.FromSlash(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return image.Settings{FS: memory, Getenv: func(key string) string { return variables[key] },
		Run: func(_ context.Context, _ io.Reader, _ io.Writer, name string, _ ...string) error {
			return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}}
}

// loggedIn returns a credentials file.
func loggedIn(key, user, password string) string {
	return fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, key, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

// TestCredentials reads credentials from each of the files of docker and podman, with and without other files that do not
// contain the registry.
func TestCredentials(t *testing.T) {
	t.Parallel()
	host := serve(t, basic)
	write(t, host+"/team/op:v1", build(t, labels(), good(t)...))
	ours, others := loggedIn(host, "me", "s3cret"), loggedIn("other.test", "me", "s3cret")
	home := map[string]string{"HOME": "/home/me"}
	with := func(pairs ...string) map[string]string {
		all := map[string]string{"HOME": "/home/me"}
		for i := 0; i < len(pairs); i += 2 {
			all[pairs[i]] = pairs[i+1]
		}
		return all
	}
	const docker, podman = "/home/me/.docker/config.json", "/home/me/.config/containers/auth.json"
	const refused, wrong = "denied access (401); log in with", "with the configured credentials"
	for _, c := range []struct {
		name             string
		files, variables map[string]string
		want             string
	}{
		{"nothing", nil, home, refused},
		{"no home", map[string]string{docker: ours}, nil, refused},
		{"docker", map[string]string{docker: ours}, home, ""},
		{"docker on Windows", map[string]string{docker: ours}, map[string]string{"USERPROFILE": "/home/me"}, ""},
		{"docker with DOCKER_CONFIG", map[string]string{"/d/config.json": ours}, with("DOCKER_CONFIG", "/d"), ""},
		{"not the default file of docker", map[string]string{docker: ours}, with("DOCKER_CONFIG", "/d"), refused},
		{"podman", map[string]string{podman: ours}, home, ""},
		{"podman, at work", map[string]string{"/run/me/containers/auth.json": ours}, with("XDG_RUNTIME_DIR", "/run/me"), ""},
		{"podman, configured", map[string]string{"/c/containers/auth.json": ours}, with("XDG_CONFIG_HOME", "/c"), ""},
		{"named", map[string]string{"/a.json": ours}, with("REGISTRY_AUTH_FILE", "/a.json"), ""},
		{"docker has none for it", map[string]string{docker: others, podman: ours}, home, ""},
		{"named has none for it", map[string]string{"/a.json": others, docker: ours}, with("REGISTRY_AUTH_FILE", "/a.json"), ""},
		{"none has any for it", map[string]string{docker: others, podman: others}, home, refused},
		{"named is first", map[string]string{"/a.json": loggedIn(host, "me", "old"), docker: ours}, with("REGISTRY_AUTH_FILE", "/a.json"), wrong},
		{"empty entry, as docker leaves it", map[string]string{docker: `{"auths":{"` + host + `":{}}}`, podman: ours}, home, ""},
		{"by address", map[string]string{docker: loggedIn("https://"+host+"/", "me", "s3cret")}, home, ""},
		{"by path", map[string]string{podman: loggedIn(host+"/team", "me", "s3cret")}, home, ""},
		{"by repository", map[string]string{podman: loggedIn(host+"/team/op", "me", "s3cret")}, home, ""},
		{"by another path", map[string]string{podman: loggedIn(host+"/tea", "me", "s3cret")}, home, refused},
		{"longest path first", map[string]string{podman: `{"auths":{"` + host + `":{"auth":"bWU6b2xk"},"` + host + `/team":{"auth":"bWU6czNjcmV0"}}}`}, home, ""},
		{"broken", map[string]string{docker: `{"auths":"s3cret"`}, home, "cannot read the credentials for " + host + ": ~/.docker/config.json is not a valid credentials file; correct the file"},
		{"broken password", map[string]string{docker: `{"auths":{"x":{"auth":"s3cret"}}}`}, home, "~/.docker/config.json is not a valid credentials file"},
		{"no helper", map[string]string{docker: `{"credsStore":"of-nobody"}`}, home, "~/.docker/config.json: program docker-credential-of-nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := image.Open(t.Context(), host+"/team/op:v1", image.Options{Registries: image.Registries{PlainHTTP: []string{host}, Settings: machine(t, c.files, c.variables)}})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "/home/me")) {
				t.Errorf("error contains a secret: %v", err)
			}
		})
	}
}

// TestCredentialHelper reads credentials from a credential helper.
func TestCredentialHelper(t *testing.T) {
	t.Parallel()
	host := serve(t, basic)
	write(t, host+"/op:v1", build(t, labels(), good(t)...))
	vault := func(settings image.Settings) image.Settings {
		missing := settings.Run
		settings.Run = func(ctx context.Context, in io.Reader, out io.Writer, name string, args ...string) error {
			if name != "docker-credential-vault" {
				return missing(ctx, in, out, name, args...)
			}
			input, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			switch strings.Join(args, " ") + ":" + strings.TrimSpace(string(input)) {
			case "get:" + host:
				_, err = io.WriteString(out, `{"Username":"me","Secret":"s3cret"}`)
				return err
			case "get:broken.test":
				_, _ = io.WriteString(out, "s3cret")
			default:
				_, _ = io.WriteString(out, "credentials not found in native keychain")
			}
			return errors.New("exit status 1")
		}
		return settings
	}
	const docker = "/home/me/.docker/config.json"
	for config, want := range map[string]string{
		`{"credHelpers":{"` + host + `":"vault"}}`:         "",
		`{"credsStore":"vault"}`:                           "",
		`{"credsStore":"vault","auths":{"x.test":{}}}`:     "",
		`{"credHelpers":{"other.test":"vault"}}`:           "denied access (401); log in",
		`{"credHelpers":{"` + host + `":"vault-of-none"}}`: "program docker-credential-vault-of-none",
	} {
		settings := machine(t, map[string]string{docker: config}, map[string]string{"HOME": "/home/me"})
		_, err := image.Open(t.Context(), host+"/op:v1", image.Options{Registries: image.Registries{PlainHTTP: []string{host}, Settings: vault(settings)}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", config, err, want)
		}
	}
	settings := machine(t, map[string]string{docker: `{"credsStore":"vault"}`}, map[string]string{"HOME": "/home/me"})
	_, err := image.Open(t.Context(), "broken.test/op:v1", image.Options{Registries: image.Registries{Settings: vault(settings)}})
	if err == nil || !strings.Contains(err.Error(), "program docker-credential-vault failed") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

// TestRegistriesConf reads images from the locations of registries.conf. Only one registry exists.
func TestRegistriesConf(t *testing.T) {
	t.Parallel()
	host := serve(t, unguarded)
	img := build(t, labels(), good(t)...)
	for _, name := range []string{"/team/op:v1", "/mirror/team/op:v1", "/library/op:v1"} {
		write(t, host+name, img)
	}
	hash, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	digest := "@" + hash.String()
	known := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != host {
			return nil, errors.New("no such host")
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	t.Cleanup(known.CloseIdleConnections)
	const etc, own = "/etc/containers/registries.conf", "/home/me/.config/containers/registries.conf"
	location := func(prefix, location, more string) string {
		return fmt.Sprintf("[[registry]]\nprefix = %q\nlocation = %q\n%s\n", prefix, location, more)
	}
	mirror := func(more string) string {
		return location("gone.invalid", "gone.invalid", "[[registry.mirror]]\nlocation = \""+host+"/mirror\"\n"+more)
	}
	home := map[string]string{"HOME": "/home/me"}
	for _, c := range []struct {
		name, ref        string
		files, variables map[string]string
		want             string
	}{
		{"no file", "gone.invalid/team/op:v1", nil, home, "the registry cannot be reached"},
		{"mirror", "gone.invalid/team/op:v1", map[string]string{etc: mirror("")}, home, ""},
		{"mirror and digest", "gone.invalid/team/op" + digest, map[string]string{etc: mirror("")}, home, ""},
		{"mirror has none", "gone.invalid/team/other:v1", map[string]string{etc: mirror("")}, home, "has no v1; push the image first, or correct the reference; gone.invalid: the registry cannot be reached"},
		{"mirror for digests", "gone.invalid/team/op" + digest, map[string]string{etc: mirror("pull-from-mirror = \"digest-only\"")}, home, ""},
		{"mirror for digests, tag", "gone.invalid/team/op:v1", map[string]string{etc: mirror("pull-from-mirror = \"digest-only\"")}, home, "cannot be reached"},
		{"mirror for tags", "gone.invalid/team/op:v1", map[string]string{etc: mirror("pull-from-mirror = \"tag-only\"")}, home, ""},
		{"mirror for tags, digest", "gone.invalid/team/op" + digest, map[string]string{etc: mirror("pull-from-mirror = \"tag-only\"")}, home, "cannot be reached"},
		{"mirrors for digests", "gone.invalid/team/op:v1", map[string]string{etc: "[[registry]]\nlocation = \"gone.invalid\"\nmirror-by-digest-only = true\nmirror = [{location = \"" + host + "/mirror\"}]"}, home, "cannot be reached"},
		{"location", "gone.invalid/team/op:v1", map[string]string{etc: location("gone.invalid", host, "")}, home, ""},
		{"prefix with a path", "gone.invalid/us/op:v1", map[string]string{etc: location("gone.invalid/us", host+"/team", "")}, home, ""},
		{"prefix of another name", "gone.invalid/usual/op:v1", map[string]string{etc: location("gone.invalid/us", host+"/team", "")}, home, "cannot be reached"},
		{"prefix of a repository", "gone.invalid/us/op:v1", map[string]string{etc: location("gone.invalid/us/op", host+"/team/op", "")}, home, ""},
		{"longest prefix", "gone.invalid/us/op:v1", map[string]string{etc: location("gone.invalid", "gone2.invalid", "") + location("gone.invalid/us", host+"/team", "")}, home, ""},
		{"hosts below", "eu.gone.invalid/team/op:v1", map[string]string{etc: location("*.gone.invalid", host, "")}, home, ""},
		{"hosts below, not itself", "gone.invalid/team/op:v1", map[string]string{etc: location("*.gone.invalid", host, "")}, home, "cannot be reached"},
		{"Docker Hub", "op:v1", map[string]string{etc: location("docker.io", host, "")}, home, ""},
		{"blocked", "gone.invalid/team/op:v1", map[string]string{etc: mirror("") + location("gone.invalid/team", "gone.invalid/team", "blocked = true")}, home, "image gone.invalid/team/op:v1: is blocked by /etc/containers/registries.conf: its entry for gone.invalid/team"},
		{"all hosts below blocked", "eu.gone.invalid/team/op:v1", map[string]string{etc: "[[registry]]\nprefix=\"*.gone.invalid\"\nblocked=true"}, home, "is blocked by"},
		{"own file wins", "gone.invalid/team/op:v1", map[string]string{etc: location("gone.invalid", "x", "blocked = true"), own: location("gone.invalid", host, "")}, home, ""},
		{"in XDG_CONFIG_HOME", "gone.invalid/team/op:v1", map[string]string{"/c/containers/registries.conf": location("gone.invalid", host, "")}, map[string]string{"XDG_CONFIG_HOME": "/c"}, ""},
		{"named wins", "gone.invalid/team/op:v1", map[string]string{own: location("gone.invalid", "x", "blocked = true"), own + ".d/a.conf": location("gone.invalid", "x", "blocked = true"), "/r": location("gone.invalid", host, "")}, map[string]string{"HOME": "/home/me", "CONTAINERS_REGISTRIES_CONF": "/r"}, ""},
		{"named is missing", "gone.invalid/team/op:v1", nil, map[string]string{"CONTAINERS_REGISTRIES_CONF": "/r"}, "reading $CONTAINERS_REGISTRIES_CONF: file does not exist"},
		{"drop-in directory", "gone.invalid/team/op:v1", map[string]string{etc: location("gone.invalid", "x", "blocked = true"), etc + ".d/1.conf": location("gone.invalid", host, ""), etc + ".d/2.txt": "no"}, home, ""},
		{"last file of the directory wins", "gone.invalid/team/op:v1", map[string]string{etc + ".d/1.conf": location("gone.invalid", "x", "blocked = true"), etc + ".d/2.conf": location("gone.invalid", host, "")}, home, ""},
		{"no TOML", "gone.invalid/team/op:v1", map[string]string{own: "a = 1\n[[registry\n"}, home, "~/.config/containers/registries.conf:3: "},
		{"wrong type", "gone.invalid/team/op:v1", map[string]string{own: "[[registry]]\nlocation = 1\n"}, home, "~/.config/containers/registries.conf"},
		{"no location", "gone.invalid/team/op:v1", map[string]string{own: "[[registry]]\n"}, home, "[[registry]] 1: prefix or location is required"},
		{"prefix alone", "gone.invalid/team/op:v1", map[string]string{own: "[[registry]]\nprefix = \"x.test\""}, home, `the prefix "x.test" has no location`},
		{"scheme", "gone.invalid/team/op:v1", map[string]string{own: location("x.test", "https://x.test", "")}, home, "must not contain a scheme"},
		{"mirror for what", "gone.invalid/team/op:v1", map[string]string{own: mirror("pull-from-mirror = \"x\"")}, home, "must be all, digest-only or tag-only"},
		{"version 1", "gone.invalid/team/op:v1", map[string]string{own: "[registries.insecure]\nregistries = [\"x\"]"}, home, "table [registries] of the unsupported version 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			with := image.Registries{Settings: machine(t, c.files, c.variables), Transport: known}
			_, err := image.Open(t.Context(), c.ref, image.Options{Registries: with})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if _, again := with.Digest(t.Context(), c.ref); !strings.HasSuffix(c.ref, digest) && (again == nil) != (err == nil) {
				t.Errorf("Digest: %v", again)
			}
		})
	}
}
