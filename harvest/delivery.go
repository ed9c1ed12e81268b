package harvest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/websync-go/websync"
)

// ErrSuperseded reports that the bytes of a change are gone because a later change of the
// same resource, which [Each] passes on, too, has replaced them.
var ErrSuperseded = errors.New("a later change has replaced the bytes")

// A Delivery is a change that [Each] passes to a function. It is valid until the function
// returns.
type Delivery struct {
	ID, Title string           // of the Item's Resource
	Modified  websync.Datetime // likewise
	Deleted   bool             // the resource is gone, and has no bytes
	Item      websync.Item     // the entry of the log

	ctx     context.Context
	catalog *Catalog
}

// maxContent is the greatest length of what Content returns.
const maxContent = 64 << 20

// Content returns the bytes of the body [websync.ContentName]. The error is
// [websync.ErrLimit] for more than 64 MiB, otherwise as that of Open.
func (d *Delivery) Content() ([]byte, error) {
	r, err := d.Open(websync.ContentName)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxContent+1))
	if err == nil && len(data) > maxContent {
		return nil, fmt.Errorf("harvest: the content of %s is longer than 64 MiB: %w", websync.RedactURL(d.ID), websync.ErrLimit)
	}
	return data, err
}

// Open opens the body with a name; the caller closes it. If the bytes are gone, Open or
// Read returns [ErrSuperseded] if there is a later change of the resource, otherwise
// [websync.ErrNotFound]. The function may return either error to Each.
func (d *Delivery) Open(name string) (io.ReadSeekCloser, error) {
	b, ok := d.Item.Body(name)
	if !ok {
		return nil, fmt.Errorf("harvest: %s has no body %q: %w", websync.RedactURL(d.ID), name, websync.ErrNotFound)
	}
	r, err := d.catalog.Open(d.ctx, b)
	if err != nil {
		return nil, d.lost(name, err)
	}
	return &deliveredBody{r, d, name}, nil
}

// lost returns the error for one of a body: ErrSuperseded for bytes that are gone if the
// record has a later time. The number does not show this, as Compact changes it.
func (d *Delivery) lost(name string, err error) error {
	if errors.Is(err, websync.ErrNotFound) {
		latest, getErr := d.catalog.Get(d.ctx, d.Item.Source, []string{d.ID})
		if getErr != nil {
			err = getErr
		} else if latest[0].Time.After(d.Item.Time) {
			err = ErrSuperseded
		}
	}
	return fmt.Errorf("harvest: body %q of %s: %w", name, websync.RedactURL(d.ID), err)
}

// A deliveredBody is a body that may be lost while it is read.
type deliveredBody struct {
	io.ReadSeekCloser
	d    *Delivery
	name string
}

func (b *deliveredBody) Read(p []byte) (int, error) {
	n, err := b.ReadSeekCloser.Read(p)
	if err != nil && err != io.EOF {
		err = b.d.lost(b.name, err)
	}
	return n, err
}
