package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/docs"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/docsite"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newDocsOpen(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "open [PAGE | COMMAND]",
		Short: "Open the documentation in a browser",
		Long: `Open the documentation of this version, which is part of the program, in a browser: the first page,
a page, or the reference of a command. It needs no network access. The files are in operon/docs in
your cache directory; if no browser can be started, the command prints their path.`,
		Example: fmt.Sprintf(`  %[1]s docs open
  %[1]s docs open webhooks
  %[1]s docs open create api`, a.program),
		RunE: func(c *cobra.Command, args []string) error { return a.openDocs(c, args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return docsPages(), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func newDocsSite(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "site DIR",
		Short: "Write the documentation as a web site",
		Long: `Write the documentation of this version to DIR, as HTML pages with a search. Browsers can open them
from disk, and any web server can serve them. DIR must be new or empty, or contain an earlier site,
which is updated.`,
		Example: fmt.Sprintf("  %s docs site public", a.program),
		Args:    oneArgument("the directory to write to"),
		RunE: func(c *cobra.Command, args []string) error {
			result, err := a.writeSite(c.Context(), a.Absolute(args[0]), args[0])
			return a.print.Outcome(result, err)
		},
	}
}

// openDocs opens the first page, a page or the reference of a command in a browser.
func (a *app) openDocs(c *cobra.Command, args []string) error {
	page, err := docsPage(c, args)
	if err != nil {
		return err
	}
	if a.Cache() == "" {
		return errors.New("no cache directory found; set HOME, or write the pages to a directory with 'docs site DIR'")
	}
	dir := filepath.Join(a.Cache(), "docs")
	result, err := a.writeSite(c.Context(), dir, dir)
	if err != nil || result.DryRun {
		return a.print.Outcome(result, err)
	}
	file := filepath.Join(dir, filepath.FromSlash(page))
	if err := a.Run(c.Context(), browser(runtime.GOOS, file, a.Environ)); err != nil {
		a.print.Nextf("open %s in a browser; none could be started: %v", file, diag.Cause(err))
		return nil
	}
	a.print.Progressf("opened %s", file)
	return nil
}

// browser returns the command that opens a file in the user's browser.
func browser(system, file string, environ []string) Command {
	switch system {
	case "darwin":
		return Command{Environ: environ, Name: "open", Args: []string{file}}
	case "windows":
		return Command{Environ: environ, Name: "rundll32", Args: []string{"url.dll,FileProtocolHandler", file}}
	}
	address := url.URL{Scheme: "file", Path: file}
	return Command{Environ: environ, Name: "xdg-open", Args: []string{address.String()}}
}

// docsPages returns the names of the pages that are not in the reference, without .md.
func docsPages() []string {
	files, _ := fs.Glob(docs.FS, "*.md") // the pattern is valid
	names := make([]string, 0, len(files))
	for _, file := range files {
		if file != "README.md" {
			names = append(names, strings.TrimSuffix(file, ".md"))
		}
	}
	return names
}

// docsPage returns the file of the site that arguments name: a page, or a command.
func docsPage(c *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return docsite.Index, nil
	}
	pages := docsPages()
	if len(args) == 1 && slices.Contains(pages, args[0]) {
		return args[0] + ".html", nil
	}
	reference := "reference/" + strings.Join(append([]string{"operon"}, args...), "_")
	if _, err := fs.Stat(docs.FS, reference+".md"); err == nil {
		return reference + ".html", nil
	}
	name := strings.Join(args, " ")
	if near, ok := diag.Nearest(name, pages); ok {
		return "", usagef(c, "no page and no command is named %q; did you mean %q?", name, near)
	}
	return "", usagef(c, "no page and no command is named %q; the first page has a search", name)
}

// writeSite writes the documentation to the absolute path dir, which errors call shown.
func (a *app) writeSite(ctx context.Context, dir, shown string) (*action.Result, error) {
	site := docsite.Options{Program: a.program, Version: buildVersion().Version}
	files, err := docsite.Generate(docs.FS, site)
	if err != nil {
		return nil, err
	}
	return a.updateDirectory(ctx, dir, func(tree *worktree.Tree, below string) error {
		index, err := tree.ReadOptional(path.Join(below, docsite.Index))
		if err != nil {
			return err
		}
		if empty, err := afero.IsEmpty(a.FS, dir); err == nil && !empty && !bytes.Contains(index, []byte(site.Mark())) {
			return diag.Finding{
				Position: diag.Position{File: filepath.ToSlash(shown)},
				Problem:  "has files that '" + a.program + " docs site' didn't write", Fix: "pass a new or empty directory",
			}
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			tree.WriteFile(path.Join(below, name), files[name], 0o644)
		}
		return nil
	})
}
