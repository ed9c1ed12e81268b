package sitemap_test

import (
	"bytes"
	"compress/gzip"
)

func gzipOf(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}
