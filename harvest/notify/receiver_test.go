package notify

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
)

const formType = "application/x-www-form-urlencoded"

// notified records calls of Notify for the two topics on its list.
type notified []string

func (l *notified) notify(topic string) bool {
	if topic != feedURL && topic != "https://example.org/list.xml?a=1&b=2" {
		return false
	}
	*l = append(*l, topic)
	return true
}

func TestReceiver(t *testing.T) {
	const list = "https://example.org/list.xml?a=1&b=2"
	for name, tt := range map[string]struct {
		method, query, media, body string
		status                     int
		notified                   []string
	}{
		"as a Pinger sends it":      {media: formType, body: url.Values{"url": {feedURL}, "feed": {feedURL}}.Encode(), status: 202, notified: []string{feedURL, feedURL}},
		"feed alone":                {media: formType + "; charset=UTF-8", body: "feed=" + url.QueryEscape(feedURL), status: 202, notified: []string{feedURL}},
		"several":                   {media: formType, body: url.Values{"url": {"https://a.example/", feedURL, list}}.Encode(), status: 202, notified: []string{feedURL, list}},
		"with white space":          {media: formType, body: "url=+" + url.QueryEscape(feedURL) + "%0D%0A", status: 202, notified: []string{feedURL}},
		"in the query":              {query: "?url=" + url.QueryEscape(list), status: 202, notified: []string{list}},
		"text":                      {media: "text/plain; charset=utf-8", body: list + "\r\n", status: 202, notified: []string{list}},
		"text of several lines":     {media: "text/plain", body: feedURL + "\n" + list, status: 202, notified: []string{feedURL, list}},
		"text without a media type": {body: feedURL, status: 202, notified: []string{feedURL}},
		"text called a form":        {media: formType, body: list, status: 202, notified: []string{list}},
		"not on the list":           {media: formType, body: "url=https://internal.example/", status: 404},
		"other fields":              {media: formType, body: "topic=" + url.QueryEscape(feedURL), status: 404},
		"empty":                     {media: formType, status: 400},
		"white space":               {media: "text/plain", body: " \n", status: 400},
		"too large":                 {media: "text/plain", body: feedURL + strings.Repeat(" ", maxPing), status: 413},
		"many":                      {body: strings.Repeat(feedURL+"\n", maxPingURLs), status: 202, notified: slices.Repeat([]string{feedURL}, maxPingURLs)},
		"too many":                  {body: strings.Repeat(feedURL+"\n", maxPingURLs+1), status: 413},
		"GET":                       {method: "GET", query: "?url=" + url.QueryEscape(feedURL), status: 405},
		"HEAD":                      {method: "HEAD", status: 405},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.method == "" {
				tt.method = "POST"
			}
			req := httptest.NewRequest(tt.method, "/ping"+tt.query, strings.NewReader(tt.body))
			if tt.media != "" {
				req.Header.Set("Content-Type", tt.media)
			}
			var seen notified
			answer := httptest.NewRecorder()
			(&Receiver{Notify: seen.notify}).ServeHTTP(answer, req)
			assert.Equal(t, tt.status, answer.Code)
			assert.Equal(t, notified(tt.notified), seen)
			assert.Equal(t, map[bool]string{true: "POST"}[tt.status == 405], answer.Header().Get("Allow"))
			assert.NotContains(t, answer.Body.String(), "example", "nothing is sent back")
		})
	}
}

func TestReceiverWithoutAList(t *testing.T) {
	answer := httptest.NewRecorder()
	new(Receiver).ServeHTTP(answer, httptest.NewRequest("POST", "/ping", strings.NewReader(feedURL)))
	assert.Equal(t, http.StatusNotFound, answer.Code)
}

func TestReceiverWithARefusal(t *testing.T) {
	var seen notified
	for body, status := range map[string]int{feedURL: 202, "https://internal.example/": 403, "": 400} {
		answer := httptest.NewRecorder()
		r := &Receiver{Notify: seen.notify, Refusal: http.StatusForbidden}
		r.ServeHTTP(answer, httptest.NewRequest("POST", "/ping", strings.NewReader(body)))
		assert.Equal(t, status, answer.Code, "%q", body)
	}
}

func TestReceiverOfATruncatedPing(t *testing.T) {
	var seen notified
	answer := httptest.NewRecorder()
	body := io.MultiReader(strings.NewReader(feedURL), iotest.ErrReader(errors.New("reset")))
	(&Receiver{Notify: seen.notify}).ServeHTTP(answer, httptest.NewRequest("POST", "/ping", body))
	assert.Equal(t, http.StatusBadRequest, answer.Code)
	assert.Empty(t, seen)
}

// The log has no secrets of URLs.
func TestReceiverLogsNoSecrets(t *testing.T) {
	var log bytes.Buffer
	v := &Receiver{
		Notify: func(string) bool { return true },
		Log:    slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	w := httptest.NewRecorder()
	v.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/ping", strings.NewReader("https://h.example/feed?token=hunter2")))
	assert.Equal(t, http.StatusAccepted, w.Code)
	assert.Contains(t, log.String(), "token=xxxxx")
	assert.NotContains(t, log.String(), "hunter2")
}
