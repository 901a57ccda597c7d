// Box stands in for the programs in the images that scorecard needs besides those with tests, tar and sh, and is a
// few tests itself. It goes by the name that it is called by.
package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if err := run(filepath.Base(os.Args[0]), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(name string, args []string) error {
	switch line := strings.Join(args, " "); {
	case name == "tar" && len(args) == 4 && args[0] == "xvzf" && args[2] == "-C":
		return unpack(args[1], args[3])
	case name == "tar" && len(args) == 3 && strings.HasPrefix(line, "cf - "):
		return pack(args[2], os.Stdout)
	case name == "sh" && strings.HasPrefix(line, "-c sleep "):
		return sleep(strings.TrimPrefix(line, "-c sleep "))
	case name == "sleep" && len(args) == 1:
		return sleep(args[0])
	case name == "failing-test":
		file := filepath.Join(os.Getenv("SCORECARD_STORAGE"), "deep", "report.txt")
		err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("what was seen\n"), 0o644))
		fmt.Println(`{"results":[{"name":"failing","state":"fail","errors":["too few pods"]}]}`)
		return err
	}
	return fmt.Errorf("%s is not called as scorecard calls it: %q", name, args)
}

func sleep(seconds string) error {
	d, err := time.ParseDuration(seconds + "s")
	if err == nil {
		time.Sleep(d)
	}
	return err
}

func unpack(archive, dir string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	for r := tar.NewReader(unzipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println(header.Name)
		if header.Typeflag == tar.TypeDir {
			err = root.MkdirAll(header.Name, 0o755)
		} else {
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = root.WriteFile(header.Name, data, 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
}

func pack(dir string, to io.Writer) error {
	w := tar.NewWriter(to)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		header, err := tar.FileInfoHeader(info, "")
		if err != nil {
			return err
		}
		header.Name = strings.TrimPrefix(filepath.ToSlash(name), "/")
		if err := w.WriteHeader(header); err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	})
	return errors.Join(err, w.Close())
}
