package controlplane

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// guard does nothing: the job object kills a program.
func guard(*Process) error { return nil }

func toolAttributes() *syscall.SysProcAttr { return nil }

// startInJob starts a program in a new job object. The system kills the job's processes when its last handle is closed, at the
// latest when this process exits.
func startInJob(cmd *exec.Cmd) (release func(), err error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	release = func() { _ = windows.CloseHandle(job) }
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		release()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		release()
		return nil, err
	}
	if err := assign(job, cmd.Process.Pid); err != nil {
		err = errors.Join(err, cmd.Process.Kill())
		_ = cmd.Wait()
		release()
		return nil, err
	}
	return release, nil
}

func assign(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	return errors.Join(windows.AssignProcessToJobObject(job, process), windows.CloseHandle(process))
}

// interrupt kills a process, as Windows cannot interrupt processes without a console.
func interrupt(p *os.Process) error { return p.Kill() }

func interruptGroup(p *os.Process) error { return interrupt(p) }

// guardGroup does nothing: the job object kills what a program has started.
func guardGroup(*os.Process) (release func()) { return func() {} }

// killGroup does nothing: the job object kills the processes that a program has started.
func killGroup(*os.Process) {}
