//go:build !windows

package prompt

import "os"

// enableSequences does nothing: terminals understand escape sequences.
func enableSequences(*os.File) (restore func()) { return func() {} }
