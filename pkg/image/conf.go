package image

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/afero"
)

// registryConf is an entry of registries.conf, as containers-registries.conf(5) has it.
type registryConf struct {
	Prefix   string `toml:"prefix"`
	Location string `toml:"location"`
	Insecure bool   `toml:"insecure"`
	Blocked  bool   `toml:"blocked"`
	// ByDigestOnly keeps the mirrors for images that are named by digest.
	ByDigestOnly bool         `toml:"mirror-by-digest-only"`
	Mirrors      []mirrorConf `toml:"mirror"`
	// file names where the entry stands.
	file string
}

type mirrorConf struct {
	Location string `toml:"location"`
	Insecure bool   `toml:"insecure"`
	// For is all, digest-only or tag-only.
	For string `toml:"pull-from-mirror"`
}

// endpoint is where an image may be had.
type endpoint struct {
	ref      string
	insecure bool
}

const (
	confFile = "containers/registries.conf"
	confDir  = confFile + ".d"
)

// registriesConf reads registries.conf and what lies in the folders beside it. Of entries with the same
// prefix the last one that is read counts.
func (s Settings) registriesConf() ([]registryConf, error) {
	if s.FS == nil {
		return nil, nil
	}
	var all []registryConf
	add := func(p place) (found bool, err error) {
		data, found, err := s.read(p)
		if !found || err != nil {
			return false, err
		}
		entries, err := parseConf(p.shown, data)
		for _, e := range entries {
			all = slices.DeleteFunc(all, func(old registryConf) bool { return old.Prefix == e.Prefix })
			all = append(all, e)
		}
		return true, err
	}
	if p := s.named("CONTAINERS_REGISTRIES_CONF"); p.file != "" {
		found, err := add(p)
		if err == nil && !found {
			err = fmt.Errorf("reading %s: %w", p.shown, fs.ErrNotExist)
		}
		return all, err
	}
	user := s.below("XDG_CONFIG_HOME", ".config", confFile)
	for _, p := range []place{user, {"/etc/" + confFile, "/etc/" + confFile}, {"/usr/share/" + confFile, "/usr/share/" + confFile}} {
		found, err := add(p)
		if err != nil {
			return nil, err
		}
		if found {
			break
		}
	}
	for _, dir := range []place{{"/usr/share/" + confDir, "/usr/share/" + confDir}, {"/etc/" + confDir, "/etc/" + confDir}, s.below("XDG_CONFIG_HOME", ".config", confDir)} {
		if dir.file == "" {
			continue
		}
		entries, err := afero.ReadDir(s.FS, dir.file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading %s: %w", dir.shown, withoutPath(err))
		}
		for _, entry := range entries { // by name
			if path.Ext(entry.Name()) != ".conf" {
				continue
			}
			if _, err := add(place{filepath.Join(dir.file, entry.Name()), dir.shown + "/" + entry.Name()}); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// parseConf reads one file. Of entries with the same prefix the first one counts.
func parseConf(shown string, data []byte) ([]registryConf, error) {
	var conf struct {
		Registry []registryConf `toml:"registry"`
	}
	meta, err := toml.Decode(string(data), &conf)
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, fmt.Errorf("%s:%d: %s; correct it", shown, parse.Position.Line, parse.Message)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; correct it", shown, err)
	}
	if meta.IsDefined("registries") {
		return nil, fmt.Errorf("%s: has the table [registries] of version 1, which podman reads no more; write [[registry]] with location", shown)
	}
	var all []registryConf
	for i := range conf.Registry {
		r := &conf.Registry[i]
		r.file = shown
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("%s: [[registry]] %d: %w", shown, i+1, err)
		}
		if !slices.ContainsFunc(all, func(o registryConf) bool { return o.Prefix == r.Prefix }) {
			all = append(all, *r)
		}
	}
	return all, nil
}

// check completes an entry.
func (r *registryConf) check() error {
	r.Prefix, r.Location = strings.TrimRight(r.Prefix, "/"), strings.TrimRight(r.Location, "/")
	if r.Prefix == "" {
		r.Prefix = r.Location
	}
	wildcard := strings.HasPrefix(r.Prefix, "*.")
	switch {
	case r.Prefix == "":
		return errors.New("has neither prefix nor location; write location = \"registry.example.com\"")
	case r.Location == "" && !wildcard:
		return fmt.Errorf("the prefix %q has no location; write location = %q", r.Prefix, r.Prefix)
	case wildcard && strings.ContainsAny(r.Prefix, "/:@"):
		return fmt.Errorf("the prefix %q has * together with a port or a path; name the host alone", r.Prefix)
	case strings.Contains(r.Prefix+r.Location, "://"):
		return errors.New("location and prefix are written without https://")
	}
	for i := range r.Mirrors {
		m := &r.Mirrors[i]
		m.Location = strings.TrimRight(m.Location, "/")
		switch {
		case m.Location == "":
			return errors.New("a mirror has no location")
		case strings.Contains(m.Location, "://"):
			return fmt.Errorf("the mirror %s is written with a scheme; leave it out", withoutPassword(m.Location))
		case !slices.Contains([]string{"", "all", "digest-only", "tag-only"}, m.For):
			return fmt.Errorf("pull-from-mirror is %q; it must be all, digest-only or tag-only", m.For)
		}
	}
	return nil
}

// matches gives the length of the part of a reference that a prefix stands for, 0 for none.
func matches(ref, prefix string) int {
	n := len(prefix)
	if suffix, ok := strings.CutPrefix(prefix, "*"); ok {
		host, _, _ := strings.Cut(ref, "/")
		host, _, _ = strings.Cut(host, ":")
		if !strings.HasSuffix(host, suffix) {
			return 0
		}
		n = len(host)
	} else if !strings.HasPrefix(ref, prefix) {
		return 0
	}
	if n < len(ref) && !strings.ContainsRune(":/@", rune(ref[n])) {
		return 0
	}
	return n
}

// endpoints are where registries.conf has an image looked for, in this order. The reference is complete:
// with a host, docker.io being that of Docker Hub, and with a tag or a digest.
func (s Settings) endpoints(ref string) ([]endpoint, error) {
	all, err := s.registriesConf()
	if err != nil {
		return nil, err
	}
	var conf registryConf
	for _, r := range all {
		if matches(ref, r.Prefix) > 0 && len(r.Prefix) > len(conf.Prefix) {
			conf = r
		}
	}
	if conf.Blocked {
		return nil, fmt.Errorf("is blocked by %s: its entry for %s has blocked = true", conf.file, conf.Prefix)
	}
	if conf.Prefix == "" {
		return []endpoint{{ref: ref}}, nil
	}
	rest := ref[matches(ref, conf.Prefix):]
	digest := strings.Contains(ref, "@")
	var found []endpoint
	for _, m := range conf.Mirrors {
		if (conf.ByDigestOnly || m.For == "digest-only") && !digest || m.For == "tag-only" && digest {
			continue
		}
		found = append(found, endpoint{m.Location + rest, m.Insecure})
	}
	if conf.Location != "" {
		ref = conf.Location + rest
	}
	return append(found, endpoint{ref, conf.Insecure}), nil
}
