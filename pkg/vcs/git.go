package vcs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Git runs git in a repository that may have come from a stranger: CheckSettings refuses settings of the repository that could run
// programs, and hooks and file system monitors are disabled in each command.
type Git struct {
	// Run runs a program in a directory of the work tree without a shell, with variables in addition to the environment, and returns its output. The error is
	// fs.ErrNotExist if the program is not found, or else contains what the program printed.
	Run func(ctx context.Context, variables []string, name string, args ...string) (string, error)
	// Getenv returns a variable of the environment.
	Getenv func(string) string
}

// fixedSettings apply whatever the repository contains. A bare repository among the files of a clone is not used.
func fixedSettings() []string {
	return []string{
		"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "submodule.recurse=false", "push.recurseSubmodules=no",
		"gc.auto=0", "maintenance.auto=false", "safe.bareRepository=explicit", "protocol.ext.allow=never",
	}
}

// Output runs a git command and returns its output without a final newline. Arguments that name files are taken literally.
func (g *Git) Output(ctx context.Context, args ...string) (string, error) {
	all := []string{"--no-pager", "--literal-pathspecs"}
	for _, setting := range fixedSettings() {
		all = append(all, "-c", setting)
	}
	out, err := g.Run(ctx, nil, "git", append(all, args...)...)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("git is not installed; install it, or use 'operon upgrade', which needs no version control")
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSuffix(out, "\n"), nil
}

// Succeeds reports whether a git command that answers with its exit code succeeds.
func (g *Git) Succeeds(ctx context.Context, args ...string) bool {
	_, err := g.Output(ctx, args...)
	return err == nil
}

// GitHub runs gh, the program of GitHub, which runs git with the same settings, and returns its output without a final newline.
func (g *Git) GitHub(ctx context.Context, args ...string) (string, error) {
	// There may be such variables already.
	count, _ := strconv.Atoi(g.Getenv("GIT_CONFIG_COUNT"))
	var variables []string
	for _, setting := range fixedSettings() {
		key, value, _ := strings.Cut(setting, "=")
		variables = append(variables, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", count, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", count, value))
		count++
	}
	out, err := g.Run(ctx, append(variables, "GIT_CONFIG_COUNT="+strconv.Itoa(count)), "gh", args...)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("gh is not installed; install it from https://cli.github.com")
	}
	if err != nil {
		return "", fmt.Errorf("gh %s: %w", args[0], err)
	}
	return strings.TrimSuffix(out, "\n"), nil
}

// CheckSettings returns an error if the repository has settings that are not known to be harmless: they can make git run programs, and read
// or write other files. Call it before other commands.
func (g *Git) CheckSettings(ctx context.Context) error {
	root, err := g.Output(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("the project is not in a git repository; use 'operon upgrade', which needs none: %w", err)
	}
	list, err := g.Output(ctx, "config", "--list", "--includes", "--show-scope", "--null")
	if err != nil {
		return err
	}
	fields := strings.Split(list, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] != "local" && fields[i] != "worktree" {
			continue
		}
		key, value, _ := strings.Cut(fields[i+1], "\n")
		if problem := checkSetting(key, value, filepath.FromSlash(root)); problem != "" {
			return fmt.Errorf("%s in the git configuration of this clone %s; remove it with 'git config --unset', or use 'operon upgrade' and commit yourself", key, problem)
		}
	}
	return nil
}
