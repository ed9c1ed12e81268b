package harvest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/survive"
)

// maxType is the length, in bytes, of the longest Content-Type that is stored. It keeps
// records small.
const maxType = 1024

// Receive does what Obtain does with the answer: it keeps the bytes, with their
// Content-Type, or reuses the held body. It closes the body of the answer. If it refuses
// the bytes, no Validator of link.Href is stored.
func (j *Job) Receive(ctx context.Context, name string, link websync.Link, resp *Response) error {
	if resp.NotModified {
		_, err := j.Reuse(name)
		return err
	}
	defer resp.Body.Close()
	if t := resp.header("Content-Type"); t != "" && len(t) <= maxType {
		link.Type = t
	}
	j.expected, _ = strconv.ParseInt(resp.header("Content-Length"), 10, 64)
	_, err := j.Keep(ctx, name, link, resp.Body)
	j.expected = 0
	if err != nil {
		j.remember(link.Href, Validator{})
	}
	return err
}

// Keep reads r to its end and keeps the bytes as the body with the given name, in place
// of an earlier one of this Job. It verifies them against link's length and strongest
// digest; if they differ, it keeps nothing and returns an error that matches
// [websync.ErrMismatch]. The Body's Link is link with the length and the SHA-256 of the
// bytes; if r is a Body of a Response that decodes what was sent, it has no Encoding, and
// no digests of another form. The body becomes visible only if Get returns nil.
//
// If r is what Open of the Catalog of the run has returned, and link states its SHA-256,
// Keep does not read it: both bodies share their bytes.
func (j *Job) Keep(ctx context.Context, name string, link websync.Link, r io.Reader) (websync.Body, error) {
	stated, _ := link.Digests.Get(keyAlgorithm)
	there, ok := r.(openBody)
	if ok && there.catalog == j.run.catalog && j.run.h.Bodies != VerifyBodies && stated == there.key {
		body := websync.Body{Name: name, Link: received(link, there.key, there.size), Key: there.key}
		j.add(body)
		return body, nil
	}
	w, err := j.run.newBody(ctx)
	if err != nil {
		return websync.Body{}, &StoreError{err}
	}
	if short, ok := w.(*bodyWriter); ok {
		short.expect(j.expected)
	}
	own := ownBody{w, j.run}
	var key websync.Digest
	var size int64
	err = survive.Panic("the bytes", func() (err error) {
		key, size, err = j.keep(own, &link, r)
		return err
	})
	if err != nil {
		return websync.Body{}, errors.Join(err, own.Discard())
	}
	body := websync.Body{Name: name, Link: received(link, key, size)}
	if _, dropped := w.(*sink); !dropped {
		body.Key = key
		j.writers = append(j.writers, w)
	}
	j.add(body)
	return body, nil
}

func (r *run) newBody(ctx context.Context) (pendingBody, error) {
	defer r.ours()
	if r.h.Bodies == VerifyBodies {
		return &sink{hash: sha256.New()}, nil
	}
	return r.catalog.newBody(ctx)
}

// keep copies r to w and verifies the bytes. It removes from link what does not hold for
// them. The key of a body is its SHA-256. If that is the strongest digest stated, it is
// not computed twice.
func (j *Job) keep(w pendingBody, link *websync.Link, r io.Reader) (key websync.Digest, size int64, err error) {
	stated, coded := *link, sent(r, io.Discard)
	digest, _ := link.Digests.Strongest()
	isKey := digest.Algorithm == keyAlgorithm && !coded
	if isKey {
		stated.Digests = nil
	}
	verified := stated.Verify(r)
	if err := copyBody(w, verified); err != nil {
		return key, 0, err
	}
	if key, size, err = w.Finish(); err != nil {
		return key, 0, &StoreError{err}
	}
	if isKey && digest != key {
		return key, 0, &websync.MismatchError{Href: link.Href, What: keyAlgorithm, Want: hex(digest), Got: hex(key)}
	}
	if coded {
		link.Encoding = ""
	}
	if v, ok := verified.(interface{ AsSent() bool }); ok && v.AsSent() {
		link.Digests = nil
		j.run.noteCoded(link.Href)
	}
	return key, size, nil
}

// sent is the method Sent of the Body of a Response: it reports whether r decodes a content
// coding, and makes it write the bytes that were sent to w.
func sent(r io.Reader, w io.Writer) bool {
	body, ok := r.(interface{ Sent(w io.Writer) bool })
	return ok && body.Sent(w)
}

// noteCoded reports, once in a run, that bytes were verified as they were sent.
func (r *run) noteCoded(url string) {
	r.coded.Do(func() {
		r.finding(ruleCoded.Finding(r.key, 0, 0, "", []byte(websync.RedactURL(url)),
			"the stated length and digests are those of the content coding that was sent; reported once in a run"))
	})
}

// keyAlgorithm is the digest algorithm of content addresses.
const keyAlgorithm = "sha-256"

func hex(d websync.Digest) string { return fmt.Sprintf("%x", d.Sum) }

// received returns link with the length and the digest of the received bytes.
func received(link websync.Link, key websync.Digest, size int64) websync.Link {
	link.Length = size
	if size == 0 {
		link.Length = websync.StatedZero
	}
	link.Digests = slices.Clone(link.Digests)
	if _, ok := link.Digests.Get(key.Algorithm); !ok {
		link.Digests = append(link.Digests, key)
	}
	return link
}

var copyBuffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// copyBody copies r to w through a pooled buffer. An error of w is a StoreError.
func copyBody(w io.Writer, r io.Reader) error {
	buf := copyBuffers.Get().(*[]byte)
	defer copyBuffers.Put(buf)
	for {
		k, err := r.Read(*buf)
		if k > 0 {
			if _, err := w.Write((*buf)[:k]); err != nil {
				return &StoreError{err}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// An ownBody is a pendingBody that a Job writes bytes of a Source to.
type ownBody struct {
	pendingBody
	run *run
}

func (b ownBody) Write(data []byte) (int, error) {
	defer b.run.ours()
	return b.pendingBody.Write(data)
}

func (b ownBody) Finish() (websync.Digest, int64, error) {
	defer b.run.ours()
	return b.pendingBody.Finish()
}

func (b ownBody) Discard() error {
	defer b.run.ours()
	return b.pendingBody.Discard()
}

// A sink is the pendingBody of VerifyBodies: it computes the digest and drops the bytes.
type sink struct {
	hash hash.Hash
	size int64
}

func (s *sink) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	return s.hash.Write(p)
}

func (s *sink) Finish() (websync.Digest, int64, error) {
	return websync.Digest{Algorithm: keyAlgorithm, Sum: string(s.hash.Sum(nil))}, s.size, nil
}

func (s *sink) Discard() error { return nil }
