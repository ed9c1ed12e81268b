package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/websync-go/websync/examples/internal/cli"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/harvest/schedule"
)

// refused returns what the command writes when it refuses its arguments.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // what is not refused ends at once
	require.Equal(t, cli.Failed, (&relayCommand{Console: cli.NewConsole("relay", &stdout, &stderr)}).run(ctx, args), args)
	assert.Empty(t, stdout.String())
	text, ok := strings.CutPrefix(stderr.String(), "relay: ")
	require.True(t, ok, stderr.String())
	return strings.TrimSuffix(text, "\n"+"usage: websync relay "+"; -h explains\n")
}

// TestBadConfiguration: each message names the file, the line, the field, its value, and
// what is right.
func TestBadConfiguration(t *testing.T) {
	source := func(fields string) string { return `{"sources": [{"url": "http://a.example/", ` + fields + `}]}` }
	publish := func(elements string) string {
		return `{"sources": [{"url": "http://a.example/"}],` + "\n" + `"publish": [` + elements + `]}`
	}
	for text, want := range map[string]string{
		``:                                     `1: the file ends where an object must be`,
		`{`:                                    `1: the file ends where } must be`,
		"{\n\"store\":":                        `2: store: the file ends where a text must be`,
		`[]`:                                   `1: an array: must be an object`,
		`{} {}`:                                `1: more follows after the end of the JSON object`,
		"{\n\"store\": \"mem\",\n x}":          `3: not JSON: invalid character 'x'`,
		"{\"store\": \"mem\",\n\"stores\": 1}": `2: stores: there is no such field; the fields here are store, addr, base, publish, sources, subscribers, hubs, rate, concurrency, allow_private, netrc, contact, user_agent, same_host, status, status_hosts, report, quota, retain`,
		`{"Store": "mem"}`:                     `1: Store: there is no such field; the fields here are store, `,
		`{"store": "mem", "store": "mem"}`:     `1: store: is there twice`,
		`{"store": null}`:                      `1: store: null: must be a text`,
		`{"rate": "5"}`:                        `1: rate: "5": must be a number`,
		`{"concurrency": 1.5}`:                 `1: concurrency: 1.5: must be a whole number`,
		`{"allow_private": 1}`:                 `1: allow_private: 1: must be true or false`,
		`{"sources": {}}`:                      `1: sources: an object: must be an array`,
		`{}`:                                   `1: sources: at least one source must be there`,
		"{\"sources\": [\n{}]}":                `2: sources[0].url: must be there`,
		"{\"sources\": [{\"url\": \"http://a/\"},\n{\"url\": \"http://a/\"}]}": `2: sources[1].url "http://a/": is sources[0], too: each source once`,
		"{\"sources\": [\n{\"url\":\n\"a.xml\"}]}":                             `3: sources[0].url "a.xml": not a URL that begins with http:// or https://`,
		source("\"include\": [\"/a/**\",\n\"a/\"]"):                            `2: sources[0].include[1] "a/": not a pattern: an element that is empty, one dot or two`,
		source(`"exclude": ["re:("]`):                                          `1: sources[0].exclude[0] "re:(": not a pattern: error parsing regexp: missing closing ): ` + "`(`",
		`{"contact": "a\nb"}`:                                                  `1: contact "a\nb": has a control character`,
		`{"store": "my.db"}`:                                                   `1: store "my.db": not one of mem, sqlite:FILE, postgres:DSN`,
		`{"addr": "8080"}`:                                                     `1: addr "8080": not HOST:PORT`,
		`{"status": "8081"}`:                                                   `1: status "8081": not HOST:PORT`,
		`{"base": "example.org"}`:                                              `1: base "example.org": not a URL that begins with http:// or https://, without a query`,
		`{"rate": -1}`:                                                         `1: rate -1: not a number of requests a second`,
		`{"concurrency": -1}`:                                                  `1: concurrency -1: not a number of sources, 1 or more`,
		`{"report": "http://a/"}`:                                              `1: report "http://a/": not the name of a file`,
		"{\"hubs\": [\"http://a/\",\n\"b\"]}":                                  `2: hubs[1] "b": not a URL that begins with http:// or https://`,
		`{"subscribers": ["?token=secret"]}`:                                   `1: subscribers[0] "?token=xxxxx": not a URL that begins with http:// or https://`,
		`{"retain": {"bodies": 36501}}`:                                        `1: retain.bodies 36501: not a number of days up to 36500`,

		source(`"protocol": "dir"`):                                 `1: sources[0].protocol "dir": not one of auto, sitemap, atom, atompmh, resourcesync, rinfo, eli`,
		source(`"feed": "http://a/"`):                               `1: sources[0].feed "http://a/": only for protocol eli`,
		source(`"protocol": "eli", "feed": "x"`):                    `1: sources[0].feed "x": not a URL that begins with http:// or https://`,
		source(`"protocol": "atom", "complete": true`):              `1: sources[0].complete true: only for sitemaps: what atom deletes, it states`,
		source(`"acts": {"linked": true}, "protocol": "atom"`):      `1: sources[0].acts.linked true: only for protocol eli`,
		source("\"acts\": {\n\"languages\": [\"fr\", \"French\"]}"): `2: sources[0].acts.languages "fr,French": not language tags, or codes of three letters, such as fr,nld`,
		source(`"acts": {"formats": ["paper"]}`):                    `1: sources[0].acts.formats "paper": not media types, or file types, such as html,application/pdf`,
		source(`"acts": {"resync_every": "0s"}`):                    `1: sources[0].acts.resync_every "0s": not a time such as "8760h"`,
		source(`"every": "5"`):                                      `1: sources[0].every "5": not a time such as "90s", "15m" or "1h30m"`,
		source(`"every": "0s"`):                                     `1: sources[0].every "0s": not a time such as`,
		source("\n" + `"jitter": "-1s"`):                            `2: sources[0].jitter "-1s": not a time such as`,
		source(`"interval": "soon"`):                                `1: sources[0].interval "soon": not a time such as`,
		source(`"daily": ["03:30", "24:00"]`):                       `1: sources[0].daily[1] "24:00": not a time of the day such as "03:30"`,
		source(`"daily": ["03:30"], "every": "1h"`):                 `1: sources[0].every "1h": daily is in its place: leave one of them out`,
		source(`"daily": ["03:30"], "zone": "Stockholm"`):           `1: sources[0].zone "Stockholm": not a time zone such as "Europe/Stockholm"`,
		source(`"zone": "Europe/Stockholm"`):                        `1: sources[0].zone "Europe/Stockholm": only with daily`,
		source(`"budget": {"time": "x"}`):                           `1: sources[0].budget.time "x": not a time such as`,
		source(`"budget": {"requests": -1}`):                        `1: sources[0].budget.requests -1: not a number of requests, 1 or more`,
		source(`"budget": {"bytes": -1}`):                           `1: sources[0].budget.bytes -1: not a number of bytes, 1 or more`,
		source(`"budget": {"byte": 1}`):                             `1: sources[0].budget.byte: there is no such field; the fields here are time, requests, bytes`,
		source(`"pings": ["x"]`):                                    `1: sources[0].pings[0] "x": not a URL that begins with http:// or https://`,
		source(`"payloads": true`):                                  `1: sources[0].payloads true: needs base: the hub must reach this program`,
		source(`"hub": "http://h/"`):                                `1: sources[0].hub "http://h/": needs base: the hub must reach this program`,
		`{"base": "http://b/", ` + source(`"hub": "h"`)[1:]:         `1: sources[0].hub "h": not a URL that begins with http:// or https://`,
		publish(`{}`):                  `2: publish[0].protocol "": not one of sitemap, atom, atompmh, resourcesync, rinfo`,
		publish(`{"protocol": "eli"}`): `2: publish[0].protocol "eli": not possible: only the publisher of an ELI can list it, and a relay publishes the work of others`,
		publish(`{"protocol": "atom"}, {"protocol": "atom"}`):                                     `2: publish[1].protocol "atom": given twice: each protocol can be there once`,
		publish(`{"protocol": "atom"},` + "\n" + `{"protocol": "rinfo"}`):                         `3: publish[1].protocol "rinfo": atom and rinfo both have a document /feed.atom: give one of them another path in a configuration file, such as "rinfo/feed.atom"`,
		publish(`{"protocol": "atom", "path": "resourcelist.xml"}, {"protocol": "resourcesync"}`): `2: publish[1].protocol "resourcesync": atom and resourcesync both have a document /resourcelist.xml: `,
		publish(`{"protocol": "sitemap", "path": "x/sitemap.xml"}`):                               `2: publish[0].path "x/sitemap.xml": a sitemap must be in the directory of the base`,
		publish(`{"protocol": "atom", "path": "notify/x"}`):                                       `2: publish[0].path "notify/x": not a path below the base, such as "lists/feed.atom", of letters, digits, and -._~, and not below notify/ or r/`,
		publish(`{"protocol": "atom", "path": "/x"}`):                                             `2: publish[0].path "/x": not a path below the base`,
		publish(`{"protocol": "atom", "path": "../x"}`):                                           `2: publish[0].path "../x": not a path below the base`,
		publish(`{"protocol": "atom", "path": "x?y"}`):                                            `2: publish[0].path "x?y": not a path below the base`,
		publish(`{"protocol": "atom", "path": "r/x"}`):                                            `2: publish[0].path "r/x": not a path below the base`,
		publish(`{"protocol": "atom", "dumps": "d"}`):                                             `2: publish[0].dumps "d": only resourcesync has dumps`,
		publish(`{"protocol": "atom", "list_size": 1}`):                                           `2: publish[0].list_size 1: only resourcesync has Change Lists`,
		publish(`{"protocol": "atom", "max_lists": 1}`):                                           `2: publish[0].max_lists 1: only resourcesync has Change Lists`,
		publish(`{"protocol": "resourcesync", "list_size": -1}`):                                  `2: publish[0].list_size -1: not a number of changes, 1 or more`,
		publish(`{"protocol": "atom", "inline": -1}`):                                             `2: publish[0].inline -1: not a number of bytes, 0 or more`,
		publish(`{"protocol": "rinfo", "inline": 1}`):                                             `2: publish[0].inline 1: only atom has content in entries`,
		publish(`{"protocol": "resourcesync", "max_lists": -1}`):                                  `2: publish[0].max_lists -1: not a number of lists, 1 or more`,
		publish(`{"protocol": "resourcesync", "repack": "0s"}`):                                   `2: publish[0].repack "0s": not a time such as`,
	} {
		t.Run(text, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "relay.json")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			got := refused(t, "-config", file)
			assert.True(t, strings.HasPrefix(got, file+":"+want), "%s\nwant %s", got, file+":"+want)
		})
	}
}

// TestRelayUsage: the same errors name flags.
func TestRelayUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "relay.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"sources": [{"url": "http://a.example/"}]}`), 0o644))
	for args, want := range map[string]string{
		"":                                  "nothing to harvest: name URLs, or a file with -config",
		"-as dir http://a.example/":         `-as "dir": not one of sitemap, atom, atompmh, resourcesync, rinfo`,
		"-as atom -as atom http://a/":       `-as "atom": given twice: each protocol can be there once`,
		"-as atom -as rinfo http://a/":      `-as "rinfo": atom and rinfo both have a document /feed.atom: `,
		"-protocol dir http://a.example/":   `-protocol "dir": not one of auto, `,
		"-every x http://a.example/":        `-every "x": not a time such as "90s", "15m" or "1h30m"`,
		"-store x http://a.example/":        `-store "x": not one of mem, sqlite:FILE, postgres:DSN`,
		"-store pg://u:pw@x/ http://a/":     `-store "pg://x/": not one of mem, sqlite:FILE, postgres:DSN`,
		"-addr x http://a.example/":         `-addr "x": not HOST:PORT`,
		"-status x http://a.example/":       `-status "x": not HOST:PORT`,
		"-base x http://a.example/":         `-base "x": not a URL that begins with http:// or https://, without a query`,
		"-report http://x http://a/":        `-report "http://x": not the name of a file`,
		"-rate -1 http://a.example/":        "-rate -1: not a number of requests a second",
		"sitemap.xml":                       `URL "sitemap.xml": not a URL that begins with http:// or https://`,
		"-config " + file + " -every 1h":    "-every is for URLs on the command line: with -config the file has it for each source",
		"-config " + file + " http://b/":    `"http://b/": with -config the sources are in the file`,
		"-config " + file + " -addr x":      `-addr "x": not HOST:PORT`,
		"-config /nothing":                  "-config: open /nothing: no such file or directory",
		"-protocol atom -complete http://a": "-complete true: only for sitemaps: what atom deletes, it states",
	} {
		got := refused(t, strings.Fields(args)...)
		assert.True(t, strings.HasPrefix(got, want), "%s\n%s", args, got)
	}
}

// TestRelayHelp: -h explains every field and has the sample, which is a good
// configuration.
func TestRelayHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	p := &relayCommand{Console: cli.NewConsole("relay", &stdout, &stderr)}
	require.Equal(t, exitDone, p.run(t.Context(), []string{"-h"}))
	assert.Empty(t, stderr.String())
	assert.Equal(t, relayHelp, stdout.String())
}

// TestRelayReference: the help explains each field of a configuration file. Its sample is
// that of README.md, and a configuration.
func TestRelayReference(t *testing.T) {
	_, reference, _ := strings.Cut(relayHelp, "\nThe configuration file")
	for _, object := range []any{config{}, configSource{}, configBudget{}, configQuota{}, configPublish{}} {
		for field := range reflect.TypeOf(object).Fields() {
			assert.Contains(t, reference, "\n  "+field.Tag.Get("json")+"\n    \t", field.Name)
		}
	}
	_, sample, _ := strings.Cut(reference, "\nFor example:\n\n")
	sample, _, ok := strings.Cut(sample, "\n\n")
	require.True(t, ok)
	sample = strings.TrimPrefix(strings.ReplaceAll("\n"+sample, "\n    ", "\n"), "\n") + "\n"
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), "```json\n"+sample+"```\n")
	file := filepath.Join(t.TempDir(), "relay.json")
	require.NoError(t, os.WriteFile(file, []byte(sample), 0o600))
	s, err := parseRelay([]string{"-config", file})
	require.NoError(t, err)
	assert.Len(t, s.publications, 3)
	assert.Len(t, s.sources, 3)
}

// TestSettings: what is configured is what is done.
func TestSettings(t *testing.T) {
	config := configured(t, `{
		"store": "mem", "addr": "localhost:1", "rate": 2, "retain": {"log": 3, "bodies": -1},
		"sources": [
			{"url": "http://me:pass@a.example/", "every": "2h", "jitter": "0s", "interval": "0s"},
			{"url": "http://b.example/", "daily": ["03:30", "23:59:59"], "zone": "Europe/Stockholm", "jitter": "1m", "interval": "30s",
			 "budget": {"time": "1h", "requests": 2, "bytes": 3}},
			{"url": "http://c.example/", "protocol": "sitemap", "complete": true, "every": "never"},
			{"url": "http://d.example/", "quota": {"bodies": 5, "description": -1, "entries": -1}}
		], "quota": {"records": 7, "bodies": 8, "description": 9}}`)
	s, err := parseRelay([]string{config, "-addr", "localhost:2", "-base", "http://m.example/x", "-as", "sitemap", "-as", "atom"})
	require.NoError(t, err)
	assert.Equal(t, "mem localhost:2 http://m.example/x/", s.Store+" "+s.Addr+" "+s.Base)
	assert.Equal(t, 2.0, s.Rate)
	assert.Equal(t, harvest.Retention{Log: 72 * time.Hour, Bodies: -24 * time.Hour}, cli.Retention(s.Retain.Log, s.Retain.Bodies))
	require.Len(t, s.publications, 2)
	assert.Equal(t, "sitemap atom", s.publications[0].Protocol+" "+s.publications[1].Protocol)
	var entries []schedule.Entry
	for _, f := range s.sources {
		entries = append(entries, f.entry)
	}
	stockholm, err := time.LoadLocation("Europe/Stockholm")
	require.NoError(t, err)
	quota := harvest.Quota{Records: 7, Bodies: 8, Descriptions: defaultQuota.Descriptions, Description: 9, Entries: defaultQuota.Entries}
	assert.Equal(t, []schedule.Entry{
		{Every: 2 * time.Hour, Jitter: -1, Interval: -1, Quota: quota},
		{
			Daily: []time.Duration{3*time.Hour + 30*time.Minute, 24*time.Hour - time.Second}, Zone: stockholm, Jitter: time.Minute, Interval: 30 * time.Second,
			Budget: harvest.Budget{Time: time.Hour, Requests: 2, Bytes: 3}, Quota: quota,
		},
		{Every: -1, Quota: quota},
		{Quota: harvest.Quota{Records: 7, Bodies: 5, Descriptions: defaultQuota.Descriptions, Description: -1, Entries: -1}},
	}, entries)
	assert.Equal(t, "http://a.example/", s.sources[0].target.URL)
	assert.NotNil(t, s.sources[0].target.Sign)
	assert.True(t, s.sources[2].target.Complete)
}
