// Package fetch gets documents and bodies over HTTP for package harvest, politely and
// with limits. A [Client] is a [harvest.Fetcher]; one Client serves any number of sources
// and goroutines. Every setting is a field of Client whose zero value is the recommended
// one.
//
// # Politeness
//
// A host is a scheme, a name and a port. The Client makes at most 5 requests a second to
// a host, and has at most 4 transfers from it and 32 from all hosts at the same time; a
// transfer counts until its body is closed or read to the end. Crawl-delay in robots.txt
// makes the interval longer, up to a minute. So does Interval of a [harvest.Request],
// without a limit; it also applies in other processes until they set their own.
// Retry-After closes the host for all callers; an answer of 429 or 503 closes it at least
// for a time that grows with each such answer. A Fetch that would have to wait longer
// than 5 minutes fails at once, with an error that matches [harvest.ErrNotYet] and
// [harvest.ErrTemporary] and states when to come back. [Client.Waiting] returns the hosts
// for which calls wait.
//
// A host that refuses 5 requests of a run in a row, with 429 or 503, is left alone: all
// other requests of the run to it fail at once, with a [harvest.LeftAloneError], and so
// do those of other runs that began before the last refusal. The next run begins with one
// request; while that is answered the others wait, and if it is refused they fail. Lists
// and bodies are counted apart: see [Client] MaxRefusals. After an hour any run may ask
// once more.
//
// robots.txt is read as RFC 9309 specifies, used for 24 hours, and then requested again
// conditionally. What it forbids is an error that matches [harvest.ErrForbidden]. A
// status of 4xx means that there is none, except for temporary ones (408, 421, 425, 429).
// While robots.txt is unreachable, its last rules apply; without any, nothing is fetched
// from the host for 30 days. It is requested again after a minute at first, later after
// an hour.
//
// Processes with the same [websync.State] share the limits of each host: together they
// keep its interval and its Retry-After, as far as their clocks agree. A process reserves
// a host with compare-and-swap. While no other process wants the host it reserves it for
// longer and longer, up to 5 seconds; that is also how long a process waits at most,
// besides the interval, if the one before it has ended without
// [Client.CloseIdleConnections]. For an interval below 50 ms the reservation is at least
// half a second; a host without an interval is not reserved, but its gate is read every
// half second. The limits of concurrency are those of one process.
//
// With a State, all this also survives a restart, except for a robots.txt of more than 16
// KiB, which is read again. A State holds at most 4,096 hosts, each for 30 days after the
// last request to it. If there are more, those go first that the source with the most
// hosts lists: no source makes a Client forget the hosts of another.
//
// # Failures
//
// A request that fails for a temporary reason is repeated, up to 4 attempts in all, after
// a random wait below 1, 2, 4, … seconds: broken and refused connections, exceeded times,
// status 408, 425, 429, 500, 502, 503 and 504. With [harvest.Request] Spool this includes
// the body. testdata/retries.md lists what happens in each case, when, and for how long.
//
// A body that breaks off after 64 KiB or more is resumed, spooled or not, if the answer
// has a strong ETag, or no ETag and a Last-Modified at least a minute before its Date,
// and does not state that the server has no ranges (RFC 9110 §13.1.5, §14). Each request
// for the rest is one of the attempts. Its answer must continue at the same byte of the
// same representation. If it does not, a spooled body is read from the start again, and
// the reader of a body that is not spooled gets an error that matches
// [harvest.ErrTemporary] and [websync.ErrTruncated]. The bytes that are resumed are those
// of the transfer, gzip or not.
//
// Other errors are final: [*StatusError] for an answer that is not a success,
// [*RequestError] for everything else. They match websync.ErrGone (404 and 410),
// harvest.ErrForbidden or harvest.ErrTemporary, and [websync.ErrLimit] or
// [websync.ErrTruncated] if that is the reason. URLs in errors and logs are without user
// name, password and the values of query parameters that look like secrets.
//
// # Limits
//
// A decoded body has at most 1 GiB, its transfer an eighth more. A body over 10 MiB is at
// most 200 times as long as its gzip form. An attempt ends after 30 seconds without a
// byte, when a minute brings less than 8 KiB of a body, or after 30 minutes in all; the
// parts of a body that is resumed count together, without the waits between them. At most
// 10 redirects are followed. If they lead in a circle and set cookies, they are followed
// once more with these, which are used for that request only. A body that is not gzip,
// although its Content-Encoding says so, is read as it is if its first bytes are of a
// known type.
//
// A body that ends early does not end in io.EOF, with one exception: if an answer of
// HTTP/1.0 or 1.1 has neither a Content-Length nor chunks, the end of the connection is
// the end of the body, and a connection that breaks goes unnoticed. Such a Response has
// MayBeCut and no Validator, so that no later "not modified" confirms half of a
// representation. A length or digest that the source states is verified as always, and a
// gzip body has an end of its own.
//
// # Trust
//
// Addresses that are not public (private, loopback, link-local and the like) are refused
// when the connection is made. The origin of the URL that the user has named as the
// source may have such an address: the address in the URL; loopback for localhost; for
// any other name the addresses that it has at first, if none of them is public. A
// link-local address is refused even then. Other private addresses to which the name
// resolves later are refused, and a name that was public remains public, with a State
// also in later runs. A host in the user's own network whose address changes needs
// [Client] AllowPrivate.
//
// Each redirect is checked as a first request is. Credentials are set with
// [Client.Authorize] for one origin and sent to no other. There are no cookies, no
// Referer, and no proxy unless [Client] Proxy or Transport has one.
package fetch
