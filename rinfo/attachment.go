package rinfo

import (
	"fmt"
	"strings"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/internal/syntax"
)

// DCTermsNamespace is that of the attribute isFormatOf (§3.3.7).
const DCTermsNamespace = "http://purl.org/dc/terms/"

// AttachmentURL returns the URL under which a depot keeps an enclosure of a resource
// (§3.3.7). It begins with the ID of the resource and a slash. Then follows:
//
//   - if the link has a dct:isFormatOf, what that names below the ID, with a slash in
//     place of the number sign, a dot and the extension for the media type of the link:
//     the ID "…/livsfs/2006:22" and "…/livsfs/2006:22#bilaga_1" of type application/pdf
//     make "…/livsfs/2006:22/bilaga_1.pdf";
//   - otherwise the path from the directory of the content to the enclosure. If the
//     enclosure is below the ID, or below the content, the path begins there.
//
// It returns an error if the result is not below the ID, if a segment of it is not the
// name of a visible file, or if another enclosure or an alternate of the resource has the
// same URL. The result depends only on the ID, the content and the links of r.
func AttachmentURL(r *websync.Resource, link websync.Link) (string, error) {
	place, err := attachmentPlace(r, &link)
	if err != nil {
		return "", fmt.Errorf("rinfo: enclosure %.200q of %.200q: %w", websync.RedactURL(link.Href), websync.RedactURL(r.ID), err)
	}
	return directory(r.ID) + place, nil
}

// attachmentPlace returns what follows the directory of the ID in an AttachmentURL.
func attachmentPlace(r *websync.Resource, link *websync.Link) (string, error) {
	place, err := ownPlace(r, link)
	if err != nil {
		return "", err
	}
	for i := range r.Links {
		other := &r.Links[i]
		if other.Href == link.Href {
			continue
		}
		taken := ""
		switch syntax.RelationName(other.Rel) {
		case relEnclosure:
			taken, _ = ownPlace(r, other)
		case relAlternate:
			taken = alternatePlace(new(websync.Resource).BodyName(other))
		}
		if taken == place {
			return "", fmt.Errorf("its URL %.200q is also that of the %s %.200q",
				directory(r.ID)+place, other.Rel, websync.RedactURL(other.Href))
		}
	}
	return place, nil
}

// ownPlace is attachmentPlace without regard to other links.
func ownPlace(r *websync.Resource, link *websync.Link) (place string, err error) {
	if strings.ContainsAny(r.ID, "?#") || syntax.HTTPHost(r.ID) == 0 {
		return "", fmt.Errorf("the id must be an HTTP URL without query and fragment")
	}
	if format, ok := isFormatOf(link); ok {
		place, err = formatPlace(r.ID, format, link.Type)
	} else {
		place, err = hrefPlace(r, link.Href)
	}
	if err == nil && !isPlainPlace(place) {
		err = fmt.Errorf("%.200q is no path of a visible file below the id", place)
	}
	return place, err
}

// isFormatOf returns the value of dct:isFormatOf.
func isFormatOf(link *websync.Link) (value string, ok bool) {
	for _, a := range link.Attrs {
		if a.Space == DCTermsNamespace && a.Local == "isFormatOf" {
			return strings.TrimSpace(a.Value), true
		}
	}
	return "", false
}

// formatPlace returns the place of the file in which a part of the resource id, with the
// identifier format, is kept.
func formatPlace(id, format, mediaType string) (string, error) {
	base := directory(id)
	if strings.HasPrefix(format, "#") {
		base = id
	}
	named := string(syntax.AppendResolved(nil, base, []byte(format)))
	named = strings.Replace(named, "#", "/", 1)
	place, below := strings.CutPrefix(named, directory(id))
	if !below || place == "" {
		return "", fmt.Errorf("dct:isFormatOf is %.200q, and must be below the id", format)
	}
	extension := extensionOf(mediaType)
	if extension == "" {
		return "", fmt.Errorf("the media type %.100q has no known extension", mediaType)
	}
	return place + "." + extension, nil
}

// hrefPlace returns the place of an enclosure relative to the content.
func hrefPlace(r *websync.Resource, href string) (string, error) {
	if strings.ContainsAny(href, "?#") {
		return "", fmt.Errorf("it has neither a dct:isFormatOf nor a URL that is only a path")
	}
	_, end := syntax.SplitHTTP(href)
	_, idEnd := syntax.SplitHTTP(r.ID)
	if place, ok := strings.CutPrefix(href[end:], directory(r.ID[idEnd:])); ok && end > 0 {
		return place, nil
	}
	content, _, _ := strings.Cut(r.Content.Href, "#")
	content, _, _ = strings.Cut(content, "?")
	if _, end := syntax.SplitHTTP(content); end > 0 && end < len(content) {
		if place, ok := strings.CutPrefix(href, directory(content)); ok {
			return place, nil
		}
		if place, ok := strings.CutPrefix(href, content[:strings.LastIndexByte(content, '/')+1]); ok {
			return place, nil
		}
	}
	return "", fmt.Errorf("it has no dct:isFormatOf and is not below the directory of the content %.200q",
		websync.RedactURL(r.Content.Href))
}

// directory returns a URL or path with a slash at its end.
func directory(url string) string { return strings.TrimSuffix(url, "/") + "/" }

// isPlainPlace reports whether every segment of a place is the name of a visible file, in
// its canonical form.
func isPlainPlace(place string) bool {
	const base = "http://h/"
	plain := websync.PathLocator{Base: base, Own: []string{""}}
	for segment := range strings.SplitSeq(place, "/") {
		item := websync.Item{Resource: websync.Resource{ID: base + segment}}
		if segment == "" || plain.URL(&item, websync.ContentName) != item.Resource.ID {
			return false
		}
	}
	return true
}

// extensions are the media types whose files have an extension, and the extensions. The
// extension is also the name of an alternate of that type.
var extensions = [...]struct{ mediaType, extension string }{
	{"application/pdf", "pdf"},
	{"application/rdf+xml", "rdf"},
	{"text/turtle", "ttl"},
	{"application/n-triples", "nt"},
	{"application/ld+json", "jsonld"},
	{"text/html", "html"},
	{"application/xhtml+xml", "xhtml"},
	{"application/xml", "xml"},
	{"application/atom+xml", "atom"},
	{"text/plain", "txt"},
	{"text/csv", "csv"},
	{"text/css", "css"},
	{"application/json", "json"},
	{"application/rtf", "rtf"},
	{"application/msword", "doc"},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"},
	{"application/vnd.ms-excel", "xls"},
	{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"},
	{"application/vnd.ms-powerpoint", "ppt"},
	{"application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"},
	{"application/vnd.oasis.opendocument.text", "odt"},
	{"application/vnd.oasis.opendocument.spreadsheet", "ods"},
	{"application/epub+zip", "epub"},
	{"application/zip", "zip"},
	{"image/gif", "gif"},
	{"image/jpeg", "jpg"},
	{"image/png", "png"},
	{"image/svg+xml", "svg"},
	{"image/tiff", "tif"},
}

// extensionOf returns the extension for a media type, "" if there is none.
func extensionOf(mediaType string) string {
	essence := syntax.Essence(strings.TrimSpace(mediaType))
	for _, e := range extensions {
		if strings.EqualFold(essence, e.mediaType) {
			return e.extension
		}
	}
	return ""
}

// mediaTypeOf is the inverse of extensionOf.
func mediaTypeOf(extension string) string {
	for _, e := range extensions {
		if e.extension == extension {
			return e.mediaType
		}
	}
	return ""
}

// The names of the bodies of a resource are those of [websync.Resource.BodyName], except
// that of an enclosure with an AttachmentURL: it is "enclosure" and the place. So the URL
// of a body in a depot depends only on the id and the name.
const (
	relEnclosure = "enclosure"
	relAlternate = "alternate"
)

// bodyName returns the name of the body of an alternate or an enclosure.
func bodyName(r *websync.Resource, link *websync.Link) string {
	if syntax.RelationName(link.Rel) == relEnclosure && link.Href != r.Content.Href {
		if place, err := attachmentPlace(r, link); err == nil {
			return relEnclosure + " " + place
		}
	}
	return r.BodyName(link)
}

// alternatePlace returns the place of the alternate whose body has a name: the extension
// for its type and, after a comma, its language. It is "" for any other body.
func alternatePlace(body string) string {
	words := strings.Split(body, " ")
	if len(words) < 2 || len(words) > 3 || words[0] != relAlternate {
		return ""
	}
	place := extensionOf(words[1])
	if len(words) == 3 && place != "" {
		place += "," + words[2]
	}
	return place
}

// alternateAt is the inverse of alternatePlace.
func alternateAt(place string) (body string) {
	extension, lang, hasLang := strings.Cut(place, ",")
	mediaType := mediaTypeOf(extension)
	switch {
	case mediaType == "":
		return ""
	case !hasLang:
		return relAlternate + " " + mediaType
	case syntax.LanguageFault(lang) != "":
		return ""
	}
	return relAlternate + " " + mediaType + " " + lang
}
