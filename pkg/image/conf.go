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

	"github.com/operon-sdk/operon/pkg/diag"
)

// registryConf is an entry of registries.conf; see containers-registries.conf(5).
type registryConf struct {
	Prefix   string `toml:"prefix"`
	Location string `toml:"location"`
	Insecure bool   `toml:"insecure"`
	Blocked  bool   `toml:"blocked"`
	// ByDigestOnly restricts the mirrors to references with a digest.
	ByDigestOnly bool         `toml:"mirror-by-digest-only"`
	Mirrors      []mirrorConf `toml:"mirror"`
	// file is the name of the file, for messages.
	file string
}

type mirrorConf struct {
	Location string `toml:"location"`
	Insecure bool   `toml:"insecure"`
	// For is all, digest-only or tag-only.
	For string `toml:"pull-from-mirror"`
}

// endpoint is a location of an image.
type endpoint struct {
	ref      string
	insecure bool
}

const (
	confFile = "containers/registries.conf"
	confDir  = confFile + ".d"
)

// registriesConf reads registries.conf and the files in the directories registries.conf.d. The last one of several entries
// with the same prefix applies.
func (s Settings) registriesConf() ([]registryConf, error) {
	if s.FS == nil {
		return nil, nil
	}
	var all []registryConf
	add := func(p configPath) (found bool, err error) {
		data, found, err := s.read(p)
		if !found || err != nil {
			return false, err
		}
		entries, err := parseConf(p.display, data)
		for _, e := range entries {
			all = slices.DeleteFunc(all, func(old registryConf) bool { return old.Prefix == e.Prefix })
			all = append(all, e)
		}
		return true, err
	}
	if p := s.fromVariable("CONTAINERS_REGISTRIES_CONF"); p.path != "" {
		found, err := add(p)
		if err == nil && !found {
			err = fmt.Errorf("reading %s: %w", p.display, fs.ErrNotExist)
		}
		return all, err
	}
	user := s.inDir("XDG_CONFIG_HOME", ".config", confFile)
	for _, p := range []configPath{user, {"/etc/" + confFile, "/etc/" + confFile}, {"/usr/share/" + confFile, "/usr/share/" + confFile}} {
		found, err := add(p)
		if err != nil {
			return nil, err
		}
		if found {
			break
		}
	}
	for _, dir := range []configPath{{"/usr/share/" + confDir, "/usr/share/" + confDir}, {"/etc/" + confDir, "/etc/" + confDir}, s.inDir("XDG_CONFIG_HOME", ".config", confDir)} {
		if dir.path == "" {
			continue
		}
		entries, err := afero.ReadDir(s.FS, dir.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading %s: %w", dir.display, diag.Cause(err))
		}
		for _, entry := range entries { // sorted
			if path.Ext(entry.Name()) != ".conf" {
				continue
			}
			if _, err := add(configPath{filepath.Join(dir.path, entry.Name()), dir.display + "/" + entry.Name()}); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// parseConf parses one file. The first one of several entries with the same prefix applies.
func parseConf(display string, data []byte) ([]registryConf, error) {
	var conf struct {
		Registry []registryConf `toml:"registry"`
	}
	meta, err := toml.Decode(string(data), &conf)
	if parse, ok := errors.AsType[toml.ParseError](err); ok {
		return nil, diag.Finding{Position: diag.Position{File: display, Line: parse.Position.Line}, Problem: parse.Message, Fix: "correct it"}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; correct it", display, err)
	}
	if meta.IsDefined("registries") {
		return nil, fmt.Errorf("%s: contains the table [registries] of the unsupported version 1; use [[registry]] with location", display)
	}
	var all []registryConf
	for i := range conf.Registry {
		r := &conf.Registry[i]
		r.file = display
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("%s: [[registry]] %d: %w", display, i+1, err)
		}
		if !slices.ContainsFunc(all, func(o registryConf) bool { return o.Prefix == r.Prefix }) {
			all = append(all, *r)
		}
	}
	return all, nil
}

// check completes and validates an entry.
func (r *registryConf) check() error {
	r.Prefix, r.Location = strings.TrimRight(r.Prefix, "/"), strings.TrimRight(r.Location, "/")
	if r.Prefix == "" {
		r.Prefix = r.Location
	}
	wildcard := strings.HasPrefix(r.Prefix, "*.")
	switch {
	case r.Prefix == "":
		return errors.New("prefix or location is required; write location = \"registry.example.com\"")
	case r.Location == "" && !wildcard:
		return fmt.Errorf("the prefix %q has no location; write location = %q", r.Prefix, r.Prefix)
	case wildcard && strings.ContainsAny(r.Prefix, "/:@"):
		return fmt.Errorf("the prefix %q has * together with a port or a path; use a host name only", r.Prefix)
	case strings.Contains(r.Prefix+r.Location, "://"):
		return errors.New("location and prefix must not contain a scheme such as https://")
	}
	for i := range r.Mirrors {
		m := &r.Mirrors[i]
		m.Location = strings.TrimRight(m.Location, "/")
		switch {
		case m.Location == "":
			return errors.New("the location of a mirror is required")
		case strings.Contains(m.Location, "://"):
			return fmt.Errorf("the mirror %s must not contain a scheme such as https://", withoutPassword(m.Location))
		case !slices.Contains([]string{"", "all", "digest-only", "tag-only"}, m.For):
			return fmt.Errorf("pull-from-mirror %q: must be all, digest-only or tag-only", m.For)
		}
	}
	return nil
}

// matchLength returns the length of the part of a reference that matches a prefix, or 0.
func matchLength(ref, prefix string) int {
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

// endpoints returns the locations of an image according to registries.conf, in the order in which they are tried. The
// reference has a host, which is docker.io for Docker Hub, and a tag or a digest.
func (s Settings) endpoints(ref string) ([]endpoint, error) {
	all, err := s.registriesConf()
	if err != nil {
		return nil, err
	}
	var conf registryConf
	for _, r := range all {
		if matchLength(ref, r.Prefix) > 0 && len(r.Prefix) > len(conf.Prefix) {
			conf = r
		}
	}
	if conf.Blocked {
		return nil, fmt.Errorf("is blocked by %s: its entry for %s has blocked = true", conf.file, conf.Prefix)
	}
	if conf.Prefix == "" {
		return []endpoint{{ref: ref}}, nil
	}
	rest := ref[matchLength(ref, conf.Prefix):]
	digest := strings.Contains(ref, "@")
	var endpoints []endpoint
	for _, m := range conf.Mirrors {
		if (conf.ByDigestOnly || m.For == "digest-only") && !digest || m.For == "tag-only" && digest {
			continue
		}
		endpoints = append(endpoints, endpoint{m.Location + rest, m.Insecure})
	}
	if conf.Location != "" {
		ref = conf.Location + rest
	}
	return append(endpoints, endpoint{ref, conf.Insecure}), nil
}
