package bundle

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// A Copy is a COPY instruction: a file or directory for an image.
type Copy struct {
	diag.Position
	// From is relative to the directory of the Dockerfile, To to the root of the image. Neither starts nor ends
	// with a slash.
	From, To string
}

// A Dockerfile is the content of a bundle.Dockerfile.
type Dockerfile struct {
	From   string
	Copies []Copy
	Labels map[string]string
}

// ParseDockerfile parses the Dockerfile of a bundle. Any instruction but FROM, LABEL and COPY needs a builder and is a
// problem.
func ParseDockerfile(name string, text []byte) (Dockerfile, diag.Findings) {
	r := Dockerfile{Labels: map[string]string{}}
	var problems diag.Findings
	line := 1
	for _, instruction := range instructions(string(text)) {
		at := diag.Position{File: name, Line: line}
		line += strings.Count(instruction, "\n")
		word, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(instruction, "\\\n", " ")), " ")
		rest = strings.TrimSpace(rest)
		problem := func(text string) { problems = append(problems, diag.Finding{Position: at, Problem: text}) }
		switch word = strings.ToUpper(word); {
		case word == "" || strings.HasPrefix(word, "#"):
		case word == "FROM" && r.From == "" && len(strings.Fields(rest)) == 1:
			r.From = rest
		case word == "LABEL":
			for _, l := range labelPairs(rest) {
				r.Labels[l.Key] = l.Value
			}
		case word == "COPY" || word == "ADD":
			fields := strings.Fields(rest)
			if len(fields) != 2 || strings.ContainsAny(rest, `"'[$*?\`) || strings.HasPrefix(rest, "-") || word == "ADD" {
				problem("is unsupported; use COPY FROM TO, or build this image with docker or podman")
				continue
			}
			from, to := path.Clean(fields[0]), path.Clean("/"+fields[1])
			if slices.Contains(strings.Split(from, "/"), "..") || path.IsAbs(from) || to == "/" {
				problem("must copy from a directory next to the Dockerfile to one in the image")
				continue
			}
			r.Copies = append(r.Copies, Copy{at, from, to[1:]})
		default:
			problem("has the instruction " + word + ", which needs a builder; build this image with docker or podman, or remove the line")
		}
	}
	if len(problems) == 0 && (r.From == "" || len(r.Copies) == 0) {
		problems.Addf(diag.Position{File: name}, "needs FROM, LABEL and COPY; generate the bundle to create it")
	}
	return r, problems
}
