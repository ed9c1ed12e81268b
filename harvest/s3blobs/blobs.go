package s3blobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/websync-go/websync/harvest"
)

// Blobs are the objects below a prefix of a bucket. It is safe for concurrent use.
type Blobs struct {
	// PartSize is how many bytes of an upload are in memory, and one part of it. A
	// shorter object is written in one request. If zero, it is 8 MiB; S3 wants at least 5
	// MiB.
	PartSize int

	core   minio.Core
	bucket string
	prefix string
}

var _ harvest.Blobs = (*Blobs)(nil)

// New returns the Blobs below prefix in bucket. The client's settings decide about
// addresses, credentials and time limits.
func New(client *minio.Client, bucket, prefix string) *Blobs {
	return &Blobs{core: minio.Core{Client: client}, bucket: bucket, prefix: prefix}
}

func (b *Blobs) partSize() int {
	if b.PartSize == 0 {
		return 8 << 20
	}
	return b.PartSize
}

// wrap adds what was done to which object, and lets a missing one match fs.ErrNotExist.
func (b *Blobs) wrap(what, name string, err error) error {
	if err == nil {
		return nil
	}
	if r := minio.ToErrorResponse(err); r.StatusCode == http.StatusNotFound && r.Code == minio.NoSuchKey {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return fmt.Errorf("s3blobs: %s %s/%s%s: %w", what, b.bucket, b.prefix, name, err)
}

// OpenBlob implements [harvest.Blobs].
func (b *Blobs) OpenBlob(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	object, err := b.core.Client.GetObject(ctx, b.bucket, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.wrap("open", name, err)
	}
	info, err := object.Stat()
	if err != nil {
		return nil, errors.Join(b.wrap("open", name, err), object.Close())
	}
	return &reader{Object: object, size: info.Size}, nil
}

// A reader reads an object. Seek may go beyond the end, which that of a minio.Object may
// not.
type reader struct {
	*minio.Object
	size, at int64
}

func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	n, err := r.Object.Read(p)
	r.at += int64(n)
	return n, err
}

func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if _, err := r.Object.Seek(min(offset, r.size), io.SeekStart); err != nil {
		return 0, err
	}
	r.at = offset
	return offset, nil
}

// RemoveBlob implements [harvest.Blobs].
func (b *Blobs) RemoveBlob(ctx context.Context, name string) error {
	err := b.core.RemoveObject(ctx, b.bucket, b.prefix+name, minio.RemoveObjectOptions{})
	if err = b.wrap("remove", name, err); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = b.core.RemoveIncompleteUpload(ctx, b.bucket, b.prefix+name)
	return b.wrap("remove the parts of", name, err)
}

// ListBlobs implements [harvest.Blobs].
func (b *Blobs) ListBlobs(ctx context.Context, fn func(name string, modified time.Time) bool) error {
	ctx, cancel := context.WithCancel(ctx) // ends the requests of a listing that is not read to its end
	defer cancel()
	for object := range b.core.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
		if object.Err != nil {
			return b.wrap("list", "", object.Err)
		}
		if !fn(strings.TrimPrefix(object.Key, b.prefix), object.LastModified) {
			return nil
		}
	}
	for upload := range b.core.ListIncompleteUploads(ctx, b.bucket, b.prefix, true) {
		if upload.Err != nil {
			return b.wrap("list the parts of", "", upload.Err)
		}
		name := strings.TrimPrefix(upload.Key, b.prefix)
		modified, err := b.lastPart(ctx, name, upload)
		if err != nil {
			return err
		}
		if !fn(name, modified) {
			return nil
		}
	}
	return ctx.Err()
}

// lastPart returns when the last part of an upload was written.
func (b *Blobs) lastPart(ctx context.Context, name string, upload minio.ObjectMultipartInfo) (time.Time, error) {
	last := upload.Initiated
	for marker, more := 0, true; more; {
		parts, err := b.core.ListObjectParts(ctx, b.bucket, upload.Key, upload.UploadID, marker, 1000)
		if minio.ToErrorResponse(err).Code == minio.NoSuchUpload {
			return time.Now(), nil // it has just ended
		}
		if err != nil {
			return last, b.wrap("list the parts of", name, err)
		}
		for _, p := range parts.ObjectParts {
			if p.LastModified.After(last) {
				last = p.LastModified
			}
		}
		marker, more = parts.NextPartNumberMarker, parts.IsTruncated
	}
	return last, nil
}
