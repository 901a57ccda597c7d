package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// nfpmConfig is the configuration file of nfpm, whose YAML may be JSON.
type nfpmConfig struct {
	Name            string        `json:"name"`
	Arch            string        `json:"arch"`
	Platform        string        `json:"platform"`
	Version         string        `json:"version"`
	Section         string        `json:"section"`
	Priority        string        `json:"priority"`
	Maintainer      string        `json:"maintainer"`
	Description     string        `json:"description"`
	Homepage        string        `json:"homepage"`
	License         string        `json:"license"`
	MTime           time.Time     `json:"mtime"`
	DisableGlobbing bool          `json:"disable_globbing"`
	Contents        []nfpmContent `json:"contents"`
	RPM             nfpmRPM       `json:"rpm"`
}

type nfpmContent struct {
	Source      string       `json:"src"`
	Destination string       `json:"dst"`
	Packager    string       `json:"packager,omitempty"`
	FileInfo    nfpmFileInfo `json:"file_info"`
}

type nfpmFileInfo struct {
	Mode  fs.FileMode `json:"mode"`
	Owner string      `json:"owner"`
	Group string      `json:"group"`
}

// BuildHost replaces the name of this machine.
type nfpmRPM struct {
	BuildHost string `json:"buildhost"`
}

// makePackages writes the deb and the rpm package of a platform.
func (r *release) makePackages(ctx context.Context, p platform) error {
	contents, err := r.contents(p)
	if err != nil {
		return err
	}
	config, err := json.MarshalIndent(nfpmConfig{
		Name: program, Arch: p.arch, Platform: p.os, Version: r.version, Section: "devel", Priority: "optional",
		Maintainer: "The Operon authors", Description: summary, Homepage: homepage, License: "Apache-2.0",
		MTime: r.date, DisableGlobbing: true, Contents: contents, RPM: nfpmRPM{BuildHost: "localhost"},
	}, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(r.stage, r.base(p)+".json")
	if err := os.WriteFile(name, config, 0o644); err != nil {
		return err
	}
	for _, format := range []string{"deb", "rpm"} {
		c := command{dir: r.stage}
		if _, err := c.run(ctx, r.tool("nfpm"), "package", "--config", name, "--packager", format, "--target", r.file(r.base(p)+"."+format)); err != nil {
			return err
		}
	}
	return nil
}

// contents returns the files of packages. Debian and Fedora keep licenses and completions for zsh in different directories.
func (r *release) contents(p platform) ([]nfpmContent, error) {
	var contents []nfpmContent
	add := func(packager, destination, source string, mode fs.FileMode) {
		contents = append(contents, nfpmContent{source, destination, packager, nfpmFileInfo{mode, "root", "root"}})
	}
	for _, name := range []string{program, runtimeProgram} {
		add("", path.Join("/usr/bin", name), filepath.Join(r.built(p), name), 0o755)
	}
	for _, name := range sourceFiles {
		if name != "LICENSE" {
			add("", path.Join("/usr/share/doc", program, name), filepath.Join(r.source, name), 0o644)
		}
	}
	license := filepath.Join(r.source, "LICENSE")
	add("deb", path.Join("/usr/share/doc", program, "copyright"), license, 0o644)
	add("rpm", path.Join("/usr/share/licenses", program, "LICENSE"), license, 0o644)
	for _, c := range []struct{ packager, destination, shell string }{
		{"", "/usr/share/bash-completion/completions/operon", "bash"},
		{"", "/usr/share/fish/vendor_completions.d/operon.fish", "fish"},
		{"deb", "/usr/share/zsh/vendor-completions/_operon", "zsh"},
		{"rpm", "/usr/share/zsh/site-functions/_operon", "zsh"},
	} {
		add(c.packager, c.destination, filepath.Join(r.completions(), completions[c.shell]), 0o644)
	}
	pages, err := r.pages()
	if err != nil {
		return nil, err
	}
	for _, name := range pages {
		compressed := filepath.Join(r.stage, "compressed", name+".gz")
		if err := compress(filepath.Join(r.manuals(), name), compressed); err != nil {
			return nil, err
		}
		add("", path.Join("/usr/share/man/man1", name+".gz"), compressed, 0o644)
	}
	return contents, nil
}

// compress writes a file with gzip, without its name and time.
func compress(source, target string) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	data, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	return create(target, func(w io.Writer) error {
		z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		if _, err := z.Write(data); err != nil {
			return err
		}
		return z.Close()
	})
}
