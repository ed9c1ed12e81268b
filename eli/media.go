package eli

import (
	"strings"

	"github.com/websync-go/websync/eli/rdf"
	"github.com/websync-go/websync/internal/syntax"
)

// The media types of annex 4.2, in its order.
const (
	typeHTML  = "text/html"
	typeXHTML = "application/xhtml+xml"
	typeXML   = "application/xml"
	typePDF   = "application/pdf"
)

// registry is what the URIs of media types begin with, as the specification writes them.
const registry = "https://www.iana.org/assignments/media-types/"

// shortTypes are the media types of file types and extensions, in lower case.
var shortTypes = map[string]string{
	"html": typeHTML, "htm": typeHTML, "html5": typeHTML, "html_simpl": typeHTML,
	"xhtml": typeXHTML, "xht": typeXHTML, "xhtml5": typeXHTML, "xhtml_simpl": typeXHTML,
	"xml": typeXML, "fmx2": typeXML, "fmx3": typeXML, "fmx4": typeXML, "akn": typeXML, "akn4eu": typeXML,
	"akomantoso": typeXML, "formex": typeXML,
	"pdf": typePDF, "pdf1x": typePDF, "pdfx": typePDF, "pdfx1a": typePDF, "pdfx2": typePDF, "pdfx4": typePDF,
	"pdfa1a": typePDF, "pdfa1b": typePDF, "pdfa2a": typePDF, "pdfa2b": typePDF, "pdfa3": typePDF,
	"doc": "application/msword", "rtf": "application/rtf", "txt": "text/plain", "csv": "text/csv",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"odt":  "application/vnd.oasis.opendocument.text", "epub": "application/epub+zip", "zip": "application/zip",
	"json": "application/json", "jsonld": "application/ld+json", "json_ld": "application/ld+json",
	"rdf_xml": "application/rdf+xml", "rdf": "application/rdf+xml", "ttl": "text/turtle", "rdf_turtle": "text/turtle",
	"tiff": "image/tiff", "tif": "image/tiff", "jpeg": "image/jpeg", "jpg": "image/jpeg", "png": "image/png",
}

// otherTypes are media types that stand for those of annex 4.2.
var otherTypes = map[string]string{
	"application/html": typeHTML, "text/htm": typeHTML, "application/xhtml": typeXHTML, "text/xhtml": typeXHTML,
	"text/xhtml+xml": typeXHTML, "application/x-pdf": typePDF, "text/pdf": typePDF,
}

// kindOf returns the type of annex 4.2 that a media type stands for, or else that type
// itself. XML for an act is a file of XML of any vocabulary, such as
// application/akn+xml, but no metadata, no feed and no picture.
func kindOf(media string) string {
	kind, other := otherTypes[media]
	switch {
	case other:
		return kind
	case !syntax.IsXML(media), media == typeXHTML, media == "application/rdf+xml", strings.HasPrefix(media, "image/"),
		media == "application/atom+xml", media == "application/rss+xml":
		return media
	}
	return typeXML
}

// mediaType returns the media type that a value of media_type or format states, in lower
// case and without parameters; "" if it is not known. Departure is how the value departs
// from the specification, or "".
func mediaType(t rdf.Term) (media, departure string) {
	value := strings.TrimSpace(t.Value)
	if t.Kind == rdf.KindIRI {
		if media, departure = registeredType(value); media != "" {
			return media, departure
		}
		if at := strings.Index(value, "/authority/file-type/"); at >= 0 {
			return shortTypes[strings.ToLower(lastStep(value))], "a file type of the EU"
		}
		return "", "a URI that is not of IANA's registry"
	}
	if media, _ = registeredType(value); media != "" {
		return media, "a literal"
	}
	if essence, _ := cutParameters(value); isMediaType(essence) {
		return strings.ToLower(essence), "a literal"
	}
	return shortTypes[strings.ToLower(strings.TrimPrefix(value, "."))], "a literal"
}

// registeredType returns the media type of a URI of IANA's registry.
func registeredType(uri string) (media, departure string) {
	at := strings.Index(uri, "/media-types/")
	host, end := syntax.SplitHTTP(uri)
	if at < 0 || end == 0 || !strings.HasSuffix(strings.ToLower(uri[host:end]), "iana.org") {
		return "", ""
	}
	essence, parameters := cutParameters(strings.Trim(uri[at+len("/media-types/"):], "/"))
	if !isMediaType(essence) {
		return "", ""
	}
	media = strings.ToLower(essence)
	switch {
	case parameters:
		departure = "a URI with parameters"
	case uri != registry+media:
		departure = "another spelling of the registry's URI"
	}
	return media, departure
}

// cutParameters returns a media type without its parameters, which may be escaped.
func cutParameters(s string) (essence string, parameters bool) {
	s = strings.NewReplacer("%3B", ";", "%3b", ";").Replace(s)
	essence, _, parameters = strings.Cut(s, ";")
	return strings.TrimSpace(essence), parameters
}

func isMediaType(s string) bool { return syntax.MediaTypeFault(s) == "" }

// typeOfURI returns the media type that the last step of a URI's path names, or its
// extension; "" if there is none.
func typeOfURI(uri string) string {
	step := strings.ToLower(lastStep(uri))
	if media := shortTypes[step]; media != "" {
		return media
	}
	return shortTypes[step[strings.LastIndexByte(step, '.')+1:]]
}
