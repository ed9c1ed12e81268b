package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// ServeHTTP answers hubs. The last segment of the path identifies the subscription; the
// segments before it do not matter.
//
// GET (WebSub §5.2, §5.3): it echoes the challenge if it belongs to a request of this
// Subscriber for the same topic, and notes a denial. The answer to anything else is 404.
//
// POST (WebSub §7): the answer to a notice is 202, genuine or not; it is 410 if there is
// no such subscription. A notice is genuine if X-Hub-Signature was made with the secret
// of the subscription by sha1, sha256, sha384 or sha512. SHA-1 is accepted because HMAC
// does not depend on the collision resistance that it has lost, and many hubs support
// nothing else. A subscription at a hub of http has no secret: only its callback, which
// cannot be guessed, protects it.
//
// The answer is 503 if the State cannot be read, and 405 to another method.
func (s *Subscriber) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.start()
	if s.State == nil || s.Notify == nil {
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	token := path.Base(r.URL.Path)
	switch r.Method {
	case http.MethodGet:
		s.verify(w, r, token)
	case http.MethodPost:
		s.receive(w, r, token)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "hubs send GET and POST requests", http.StatusMethodNotAllowed)
	}
}

// verify answers a hub that verifies a request, or denies a subscription.
func (s *Subscriber) verify(w http.ResponseWriter, r *http.Request, token string) {
	query := r.URL.Query()
	var (
		h             *held
		agreed, begun bool
	)
	err := s.changeByToken(r.Context(), token, func(rec *record) {
		h = rec.byToken(token)
		active := h.active(now())
		agreed = h.Topic == query.Get("hub.topic") && rec.agree(h, query, s.lease())
		begun = agreed && !active && h.Status == Active
	})
	if err != nil {
		s.unavailable(w, err)
		return
	}
	if !agreed {
		if h != nil {
			h.logger(s.log).Warn("notify: hub verifies what was not requested", "mode", query.Get("hub.mode"))
		}
		http.Error(w, "no such request", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	io.WriteString(w, query.Get("hub.challenge"))

	log := h.logger(s.log)
	switch h.Status {
	case Active:
		log.Info("notify: subscription confirmed", "expires", h.Expires)
	case Denied:
		log.Warn("notify: subscription denied", "error", h.Error)
	case ended:
		log.Info("notify: subscription ended")
	}
	s.raise()
	if begun {
		s.report(h)
	}
}

// changeByToken makes f change the record with a token. If there is none, f is not
// called.
func (s *Subscriber) changeByToken(ctx context.Context, token string, f func(*record)) error {
	id, ok := find(token)
	if !ok {
		return nil
	}
	return s.change(ctx, id, func(r *record) *record {
		if r.byToken(token) != nil {
			f(r)
		}
		return r
	})
}

// agree changes h to what a hub states about it, and reports whether that is an answer to
// a request of this Subscriber. A hub must state the lease (WebSub §5.3); if it does not,
// that is the requested one.
func (r *record) agree(h *held, query url.Values, requested time.Duration) bool {
	mode, challenged := query.Get("hub.mode"), query.Get("hub.challenge") != ""
	switch {
	case mode == "subscribe" && challenged && h.wanted():
		r.confirm(h, now(), granted(query.Get("hub.lease_seconds"), requested))
	case mode == "unsubscribe" && challenged && h.Status == Ending:
		h.Status = ended
	case mode == "denied" && h.Status == Ending:
		h.Status = ended
	case mode == "denied" && (h.wanted() || h.Status == Denied):
		r.deny(h, now(), fmt.Sprintf("denied: %.200q", query.Get("hub.reason")))
	default:
		return false
	}
	return true
}

// granted returns the lease that a hub states, within limits, or the requested one if it
// states none.
func granted(seconds string, requested time.Duration) time.Duration {
	n, err := strconv.ParseUint(seconds, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || n == 0 {
		return max(requested, shortest)
	}
	return max(time.Duration(min(n, uint64(longest/time.Second)))*time.Second, shortest)
}

// receive handles a notice. The answer does not reveal whether it is genuine.
func (s *Subscriber) receive(w http.ResponseWriter, r *http.Request, token string) {
	h, err := s.loadByToken(r.Context(), token)
	if err != nil {
		s.unavailable(w, err)
		return
	}
	if h == nil || !h.wanted() {
		http.Error(w, "no such subscription", http.StatusGone)
		return
	}
	body := r.Body
	if limit := cmp.Or(s.MaxBody, 64<<20); limit >= 0 {
		body = http.MaxBytesReader(w, body, limit)
	}
	payload := &payloadBuffer{max: s.maxPayload(h)}
	select { // a hub may send many notices at once, and slowly
	case s.reads <- struct{}{}:
		defer func() { <-s.reads }()
	default:
		payload.max = 0
	}
	ok, err := hasValidSignature(h.Secret, r.Header.Get("X-Hub-Signature"), io.TeeReader(body, payload))
	w.WriteHeader(http.StatusAccepted)

	log := h.logger(s.log)
	switch {
	case err != nil:
		log.Warn("notify: notice not read", "error", err)
	case !ok:
		log.Warn("notify: notice without a valid signature")
	case payload.Len() > 0:
		log.Debug("notify: notice", "bytes", payload.Len())
		s.known(h, s.Payload(h.URL, payload.Bytes()))
	default:
		log.Debug("notify: notice")
		s.report(h)
	}
}

// maxPayload returns how many bytes of a notice Payload may receive: none if its sender
// is not proven.
func (s *Subscriber) maxPayload(h *held) int64 {
	switch limit := cmp.Or(s.MaxPayload, 1<<20); {
	case s.Payload == nil || h.Secret == "":
		return 0
	case limit < 0:
		return math.MaxInt64
	default:
		return limit
	}
}

// A payloadBuffer keeps what is written to it, or nothing if that is more than max bytes.
type payloadBuffer struct {
	bytes.Buffer
	max  int64
	long bool
}

func (b *payloadBuffer) Write(p []byte) (int, error) {
	if b.long = b.long || int64(b.Len()) > b.max-int64(len(p)); b.long {
		b.Buffer = bytes.Buffer{}
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

func (s *Subscriber) loadByToken(ctx context.Context, token string) (*held, error) {
	id, ok := find(token)
	if !ok {
		return nil, nil
	}
	r, err := s.load(ctx, id)
	return r.byToken(token), err
}

func (s *Subscriber) report(h *held) { s.known(h, s.Notify(h.URL)) }

// known logs a notice whose URL no source has.
func (s *Subscriber) known(h *held, ok bool) {
	if !ok {
		h.logger(s.log).Warn("notify: no source has the URL")
	}
}

func (s *Subscriber) unavailable(w http.ResponseWriter, err error) {
	s.log.Warn("notify: subscription not read", "error", err)
	http.Error(w, "try again later", http.StatusServiceUnavailable)
}

// hasValidSignature reports whether the signature of the body was made with secret
// (WebSub §7.1).
func hasValidSignature(secret, signature string, body io.Reader) (bool, error) {
	if secret == "" {
		return true, nil
	}
	method, text, _ := strings.Cut(signature, "=")
	sum, err := hex.DecodeString(text)
	newHash := hashOf(method)
	if err != nil || newHash == nil {
		return false, nil
	}
	mac := hmac.New(newHash, []byte(secret))
	if _, err := io.Copy(mac, body); err != nil {
		return false, err
	}
	return hmac.Equal(mac.Sum(nil), sum), nil
}

// hashOf returns the algorithm of a name, or nil (WebSub §7.1.1).
func hashOf(method string) func() hash.Hash {
	switch method {
	case "sha1":
		return sha1.New
	case "sha256":
		return sha256.New
	case "sha384":
		return sha512.New384
	case "sha512":
		return sha512.New
	}
	return nil
}
