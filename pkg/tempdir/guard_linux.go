package tempdir

import (
	"os/exec"
	"syscall"
)

// guardScript waits for the end of its input, kills the processes that have the directory $1 in their environment, and
// removes it. A process that is killed may have started another one at the same time.
const guardScript = `read -r _
tries=50
while [ -d "$1" ]; do
	pids=$(grep -lsF "GOTMPDIR=$1/" /proc/[0-9]*/environ | cut -d / -f 3)
	[ -n "$pids" ] && [ $tries -gt 0 ] || break
	kill -s KILL $pids
	tries=$((tries-1))
	sleep 0.1
done 2>/dev/null
[ -d "$1" ] || exit 0
rm -rf "$1"
rmdir "${1%/*}" 2>/dev/null`

// guard starts a shell that waits for the end of this process and then cleans up. A death signal is no alternative:
// libraries start the go command too, and its compilers would not receive one. Without a shell, a later Sweep cleans up.
func guard(dir string) (release func()) {
	shell := exec.Command("/bin/sh", "-c", guardScript, "guard", dir)
	shell.Dir = "/"
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := shell.StdinPipe()
	if err != nil || shell.Start() != nil {
		return func() {}
	}
	return func() {
		_ = stdin.Close()
		_ = shell.Wait()
	}
}
