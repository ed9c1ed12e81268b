package websync

import (
	"net/url"
	"strings"
)

// secretNames are parts of the names of parameters whose values are secret.
var secretNames = [...]string{
	"key", "token", "secret", "pass", "pwd", "sig", "auth", "credential", "session", "jwt",
}

// RedactURL returns a URL as errors, reports and logs print it. It removes the user name
// and the password, and replaces the values of parameters whose names look like secrets
// (token, key, signature, password and the like) by "xxxxx", in the query and in the
// fragment. It cuts the result after 2,048 bytes. It accepts malformed URLs, and returns
// a file name unchanged.
func RedactURL(raw string) string {
	const longest = 2048
	shown := redact(raw)
	if len(shown) > longest {
		shown = strings.ToValidUTF8(shown[:longest], "") + "…"
	}
	return shown
}

func redact(raw string) string {
	rest, fragment, hasFragment := strings.Cut(raw, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	if scheme, after, ok := strings.Cut(rest, "//"); ok && (scheme == "" || strings.HasSuffix(scheme, ":")) {
		end := strings.IndexByte(after, '/')
		if end < 0 {
			end = len(after)
		}
		if at := strings.LastIndexByte(after[:end], '@'); at >= 0 {
			rest = scheme + "//" + after[at+1:]
		}
	}
	if hasQuery {
		rest += "?" + redactParams(query)
	}
	if hasFragment {
		rest += "#" + redactParams(fragment)
	}
	return rest
}

func redactParams(params string) string {
	if !strings.Contains(params, "=") {
		return params
	}
	var b strings.Builder
	for len(params) > 0 {
		end := strings.IndexAny(params, "&;?")
		if end < 0 {
			end = len(params)
		}
		name, _, ok := strings.Cut(params[:end], "=")
		if ok && isSecret(name) {
			b.WriteString(name + "=xxxxx")
		} else {
			b.WriteString(params[:end])
		}
		if end < len(params) {
			b.WriteByte(params[end])
			end++
		}
		params = params[end:]
	}
	return b.String()
}

func isSecret(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	for _, s := range secretNames {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}
