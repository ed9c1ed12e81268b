package publish

import (
	"slices"
	"strconv"
	"strings"
)

// acceptsGzip reports whether gzip is acceptable and has at least the weight of identity
// (RFC 9110 §12.5.3). If neither is acceptable, the answer has no coding.
func acceptsGzip(values []string) bool {
	gzip, identity, others := -1.0, -1.0, -1.0 // -1: not listed
	for item := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, params, _ := strings.Cut(item, ";")
		q := quality(params)
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			gzip = max(gzip, q)
		case "identity":
			identity = q
		case "*":
			others = q
		}
	}
	if gzip < 0 {
		gzip = others
	}
	return gzip > 0 && gzip >= identity
}

// quality parses a weight (RFC 9110 §12.4.2). An invalid one is 0.
func quality(params string) float64 {
	text := strings.TrimSpace(params)
	if text == "" {
		return 1
	}
	name, value, _ := strings.Cut(text, "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}

// textTypes are the media types of text that are neither text/* nor end in +xml or +json.
var textTypes = []string{
	"application/ecmascript", "application/javascript", "application/json", "application/n-quads", "application/n-triples",
	"application/rtf", "application/trig", "application/x-ndjson", "application/xml", "application/xml-dtd", "application/yaml",
}

// compressible reports whether a media type is one of text, which is worth compressing.
func compressible(mediaType string) bool {
	name, _, _ := strings.Cut(mediaType, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	_, suffix, _ := strings.Cut(name, "+")
	return strings.HasPrefix(name, "text/") || suffix == "xml" || suffix == "json" || slices.Contains(textTypes, name)
}
