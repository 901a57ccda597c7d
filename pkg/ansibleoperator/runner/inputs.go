package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The files of a run directory. ansible-runner expects their names.
const (
	artifactsDir   = "artifacts"
	latestLink     = "latest"
	kubeconfigFile = "kubeconfig"
	// localInventory runs tasks on this machine, with the interpreter that runs ansible-playbook.
	localInventory = "localhost ansible_connection=local ansible_python_interpreter='{{ ansible_playbook_python }}'\n"
	// localTemporary lets tasks on this machine use the temporary directory of the run. Other tasks, even if only their
	// connection differs, must not: a variable of the environment would set the directory for all of them.
	localTemporary = `localhost ansible_remote_tmp='{{ lookup("env", "TMPDIR") if ansible_connection == "local" else "~/.ansible/tmp" }}'` + "\n"
)

// writeInputs writes the files that ansible-runner reads. On a full file system it removes old artifacts and tries again.
func (r *Runner) writeInputs(dir string, request Request) error {
	err := r.writeInputsOnce(dir, request)
	if errors.Is(err, syscall.ENOSPC) {
		if err := r.disk.free(); err != nil {
			return err
		}
		err = r.writeInputsOnce(dir, request)
	}
	if err != nil {
		return fmt.Errorf("writing the inputs of a run: %w", describeFull(err, r.root.dir))
	}
	return nil
}

func (r *Runner) writeInputsOnce(dir string, request Request) error {
	if err := r.root.claim(dir); err != nil {
		return err
	}
	for _, name := range []string{"env", "inventory", "project"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	for _, name := range []string{"env", "inventory", "project", artifactsDir} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return err
		}
	}
	// ansible-runner rotates all entries of artifacts, but cannot remove a link.
	if err := os.Remove(filepath.Join(dir, artifactsDir, latestLink)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	kubeconfig := filepath.Join(dir, kubeconfigFile)
	variables := request.Variables
	if variables == nil {
		variables = map[string]any{}
	}
	for name, value := range map[string]any{
		"env/extravars": variables,
		"env/envvars":   map[string]string{"KUBECONFIG": kubeconfig, "K8S_AUTH_KUBECONFIG": kubeconfig},
		"env/settings":  map[string]any{},
	} {
		data, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := writeFile(dir, name, data); err != nil {
			return err
		}
	}
	if args := unquote(r.config.Args); args != "" {
		if err := writeFile(dir, "env/cmdline", []byte(args)); err != nil {
			return err
		}
	}
	if err := writeFile(dir, kubeconfigFile, request.Kubeconfig); err != nil {
		return err
	}
	return r.writeInventory(dir)
}

// unquote removes one pair of single quotes around a text.
func unquote(text string) string {
	trimmed := strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(trimmed, "'"); ok && strings.HasSuffix(inner, "'") {
		return strings.TrimSuffix(inner, "'")
	}
	return trimmed
}

func writeFile(dir, name string, data []byte) error {
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), data, 0o600)
}

// writeInventory copies the inventory of the user: a file, a directory or a list of hosts, as in Ansible.
func (r *Runner) writeInventory(dir string) error {
	source := r.env.values["ANSIBLE_INVENTORY"]
	if source == "" {
		inventory := r.env.inventory()
		if r.env.values["ANSIBLE_REMOTE_TEMP"]+r.env.values["ANSIBLE_REMOTE_TMP"] == "" {
			inventory += localTemporary
		}
		return writeFile(dir, "inventory/hosts", []byte(inventory))
	}
	if strings.Contains(source, ",") {
		hosts := strings.FieldsFunc(source, func(c rune) bool { return c == ',' || c == ' ' })
		return writeFile(dir, "inventory/hosts", []byte(strings.Join(hosts, "\n")+"\n"))
	}
	source = r.env.absolute(source)
	info, err := os.Stat(source)
	if err != nil {
		return fmt.Errorf("ANSIBLE_INVENTORY: %w", err)
	}
	if info.IsDir() {
		return os.CopyFS(filepath.Join(dir, "inventory"), os.DirFS(source))
	}
	data, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("ANSIBLE_INVENTORY: %w", err)
	}
	// Ansible executes inventories that are executable, and selects parsers by extension.
	name := "hosts"
	if ext := filepath.Ext(source); ext != "" {
		name += ext
	}
	return os.WriteFile(filepath.Join(dir, "inventory", name), data, 0o600|info.Mode().Perm()&0o100)
}

// linkLatest makes artifacts/latest a link to the artifacts of a run.
func linkLatest(dir, ident string) error {
	link := filepath.Join(dir, artifactsDir, latestLink)
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(ident, link)
}
