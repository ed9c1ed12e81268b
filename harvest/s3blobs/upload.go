package s3blobs

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"
)

// CreateBlob implements [harvest.Blobs].
func (b *Blobs) CreateBlob(ctx context.Context, name string) (io.WriteCloser, error) {
	return &upload{b: b, ctx: ctx, name: name}, nil
}

// An upload writes an object: in one request if it fits into one part.
type upload struct {
	b    *Blobs
	ctx  context.Context
	name string
	id   string // of the upload in parts; "" if none has begun
	done []minio.CompletePart
	buf  []byte // of the next part
}

// maxParts is how many parts an object may have.
const maxParts = 10_000

// room is the size of the next part.
func (u *upload) room() int { return u.b.partSize() * (1 + len(u.done)/1000) }

func (u *upload) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		if len(u.buf) >= u.room() {
			if err := u.flush(); err != nil {
				return n, err
			}
		}
		part := p[:min(len(p), u.room()-len(u.buf))]
		u.buf = append(u.buf, part...)
		n += len(part)
		p = p[len(part):]
	}
	return n, nil
}

// flush writes the buffer as the next part.
func (u *upload) flush() (err error) {
	if u.id == "" {
		u.id, err = u.b.core.NewMultipartUpload(u.ctx, u.b.bucket, u.b.prefix+u.name, minio.PutObjectOptions{})
		if err != nil {
			return u.b.wrap("begin", u.name, err)
		}
	}
	n := len(u.done) + 1
	if n > maxParts {
		err = fmt.Errorf("it has more than %d parts: Blobs.PartSize must be greater than %d", maxParts, u.b.partSize())
		return u.b.wrap("write", u.name, err)
	}
	part, err := u.b.core.PutObjectPart(u.ctx, u.b.bucket, u.b.prefix+u.name, u.id, n,
		bytes.NewReader(u.buf), int64(len(u.buf)), minio.PutObjectPartOptions{})
	if err != nil {
		return u.b.wrap(fmt.Sprintf("write part %d of", n), u.name, err)
	}
	u.done = append(u.done, minio.CompletePart{PartNumber: n, ETag: part.ETag})
	u.buf = u.buf[:0]
	return nil
}

// Close makes the object visible.
func (u *upload) Close() error {
	if err := u.ctx.Err(); err != nil {
		return err // RemoveBlob follows
	}
	if u.id == "" {
		_, err := u.b.core.Client.PutObject(u.ctx, u.b.bucket, u.b.prefix+u.name,
			bytes.NewReader(u.buf), int64(len(u.buf)), minio.PutObjectOptions{DisableMultipart: true})
		return u.b.wrap("write", u.name, err)
	}
	if len(u.buf) > 0 {
		if err := u.flush(); err != nil {
			return err
		}
	}
	_, err := u.b.core.CompleteMultipartUpload(u.ctx, u.b.bucket, u.b.prefix+u.name, u.id, u.done, minio.PutObjectOptions{})
	return u.b.wrap("complete", u.name, err)
}
