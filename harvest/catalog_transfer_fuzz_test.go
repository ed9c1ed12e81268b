package harvest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/memstore"
)

// FuzzImport reads exports that are damaged but have right checksums: nothing panics, and
// Inspect can tell of all that was imported.
func FuzzImport(f *testing.F) {
	export, _ := exported(f, 2)
	f.Add(export)
	sum := crc32.MakeTable(crc32.Castagnoli)
	f.Fuzz(func(t *testing.T, damaged []byte) {
		damaged = bytes.Clone(damaged)
		begin := min(len(exportMagic), len(damaged))
		for at := begin; at+9 <= len(damaged); {
			end := min(at+9+int(binary.BigEndian.Uint32(damaged[at+1:])), len(damaged))
			if damaged[at] == 'E' && end >= at+9+32 {
				all := sha256.Sum256(damaged[begin:at])
				copy(damaged[at+9:], all[:])
			}
			binary.BigEndian.PutUint32(damaged[at+5:], crc32.Update(crc32.Checksum(damaged[at:at+5], sum), sum, damaged[at+9:end]))
			at = end
		}
		c := harvest.NewCatalog(memstore.New())
		if c.Import(t.Context(), bytes.NewReader(damaged)) != nil {
			return
		}
		c.Inspect(t.Context())
		for range c.Changes(t.Context(), websync.Range{}) {
		}
		for range c.Resources(t.Context(), websync.Range{}) {
		}
	})
}
