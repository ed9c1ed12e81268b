package status

import (
	"errors"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/internal/display"
)

// A reason is why something failed, without what differs from one failure to the next.
type reason struct {
	name   string
	advice string // what can be done, in a sentence; or empty
}

// reasonOf returns the reason in an error about a resource.
func reasonOf(err error, id string) reason {
	var answer interface{ StatusCode() int }
	if errors.As(err, &answer) && answer.StatusCode() != 0 {
		return reason{answeredWith(answer.StatusCode()), statusAdvice(answer.StatusCode())}
	}
	text := err.Error()
	var request interface{ RequestURL() string }
	if errors.As(err, &request) {
		if _, after, ok := strings.Cut(text, request.RequestURL()+": "); ok {
			text = after
		}
	}
	if id != "" {
		text = strings.TrimPrefix(text, id+": ")
	}
	return reason{display.Shape(display.Shown(text)), adviceOf(err)}
}

// answeredWith returns the reason of a failure that is an answer of the server.
func answeredWith(status int) string { return "the server answered with status " + statusName(status) }

func statusAdvice(status int) string {
	switch status {
	case 401, 402, 403, 407, 451:
		return "The server refuses: it wants credentials, or does not want this program. Ask the publisher."
	case 404, 410:
		return "The publisher lists what its server does not have. " +
			"The next runs find out whether it stays so; tell the publisher."
	case 408, 425, 429, 503:
		return "The server is busy. Run again later, with fewer requests a second."
	}
	if status >= 500 {
		return "The server has a fault. Run again later; if it stays so, tell the publisher."
	}
	return ""
}

// adviceOf returns what can be done about an error that is not a status.
func adviceOf(err error) string {
	switch {
	case errors.Is(err, websync.ErrMismatch):
		return "The server sends other bytes than the publisher states, and the old copy stays. Tell the publisher."
	case errors.Is(err, websync.ErrNotDocument):
		return "The server sends something else, perhaps a login page. Look at it in a browser."
	case errors.Is(err, websync.ErrTruncated):
		return "The answer ended early. Run again; if it stays so, tell the publisher."
	case errors.Is(err, websync.ErrLimit):
		return "A limit that protects this program was reached. Raise it if the publisher is trusted."
	case errors.Is(err, harvest.ErrForbidden):
		return "robots.txt, or the guard against private addresses, forbids the request."
	case errors.Is(err, harvest.ErrTemporary):
		return "It may pass. Run again later."
	}
	return ""
}
