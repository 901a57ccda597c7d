// Package docs embeds the documentation in FS, for the commands that show it.
package docs

import "embed"

// FS has README.md, which lists the other pages by topic, the pages, the command reference in reference, and their pictures in images.
//
//go:embed *.md reference/*.md images
var FS embed.FS
