package runreport

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes the page to a file, which everybody may read. It replaces the file at
// once, so that a reader sees the old page or the new one. What is no regular file, such
// as a device, is written as it is.
func (r *Recorder) WriteFile(name string) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return r.writeTo(os.OpenFile(name, os.O_WRONLY, 0))
	}
	temp, err := os.CreateTemp(filepath.Dir(name), ".report-*")
	if err == nil {
		err = temp.Chmod(0o644)
	}
	if err = r.writeTo(temp, err); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil && temp != nil {
		os.Remove(temp.Name())
	}
	return named(err, name)
}

// writeTo writes the page to an open file and closes it. Its arguments are the results of
// opening it.
func (r *Recorder) writeTo(f *os.File, err error) error {
	if f == nil {
		return err
	}
	w := bufio.NewWriter(f)
	if err == nil {
		err = r.WriteHTML(w)
	}
	if err == nil {
		err = w.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// named returns an error of the file system with the name that the caller knows.
func named(err error, name string) error {
	if e, ok := err.(*fs.PathError); ok {
		err = e.Err
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("runreport: %s: %w", name, err)
}
