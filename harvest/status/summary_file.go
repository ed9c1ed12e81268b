package status

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile writes the page to a file, which everybody may read. It replaces the file at
// once, so that a reader sees the old page or the new one. What is no regular file, such
// as a device, is written as it is.
func (s *Summary) WriteFile(name string) error {
	var html bytes.Buffer
	err := s.WriteHTML(&html)
	if err != nil {
		return err
	}
	target := name
	if real, err := filepath.EvalSymlinks(name); err == nil {
		target = real
	}
	if info, infoErr := os.Stat(target); infoErr == nil && !info.Mode().IsRegular() {
		err = os.WriteFile(target, html.Bytes(), 0)
	} else {
		err = replaceFile(target, html.Bytes())
	}
	if e, ok := err.(*fs.PathError); ok {
		err = e.Err // the name is the one that the caller knows
	}
	if err != nil {
		return fmt.Errorf("status: %s: %w", name, err)
	}
	return nil
}

// replaceFile writes a file beside another one, and gives it the name of that.
func replaceFile(name string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".report-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	err = cmp.Or(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
}
