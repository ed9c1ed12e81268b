package harvest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// A Job is one resource whose bodies are to be obtained. It belongs to one call of Get.
type Job struct {
	// Resource is the resource as it was announced. Get may change it, except its ID.
	Resource websync.Resource
	// Tag is the Event.Tag of the announced state. A Get that obtains a later state sets
	// it to the Tag of that state; otherwise the record seems to have the announced one.
	Tag string
	// Hint is the Event.Hint of the last event of the id. It may be out of date.
	Hint []byte
	// Held is the Catalog's record; nil if there is none or it is a tombstone. What it
	// has are the held bodies and validators.
	Held *Record

	run        *run
	open       func() (io.ReadCloser, error)
	fresh      bool // ask without a Validator
	asks       bool // ask, whatever is held
	came       bool // Get has asked for what open returns
	bodies     []websync.Body
	writers    []pendingBody
	validators []Validator
	asked      string // the Date of the first answer that had one
	expected   int64  // the length of the answer that is being kept, if its server states one
}

// Content does what the engine does for a Source that is no Getter: it keeps the bytes
// that came with the event as the body [websync.ContentName]. If there are none, or they
// can't be read or are not as stated, which is a finding, it obtains Resource.Content.
// Without an Href it keeps nothing if there are no bytes, and returns an error if they
// are bad.
func (j *Job) Content(ctx context.Context) error {
	link := j.Resource.Content
	if err := j.keepCame(ctx, link); !errors.Is(err, errNotCome) {
		if _, store := errors.AsType[*StoreError](err); err == nil || store || link.Href == "" || ctx.Err() != nil {
			return err
		}
		j.Report(ruleCame.Finding(j.run.key, 0, 0, "", []byte(j.Resource.ID), err.Error()+": fetched instead"))
	}
	if link.Href == "" {
		return nil
	}
	return j.Obtain(ctx, websync.ContentName, link)
}

func (j *Job) keepCame(ctx context.Context, link websync.Link) error {
	r, err := j.Came()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = j.Keep(ctx, websync.ContentName, link, r)
	return err
}

// Came opens the bytes of Resource.Content that came with the event; the caller closes
// them. It returns [websync.ErrNotFound] if there are none, or the Job carries out a
// task, which does not have them. So if Resource.Content has no Href, a Get that calls
// Came and fails is a Problem, and not stored as a task: a later run has to list the
// resource again.
func (j *Job) Came() (io.ReadCloser, error) {
	if j.open == nil {
		return nil, errNotCome
	}
	j.came = true
	r, err := j.open()
	if err == nil && r == nil {
		err = errors.New("Event.Open returned neither bytes nor an error")
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

var errNotCome = fmt.Errorf("bytes that came with the event: %w", websync.ErrNotFound)

// Obtain fetches link.Href, verifies the bytes and keeps them as the body with the given
// name. If a held body with this name has the strongest digest of link, it is reused, and
// nothing is fetched, unless the run asks for what seems unchanged. Otherwise the request
// is conditional if the held body agrees with link; if the answer is "not modified", that
// body is reused. Obtain is else Request, Fetch and Receive, for a Get that changes the
// request, or looks at the answer first. It fails after 2000 bodies of a resource, and
// after those that alone exceed the Quota: then the resource is left out.
func (j *Job) Obtain(ctx context.Context, name string, link websync.Link) error {
	if err := j.checkBodies(); err != nil {
		return err
	}
	if held, ok := j.agreeing(name, link); ok && !j.asks {
		if _, identified := link.Digests.Strongest(); identified {
			j.remember(held.Href, j.Held.Validator(held.Href))
			_, err := j.Reuse(name)
			return err
		}
	}
	resp, err := j.Fetch(ctx, j.Request(name, link))
	if err != nil {
		return err
	}
	return j.Receive(ctx, name, link, resp)
}

// agreeing returns the link of the body that the Catalog holds under name, if that agrees
// with link: if it came from there, it can be reused after "not modified".
func (j *Job) agreeing(name string, link websync.Link) (held websync.Link, ok bool) {
	b, ok := j.held(name)
	kept := !b.Key.IsZero() || j.run.h.Bodies == VerifyBodies
	return b.Link, ok && kept && j.Held.agrees(&b, &link)
}

// agrees reports whether a body of the record may be what a link states. One that was
// sent in a content coding has none of the digests of that form: it is, if the record was
// stored with the same statement about the bytes at its URL, which were verified then.
func (r *Record) agrees(b *websync.Body, link *websync.Link) bool {
	same := func(l websync.Link) bool {
		return l.Href == b.Link.Href && l.Length == link.Length && slices.Equal(l.Digests, link.Digests)
	}
	return !contradicts(*link, b.Link) ||
		b.Link.Href == link.Href && (same(r.Resource.Content) || slices.ContainsFunc(r.Resource.Links, same))
}

// contradicts reports whether stated has a length or a digest that differs from that of
// received.
func contradicts(stated, received websync.Link) bool {
	if n, ok := stated.StatedLength(); ok {
		if m, ok := received.StatedLength(); ok && n != m {
			return true
		}
	}
	d, ok := stated.Digests.Strongest()
	return ok && !slices.Contains(received.Digests, d)
}

// Request returns the request of Obtain. A Get that changes Accept, or what else chooses
// the representation, must remove LastModified from the Validator, since it may hold for
// another representation. An ETag does not.
func (j *Job) Request(name string, link websync.Link) *Request {
	req := &Request{URL: link.Href, Root: j.run.root, Accept: link.Type, Identity: link.Verifiable() && link.Encoding == ""}
	if held, ok := j.agreeing(name, link); ok && held.Href == link.Href && !j.fresh {
		req.Validator = j.Held.Validator(link.Href)
	}
	return req
}

// Fetch gets one representation through the Fetcher of the run, within its Budget. The
// Validator of the answer is stored with the record, unless the Request has a Header,
// which may choose among representations at the same URL.
func (j *Job) Fetch(ctx context.Context, req *Request) (*Response, error) {
	resp, err := j.run.bodies.Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	if j.asked == "" {
		j.asked = resp.header("Date")
	}
	if len(req.Header) == 0 {
		j.remember(req.URL, resp.Validator)
	}
	return resp, nil
}

func (j *Job) remember(url string, v Validator) {
	j.validators = slices.DeleteFunc(j.validators, func(old Validator) bool { return old.URL == url })
	if !v.IsZero() {
		v.URL = url
		j.validators = append(j.validators, v)
	}
}

// obtained returns when the bodies were obtained, as far as it is known by the
// publisher's clock.
func (j *Job) obtained() time.Time {
	if at := parseDate(j.asked); !at.IsZero() {
		return at
	}
	return j.run.clock()
}

// maxAlso limits the links of Harvester.Also that are followed from one resource, and
// maxBodies all that Obtain gets for it.
const (
	maxAlso   = 1000
	maxBodies = 2000
)

// also obtains what the links of the resource lead to that Harvester.Also names, unless
// Get has.
func (j *Job) also(ctx context.Context) error {
	links := j.run.alsoOf(&j.Resource)
	if len(links) > maxAlso {
		text := fmt.Sprintf("%s has %d such links: only %d are followed", websync.RedactURL(j.Resource.ID), len(links), maxAlso)
		j.Report(ruleAlso.Finding(j.run.key, 0, 0, "", []byte(links[maxAlso].Href), text))
		links = links[:maxAlso]
	}
	for _, link := range links {
		name := j.Resource.BodyName(&link)
		if slices.ContainsFunc(j.bodies, func(b websync.Body) bool { return b.Name == name }) {
			continue
		}
		if len(link.Digests) == 0 {
			link.Length = 0 // feeds state any
		}
		err := j.Obtain(ctx, name, link)
		if !errors.Is(err, websync.ErrGone) && !errors.Is(err, ErrForbidden) {
			if err != nil {
				return err
			}
			continue
		}
		text := err.Error() + ": left out of " + websync.RedactURL(j.Resource.ID)
		j.Report(ruleAlso.Finding(j.run.key, 0, 0, "", []byte(link.Href), text))
	}
	return nil
}

// checkBodies returns an error if a resource has as many bodies as it may have, or if
// these alone exceed the Quota, and what is held of it.
func (j *Job) checkBodies() error {
	if len(j.bodies) >= maxBodies {
		return fmt.Errorf("more than %d bodies: %w", maxBodies, websync.ErrLimit)
	}
	limit := j.run.h.Quota.Bodies
	if limit <= 0 {
		return nil
	}
	taken, held := amountsOf(&websync.Item{Bodies: j.bodies}), amounts{}
	if j.Held != nil {
		held = amountsOf(&j.Held.Item)
	}
	if taken[ofBodies] <= max(limit, held[ofBodies]) {
		return nil
	}
	return &QuotaError{Limit: quotaLimits[ofBodies].field, Max: limit, Held: taken[ofBodies]}
}

// alsoOf returns the links of a resource that Harvester.Also names.
func (r *run) alsoOf(of *websync.Resource) (links []websync.Link) {
	for i := range of.Links {
		l := &of.Links[i]
		_, end := syntax.SplitHTTP(l.Href)
		if end > 0 && l.Href != of.Content.Href && slices.Contains(r.h.Also, cmp.Or(l.Rel, "alternate")) {
			links = append(links, *l)
		}
	}
	return links
}

// Reuse keeps the held body with the given name, for example after a Response that is
// NotModified. It returns [websync.ErrNotFound] if there is none.
func (j *Job) Reuse(name string) (websync.Body, error) {
	b, ok := j.held(name)
	if !ok {
		return b, fmt.Errorf("body %q: %w", name, websync.ErrNotFound)
	}
	j.add(b)
	return b, nil
}

// held returns the held body with the given name.
func (j *Job) held(name string) (b websync.Body, ok bool) {
	if j.Held != nil {
		b, ok = j.Held.Body(name)
	}
	return b, ok
}

// ReuseAll keeps all held bodies and validators that this Job has not kept or reused. A
// Get calls it if nothing is new. It returns [websync.ErrNotFound] if Held is nil.
func (j *Job) ReuseAll() error {
	if j.Held == nil {
		return fmt.Errorf("bodies of %.200q: %w", j.Resource.ID, websync.ErrNotFound)
	}
	for _, b := range j.Held.Bodies {
		if !slices.ContainsFunc(j.bodies, func(kept websync.Body) bool { return kept.Name == b.Name }) {
			j.bodies = append(j.bodies, b)
		}
	}
	for _, v := range j.Held.Validators {
		if !slices.ContainsFunc(j.validators, func(known Validator) bool { return known.URL == v.URL }) {
			j.validators = append(j.validators, v)
		}
	}
	return nil
}

// NotYet returns an error, with the text why, by which Get asks the engine to try again
// not before at, or in the next run if at is zero.
func (j *Job) NotYet(at time.Time, why string) error { return &notYetError{at, why} }

type notYetError struct {
	at  time.Time
	why string
}

func (e *notYetError) Error() string         { return e.why }
func (e *notYetError) RetryAfter() time.Time { return e.at }
func (e *notYetError) Is(target error) bool  { return target == ErrNotYet }

// Open opens the held body with the given name, or returns [websync.ErrNotFound].
func (j *Job) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	b, ok := j.held(name)
	if !ok {
		return nil, fmt.Errorf("body %q: %w", name, websync.ErrNotFound)
	}
	defer j.run.ours()
	return j.run.catalog.Open(ctx, b)
}

func (j *Job) add(b websync.Body) {
	j.bodies = slices.DeleteFunc(j.bodies, func(old websync.Body) bool { return old.Name == b.Name })
	j.bodies = append(j.bodies, b)
}

func (j *Job) discard() {
	for _, w := range j.writers {
		w.Discard()
	}
	j.writers = nil
}

// Report receives a departure of the resource from its specification, as [Run].Report
// does.
func (j *Job) Report(f websync.Finding) { j.run.finding(f) }

// Log returns the logger of the run. It is never nil.
func (j *Job) Log() *slog.Logger { return j.run.log }
