package controlplane

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountTmpfs mounts a file system of a size, which requires root.
func mountTmpfs(t *testing.T, size string, flags uintptr) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount a file system")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, "size="+size); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestRealDiskFull(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	assets, err := realAssets()
	if err != nil {
		t.Fatal(err)
	}
	data := mountTmpfs(t, "1m", 0)
	err = startFails(t, assets, StartOptions{EtcdArgs: []string{"--data-dir=" + filepath.Join(data, "etcd")}})
	wantFailure(t, err, Etcd, causeDisk, "no space left on device")

	_, err = Start(t.Context(), assets, StartOptions{TempDir: mountTmpfs(t, "4k", 0)})
	if err == nil || !strings.Contains(err.Error(), causeDisk) {
		t.Errorf("no directory fits: %v", err)
	}
	_, err = Start(t.Context(), assets, StartOptions{TempDir: mountTmpfs(t, "1m", syscall.MS_RDONLY)})
	if err == nil || !strings.Contains(err.Error(), causeReadOnly) {
		t.Errorf("read-only: %v", err)
	}
}
