package prompt

import (
	"os"

	"golang.org/x/sys/windows"
)

// enableSequences makes a console understand escape sequences until the returned function is called.
func enableSequences(console *os.File) (restore func()) {
	handle := windows.Handle(console.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return func() {}
	}
	_ = windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // Windows before 10 has none
	return func() { _ = windows.SetConsoleMode(handle, mode) }
}
