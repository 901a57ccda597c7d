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

// Where a transaction keeps its things while it runs. Nothing of it outlives the command.
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

// journal describes an unfinished transaction well enough to take it back. While it exists the tree
// may hold any mix of old and new files; the instant at which it is renamed to doneFile is the one
// at which the new tree counts. doneFile tells a command that was killed right then, and is run again,
// that it has done its work.
type journal struct {
	Version int `json:"version"`
	// Command is who began the transaction.
	Command string `json:"command"`
	// Operations are in the order in which they are carried out. The number of an operation is the
	// name of its staged and of its saved file.
	Operations []operation `json:"operations"`
	// Folders are those that the transaction creates, parents first.
	Folders []string `json:"folders,omitempty"`
}

// operation replaces, creates (no Old) or deletes (no New) one file.
type operation struct {
	Path string `json:"path"`
	// Old and New are the SHA-256 of the content before and after, in hexadecimal.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

func staged(n int) string { return stagedDir + "/" + strconv.Itoa(n) }
func saved(n int) string  { return savedDir + "/" + strconv.Itoa(n) }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// JournalError tells that what an interrupted command left behind cannot be understood or undone.
type JournalError struct {
	// Problem says what is wrong.
	Problem string
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("%s, the record of an interrupted command, %s; nothing was changed; "+
		"compare the project with version control, keep what you need of %s (the files from before the command) and remove %s",
		journalFile, e.Problem, savedDir, txnDir)
}

// readJournal returns nil where there is no journal.
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
			return nil, fmt.Errorf("%s is not a folder, but transactions need it as one; move it away", dir)
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

// parseJournal takes nothing on trust: the file may be broken or come with a foreign project.
func parseJournal(data []byte) (*journal, error) {
	var j journal
	var head struct{ Version int }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, &JournalError{Problem: "cannot be read (" + err.Error() + ")"}
	}
	if head.Version != journalVersion {
		return nil, &JournalError{Problem: fmt.Sprintf("has version %d, this program knows version %d", head.Version, journalVersion)}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&j); err != nil {
		return nil, &JournalError{Problem: "cannot be read (" + err.Error() + ")"}
	}
	seen := map[string]bool{}
	for _, op := range j.Operations {
		if !plausible(op.Path) || seen[op.Path] || op.Old == op.New || !isDigest(op.Old) || !isDigest(op.New) {
			return nil, &JournalError{Problem: fmt.Sprintf("has an entry for %q that makes no sense", op.Path)}
		}
		seen[op.Path] = true
	}
	for _, dir := range j.Folders {
		below := func(op operation) bool { return strings.HasPrefix(op.Path, dir+"/") }
		if !plausible(dir) || !slices.ContainsFunc(j.Operations, below) {
			return nil, &JournalError{Problem: fmt.Sprintf("has an entry for %q that makes no sense", dir)}
		}
	}
	return &j, nil
}

func plausible(name string) bool {
	return name != "." && path.Clean(name) == name && filepath.IsLocal(filepath.FromSlash(name))
}

// isDigest accepts the empty text too, which stands for a file that is not there.
func isDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && (len(b) == 0 || len(b) == sha256.Size)
}
