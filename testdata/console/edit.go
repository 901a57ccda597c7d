package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Edit applies a diff block to files in dir. A line "--- file" names the file, and @@ separates hunks. The context and the
// removed lines of a hunk must occur in the file exactly once. A hunk of added lines only creates the file.
func Edit(dir, diff string) error {
	file := ""
	var before, after strings.Builder
	flush := func() error {
		if before.Len() == 0 && after.Len() == 0 {
			return nil
		}
		err := replace(filepath.Join(dir, filepath.FromSlash(file)), before.String(), after.String())
		if err != nil {
			return fmt.Errorf("editing %s: %w", file, err)
		}
		before.Reset()
		after.Reset()
		return nil
	}
	for line := range strings.Lines(diff) {
		name, isFile := strings.CutPrefix(line, "--- ")
		switch {
		case isFile || line == "@@\n":
			if err := flush(); err != nil {
				return err
			}
			if isFile {
				file = strings.TrimSpace(name)
			}
		case line[0] == '-':
			before.WriteString(line[1:])
		case line[0] == '+':
			after.WriteString(line[1:])
		case line[0] == ' ':
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		default:
			return fmt.Errorf("the diff of %s has a line that does not start with a space, + or -: %q", file, line)
		}
	}
	return flush()
}

func replace(file, before, after string) error {
	text, err := os.ReadFile(file)
	if before == "" && errors.Is(err, fs.ErrNotExist) {
		return os.WriteFile(file, []byte(after), 0o644)
	}
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), before); n != 1 || before == "" {
		return fmt.Errorf("text found %d times instead of once:\n%s", n, before)
	}
	return os.WriteFile(file, []byte(strings.Replace(string(text), before, after, 1)), 0o644)
}
