package ansiblerole

import (
	"path"
	"strings"
)

// A copied is a file or directory of the project that the Dockerfile copies to another place in the image. Both are without a slash at
// the end; to is absolute.
type copied struct{ from, to string }

// readCopies returns what the project's Dockerfile copies, other than to the same place below the home directory.
func readCopies(files Files) []copied {
	var all []copied
	for _, name := range []string{"Dockerfile", "build/Dockerfile"} {
		text := strings.ReplaceAll(string(files[name]), "\\\n", " ")
		for line := range strings.Lines(text) {
			words := strings.Fields(line)
			if len(words) < 3 || len(words) > 50 || !strings.EqualFold(words[0], "COPY") && !strings.EqualFold(words[0], "ADD") {
				continue
			}
			var operands []string
			for _, word := range words[1:] {
				if !strings.HasPrefix(word, "--") {
					operands = append(operands, word)
				}
			}
			if strings.Contains(line, "--from=") || len(operands) < 2 || len(all) > 200 {
				continue // files of another image
			}
			all = append(all, copies(files, operands[:len(operands)-1], operands[len(operands)-1])...)
		}
	}
	return all
}

// copies returns what one instruction copies.
func copies(files Files, sources []string, target string) []copied {
	to := strings.NewReplacer("${HOME}", home, "$HOME", home).Replace(target)
	if !path.IsAbs(to) {
		to = home + "/" + to
	}
	var all []copied
	for _, source := range sources {
		c := copied{from: path.Clean(source), to: path.Clean(to)}
		if _, isFile := files[c.from]; isFile && (strings.HasSuffix(to, "/") || c.to == home || len(sources) > 1) {
			c.to += "/" + path.Base(c.from)
		}
		if c.from != "." && c.to != home+"/"+c.from {
			all = append(all, c)
		}
	}
	return all
}

// original returns the file of the project that is at an absolute path in the image because the Dockerfile copies it there.
func (r *reader) original(name string) (file string, ok bool) {
	for _, c := range r.copies {
		if rest, isIn := strings.CutPrefix(name, c.to); isIn && (rest == "" || rest[0] == '/') {
			if _, ok := r.files[c.from+rest]; ok {
				return c.from + rest, true
			}
		}
	}
	return "", false
}
