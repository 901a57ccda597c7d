package worktree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/afero"
)

// Paths of a running transaction. A command removes them at its end.
const (
	operonDir   = ".operon"
	lockFile    = operonDir + "/lock"
	txnDir      = operonDir + "/txn"
	stagedDir   = txnDir + "/new"
	savedDir    = txnDir + "/old"
	journalFile = txnDir + "/journal.json"
	journalTemp = txnDir + "/journal.tmp"
	doneFile    = operonDir + "/done.json"
)

const journalVersion = 1

// A journal describes an unfinished transaction, so that it can be undone. While the file exists, the tree may be a mix
// of old and new files. Renaming it to doneFile completes the transaction. If the command is interrupted after that,
// doneFile shows the next command that the work is done.
type journal struct {
	Version int `json:"version"`
	// Command is the command that started the transaction.
	Command string `json:"command"`
	// Operations are in the order of execution. The index of an operation is the name of its staged and its saved file.
	Operations []operation `json:"operations"`
	// Dirs are the directories that the transaction creates, parents first.
	Dirs []string `json:"folders,omitempty"`
}

// An operation replaces, creates (no Old) or deletes (no New) one file.
type operation struct {
	Path string `json:"path"`
	// Old and New are the hexadecimal SHA-256 of the content before and after.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

func staged(n int) string { return stagedDir + "/" + strconv.Itoa(n) }
func saved(n int) string  { return savedDir + "/" + strconv.Itoa(n) }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// JournalError reports that the files of an interrupted transaction are invalid or cannot be undone.
type JournalError struct {
	// Problem is the cause.
	Problem string
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("%s, the record of an interrupted command, %s; nothing was changed; "+
		"compare the project with version control, keep what you need of %s (the files from before the command) and remove %s",
		journalFile, e.Problem, savedDir, txnDir)
}

// readJournal returns the journal, or nil if there is none.
func (d disk) readJournal() (*journal, error) {
	for _, dir := range []string{operonDir, txnDir} {
		info, err := d.lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, explain("looking at", dir, err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s must be a directory; move it away", dir)
		}
	}
	info, err := d.lstat(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil, &JournalError{Problem: "is not a regular file"}
	}
	data, err := afero.ReadFile(d.fs, d.abs(journalFile))
	if err != nil {
		return nil, explain("reading", journalFile, err)
	}
	return parseJournal(data)
}

// parseJournal validates the journal, because it may be damaged or come with a project of another user.
func parseJournal(data []byte) (*journal, error) {
	var j journal
	var head struct{ Version int }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, &JournalError{Problem: "cannot be read (" + err.Error() + ")"}
	}
	if head.Version != journalVersion {
		return nil, &JournalError{Problem: fmt.Sprintf("has version %d, this program supports version %d", head.Version, journalVersion)}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&j); err != nil {
		return nil, &JournalError{Problem: "cannot be read (" + err.Error() + ")"}
	}
	seen := map[string]bool{}
	for _, op := range j.Operations {
		if !isLocalPath(op.Path) || seen[op.Path] || op.Old == op.New || !isDigest(op.Old) || !isDigest(op.New) {
			return nil, &JournalError{Problem: fmt.Sprintf("has an entry for %q that is not valid", op.Path)}
		}
		seen[op.Path] = true
	}
	for _, dir := range j.Dirs {
		below := func(op operation) bool { return strings.HasPrefix(op.Path, dir+"/") }
		if !isLocalPath(dir) || !slices.ContainsFunc(j.Operations, below) {
			return nil, &JournalError{Problem: fmt.Sprintf("has an entry for %q that is not valid", dir)}
		}
	}
	return &j, nil
}

func isLocalPath(name string) bool {
	return name != "." && path.Clean(name) == name && filepath.IsLocal(filepath.FromSlash(name))
}

// isDigest reports whether s is a digest or "", which stands for a missing file.
func isDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && (len(b) == 0 || len(b) == sha256.Size)
}
