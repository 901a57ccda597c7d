package worktree

import (
	"bytes"
	"crypto/rand"
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
)

// The files of a running transaction below the root, which a command removes at its end: staged and saved files in a directory of
// txnDir for each transaction.
const (
	operonDir = ".operon"
	txnDir    = operonDir + "/txn"
)

// The files in the state directory of the project.
const (
	lockFile    = "lock"
	journalFile = "journal.json"
	journalTemp = "journal.tmp"
	doneFile    = "done.json"
)

const journalVersion = 2

// A journal describes an unfinished transaction, so that it can be undone. It is in the user's state directory, because it decides
// which files a command changes: the files below the root may have come with a clone. While the file exists, the tree may be a mix
// of old and new files. Renaming it to doneFile completes the transaction. If the command is interrupted after that, doneFile
// shows the next command that the work is done.
type journal struct {
	Version int `json:"version"`
	// Command is the command that started the transaction.
	Command string `json:"command"`
	// ID is the name of the transaction's directory in txnDir. Nobody else can know it beforehand, so a directory with that name
	// is the one that the command created.
	ID string `json:"id"`
	// Operations are in the order of execution. The index of an operation is the name of its staged and its saved file. There
	// are none while files are staged.
	Operations []operation `json:"operations,omitempty"`
	// Dirs are the directories that the transaction creates, parents first.
	Dirs []string `json:"folders,omitempty"`
}

// newID returns a new name for the directory of a transaction.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

func (j *journal) dir() string         { return txnDir + "/" + j.ID }
func (j *journal) staged(n int) string { return j.dir() + "/new/" + strconv.Itoa(n) }
func (j *journal) saved(n int) string  { return j.dir() + "/old/" + strconv.Itoa(n) }

// An operation replaces, creates (no Old) or deletes (no New) one file.
type operation struct {
	Path string `json:"path"`
	// Old and New are the hexadecimal SHA-256 of the content before and after.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// JournalError reports that the record of an interrupted transaction is invalid or cannot be undone.
type JournalError struct {
	// File is the path of the record.
	File string
	// Problem is the cause.
	Problem string
}

func (e *JournalError) Error() string {
	return fmt.Sprintf("%s, the record of an interrupted command, %s; nothing was changed; "+
		"compare the project with version control, keep what you need of %s (old has the files from before the command), and remove both",
		e.File, e.Problem, txnDir)
}

// readJournal returns the journal, or nil if there is none.
func (d disk) readJournal() (*journal, error) {
	data, err := d.readState(journalFile)
	if data == nil || err != nil {
		return nil, err
	}
	j, err := parseJournal(data)
	if err != nil {
		return nil, d.journalError("%w", err)
	}
	return j, nil
}

// isUnfinished reports whether a journal describes changes that must be undone. That is not so if there is none, before the first
// change, and if the files of the transaction are gone, because another project has taken the place of the one that was changed.
func (d disk) isUnfinished(j *journal) (bool, error) {
	if j == nil || len(j.Operations) == 0 {
		return false, nil
	}
	for _, dir := range []string{operonDir, txnDir, j.dir()} {
		info, err := d.lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, explain("looking at", dir, err)
		}
		if !info.IsDir() {
			return false, fmt.Errorf("%s must be a directory; move it away", dir)
		}
	}
	return true, nil
}

func (d disk) journalError(format string, args ...any) error {
	return &JournalError{File: filepath.Join(d.state, journalFile), Problem: fmt.Errorf(format, args...).Error()}
}

// parseJournal validates the journal, because it may be damaged or written by another version. Errors are predicates of the journal.
func parseJournal(data []byte) (*journal, error) {
	var j journal
	var head struct{ Version int }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("cannot be read (%w)", err)
	}
	if head.Version != journalVersion {
		return nil, fmt.Errorf("has version %d, this program supports version %d", head.Version, journalVersion)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&j); err != nil {
		return nil, fmt.Errorf("cannot be read (%w)", err)
	}
	if id, err := hex.DecodeString(j.ID); err != nil || len(id) != 16 {
		return nil, fmt.Errorf("has the ID %q, which is not valid", j.ID)
	}
	seen := map[string]bool{}
	for _, op := range j.Operations {
		if !isLocalPath(op.Path) || seen[op.Path] || op.Old == op.New || !isDigest(op.Old) || !isDigest(op.New) {
			return nil, fmt.Errorf("has an entry for %q that is not valid", op.Path)
		}
		seen[op.Path] = true
	}
	for _, dir := range j.Dirs {
		below := func(op operation) bool { return strings.HasPrefix(op.Path, dir+"/") }
		if !isLocalPath(dir) || !slices.ContainsFunc(j.Operations, below) {
			return nil, fmt.Errorf("has an entry for %q that is not valid", dir)
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
