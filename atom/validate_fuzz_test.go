package atom_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/atom"
)

// FuzzValidate: for all bytes, findings have positions and are counted, the size of the
// reads makes no difference, a Reader ends as Validate does, and encoding/xml reads every
// document in UTF-8 without an error.
func FuzzValidate(f *testing.F) {
	files, err := filepath.Glob("testdata/valid/*.xml")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(data)
	}
	for _, c := range validateCases {
		f.Add([]byte(c.doc))
	}
	f.Add([]byte("<feed xmlns='http://www.w3.org/2005/Atom'>" + strings.Repeat(" ", 5000) + "</a></b></c> and more")) // fails in its second block
	f.Fuzz(func(t *testing.T, data []byte) {
		validate := func(src io.Reader) (found []websync.Finding, sum atom.Summary, err error) {
			sum, err = atom.Validate(src, atom.ValidateOptions{
				Document: validateURL, Now: validateNow, MaxBytes: 1 << 20,
				Report: func(f websync.Finding) { found = append(found, f) },
			})
			return found, sum, err
		}
		found, sum, err := validate(bytes.NewReader(data))
		require.Len(t, found, sum.Errors+sum.Warnings+sum.Infos)
		for _, f := range found {
			require.Equal(t, f.Line > 0, f.Column > 0, f)
			require.True(t, f.Line > 0 || f.Rule == "atom-gzip" || err != nil, f)
		}
		require.False(t, err != nil && sum.Errors == 0)
		if err == nil {
			require.NotZero(t, sum.Kind)
		}

		slowly, slowSum, slowErr := validate(iotest.OneByteReader(bytes.NewReader(data)))
		require.Equal(t, found, slowly)
		if err != nil {
			slowSum.Bytes = sum.Bytes // what was read ahead of the error
		}
		require.Equal(t, sum, slowSum)
		require.Equal(t, err == nil, slowErr == nil)

		r := atom.NewReader(bytes.NewReader(data))
		r.MaxBytes = 1 << 20
		entries := 0
		var readErr error
		for _, readErr = range r.All() {
			if readErr == nil {
				entries++
			}
		}
		require.Equal(t, err == nil, readErr == nil, "%v, %v", err, readErr)
		if err == nil {
			require.Equal(t, sum.Kind, r.Kind())
			require.Equal(t, sum.Skipped, r.Skipped())
			require.Equal(t, sum.Entries+sum.Tombstones, entries)
		}

		if sum.Errors > 0 || bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			return
		}
		for _, f := range found {
			if f.Rule == "atom-encoding" || f.Rule == "atom-doctype" {
				return
			}
		}
		d := xml.NewDecoder(bytes.NewReader(data))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				require.NoError(t, err)
			}
		}
	})
}
