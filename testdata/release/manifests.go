package main

import (
	"embed"
	"io"
	"text/template"
)

//go:embed *.tmpl
var templates embed.FS

// describe writes the Homebrew formula and the Krew manifest, which name the archives with their checksums. Without an archive for macOS or
// Linux there is no formula.
func (r *release) describe() error {
	data := struct {
		Number, Version, Summary, Homepage string
		// Systems maps the systems that Homebrew runs on to their archives.
		Systems   map[string][]source
		Platforms []source
	}{r.number(), r.version, summary, homepage, map[string][]source{}, nil}
	for _, a := range r.archives {
		s := source{OS: a.os, Arch: a.arch, URL: r.baseURL + "/" + a.name, Sum: a.sum, Dir: r.base(a.platform)}
		for _, name := range []string{program, runtimeProgram} {
			s.Programs = append(s.Programs, a.executable(name))
		}
		data.Platforms = append(data.Platforms, s)
		if system, cpu := homebrew(a.platform); cpu != "" {
			s.CPU = cpu
			data.Systems[system] = append(data.Systems[system], s)
		}
	}
	outputs := map[string]string{"krew.yaml.tmpl": "operon.yaml"}
	if len(data.Systems) > 0 {
		outputs["homebrew.rb.tmpl"] = "operon.rb"
	}
	parsed, err := template.ParseFS(templates, "*.tmpl")
	if err != nil {
		return err
	}
	for name, output := range outputs {
		if err := create(r.file(output), func(w io.Writer) error { return parsed.ExecuteTemplate(w, name, data) }); err != nil {
			return err
		}
	}
	return nil
}

// A source is an archive in the templates.
type source struct {
	OS, Arch, URL, Sum string
	// Dir is the directory in the archive, Programs are the programs in it.
	Dir      string
	Programs []string
	// CPU is the name of the architecture in Homebrew.
	CPU string
}

// homebrew returns the names of a platform in formulas. It returns "" if Homebrew doesn't run on it.
func homebrew(p platform) (system, cpu string) {
	system = map[string]string{"darwin": "macos", "linux": "linux"}[p.os]
	cpu = map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch]
	if system == "" || cpu == "" {
		return "", ""
	}
	return system, cpu
}
