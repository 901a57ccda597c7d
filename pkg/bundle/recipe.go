package bundle

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// Copy is a file or folder that goes into an image.
type Copy struct {
	manifest.Position
	// From is relative to the Dockerfile's folder, To starts at the image's root; both are without slashes
	// around them.
	From, To string
}

// Recipe is what a bundle's Dockerfile asks for.
type Recipe struct {
	From   string
	Copies []Copy
	Labels map[string]string
}

// ReadDockerfile reads the Dockerfile of a bundle called name. Such a file takes FROM, LABEL and COPY; anything
// else needs a builder, and is a problem.
func ReadDockerfile(name string, text []byte) (Recipe, manifest.Problems) {
	r := Recipe{Labels: map[string]string{}}
	var problems manifest.Problems
	line := 1
	for _, instruction := range instructions(string(text)) {
		at := manifest.Position{File: name, Line: line}
		line += strings.Count(instruction, "\n")
		word, rest, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(instruction, "\\\n", " ")), " ")
		rest = strings.TrimSpace(rest)
		problem := func(text string) { problems = append(problems, manifest.Problem{Position: at, Problem: text}) }
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
				problem("is none of the instructions that can be followed here: COPY FROM TO; build this image with docker or podman")
				continue
			}
			from, to := path.Clean(fields[0]), path.Clean("/"+fields[1])
			if slices.Contains(strings.Split(from, "/"), "..") || path.IsAbs(from) || to == "/" {
				problem("must copy from a folder beside the Dockerfile to one of the image")
				continue
			}
			r.Copies = append(r.Copies, Copy{at, from, to[1:]})
		default:
			problem("has the instruction " + word + ", which needs a builder; build this image with docker or podman, or take the line out")
		}
	}
	if len(problems) == 0 && (r.From == "" || len(r.Copies) == 0) {
		problems = append(problems, manifest.Problem{Position: manifest.Position{File: name}, Problem: "needs FROM, LABEL and COPY; generate the bundle to have it written"})
	}
	return r, problems
}
