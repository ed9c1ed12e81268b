// Package fetch gets documents and bodies over HTTP for package harvest, politely and
// with limits. A [Client] is a [harvest.Fetcher]; one Client serves any number of sources
// and goroutines. Every setting is a field of Client whose zero value is the recommended
// one.
//
// # Politeness
//
// A host is a scheme, a name and a port. Each gets at most 5 requests a second, 4 at a
// time, 32 at a time over all hosts; a transfer counts until its body is closed or read
// to the end. Crawl-delay in robots.txt makes the interval longer, up to a minute.
// Retry-After closes the host for everybody until that moment, a 429 or 503 at least for
// a while that grows from answer to answer. A Fetch that would have to wait longer than 5
// minutes fails at once, with an error that matches [harvest.ErrNotYet] and
// [harvest.ErrTemporary] and states when to come back. [Client.Waiting] returns the hosts
// that are waited for.
//
// robots.txt is read as RFC 9309 says, kept for 24 hours and then asked for again with a
// conditional request. What it forbids is an error that matches [harvest.ErrForbidden]. A
// status of 4xx means that there is none, except for those that may pass (408, 421, 425,
// 429). While it can't be reached, what was read before stays in force; if nothing was,
// nothing is fetched from the host for 30 days. It is then asked for after a minute at
// first, later every hour.
//
// With a [websync.State] processes share one gate for each host: together they keep its
// interval and its Retry-After, as far as their clocks agree. Every request moves the
// gate on with compare-and-swap. Where the interval is shorter than 50 ms a process
// reserves half a second instead, and a host without an interval is looked up as often.
// The limits of concurrency are those of one process.
//
// With a State all this survives a restart, too, but for a robots.txt of more than 16
// KiB, which is then read again. What the State holds of a host is deleted 30 days after
// the host was asked last, and there are at most 4,096 hosts of which it holds anything.
//
// # Failures
//
// A request that fails for a reason that may pass is made again, 4 times in all, after a
// random wait below 1, 2, 4, … seconds: broken and refused connections, time-outs, status
// 408, 425, 429, 500, 502, 503 and 504. With [harvest.Request] Spool this covers the
// body, too. testdata/retries.md shows what happens in each case, when, and for how long.
//
// A body that breaks off after 64 KiB or more is resumed where it was, spooled or not, if
// the server has stated a strong ETag, or without an ETag a Last-Modified that is older
// than its answer by a minute, and doesn't say that it has no ranges (RFC 9110 §13.1.5,
// §14). Each request for the rest is one of the attempts. Its answer must go on at the
// same byte of the same representation. If it doesn't, a spooled body is read from the
// start again, while the reader of one that is not spooled gets an error that matches
// [harvest.ErrTemporary] and [websync.ErrTruncated]. What is resumed is the body as it
// comes over the wire, in gzip or not.
//
// Other errors are final: [*StatusError] for an answer that is not a success,
// [*RequestError] for everything else. They match websync.ErrGone (404 and 410),
// harvest.ErrForbidden or harvest.ErrTemporary, and [websync.ErrLimit] or
// [websync.ErrTruncated] where that is the reason. URLs in errors and logs are without
// user name, password and the values of query parameters that look like secrets.
//
// # Limits
//
// A body has at most 1 GiB after decompression, as much and an eighth more as it comes,
// and at most 200 times its compressed size once it is over 10 MiB. 30 seconds without a
// byte end an attempt, and so do less than 8 KiB of a body in a minute, or 30 minutes in
// all; of a body that is resumed, all parts count together, but not the waits between
// them. At most 10 redirects are followed.
//
// A body that ends early doesn't end in io.EOF, with one exception: an answer of HTTP/1.0
// or 1.1 that has neither a Content-Length nor chunks ends where its connection does: a
// connection that is closed early goes unnoticed. Its Response has MayBeCut and no
// Validator, so that no later answer of "not modified" confirms half of a representation.
// What the source states of it, a length or a digest, is verified as ever, and a body in
// gzip has an end of its own.
//
// # Trust
//
// Addresses that are not public (private, loopback, link-local and the like) are refused
// when the connection is made. The origin of the URL that the user named as the source
// may have one: the address that stands in the URL, loopback for localhost, and for any
// other name the addresses that it has when it is first asked, if none of them is public;
// a link-local one is refused even then. Other private addresses that the name resolves
// to later are refused, and a name that was public stays so, with a State in later runs,
// too. A host of one's own network whose address changes needs [Client] AllowPrivate.
// Each redirect is checked like a first request. Credentials are given with
// [Client.Authorize] for one origin and sent to no other. There are no cookies, no
// Referer, and no proxy from the environment: a [Client] with its own Transport has what
// that has.
package fetch
