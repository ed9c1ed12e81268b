package cli

import (
	"slices"

	"github.com/websync-go/websync"
	"github.com/websync-go/websync/harvest"
	"github.com/websync-go/websync/sitemap"
	"github.com/websync-go/websync/sitemap/google"
)

// A Selection is what is taken of a source, and what is got besides.
type Selection struct {
	harvest.Filter
	Also []string // relations of links; and image and video, those of sitemaps
}

// Declare declares the flags.
func (s *Selection) Declare(l *Line) {
	l.List(&s.Include, "include")
	l.List(&s.Exclude, "exclude")
	l.Words(&s.Also, "also")
}

// Relations returns those of the links that are got, too.
func (s *Selection) Relations() (rels []string) {
	for _, word := range s.Also {
		if word == "image" || word == "video" {
			word = "enclosure"
		}
		if !slices.Contains(rels, word) {
			rels = append(rels, word)
		}
	}
	return rels
}

// extend returns what makes links of the images, videos and alternates of a sitemap that
// are got, too.
func (s *Selection) extend() func(*sitemap.Reader) sitemap.Extended {
	if len(s.Also) == 0 {
		return nil
	}
	entry := func(_ *sitemap.View, ev *harvest.Event) {
		r := &ev.Resource
		add := func(word string, link websync.Link) {
			if slices.Contains(s.Also, word) && link.Href != "" {
				r.Links = append(r.Links, link)
			}
		}
		e := &sitemap.Entry{Loc: r.ID, Elements: r.Elements}
		images, _ := google.Images(e) // without those that can't be read
		for i := range images {
			add("image", websync.Link{Rel: "enclosure", Href: images[i].Loc, Title: images[i].Title})
		}
		videos, _ := google.Videos(e)
		for i := range videos {
			add("video", websync.Link{Rel: "enclosure", Href: videos[i].Content, Title: videos[i].Title})
			add("video", websync.Link{Rel: "enclosure", Href: videos[i].Thumbnail})
		}
		alternates, _ := e.Alternates()
		for _, a := range alternates {
			add("alternate", websync.Link{Rel: "alternate", Href: a.Href, Lang: a.Lang})
		}
	}
	return func(*sitemap.Reader) sitemap.Extended { return sitemap.Extended{Entry: entry} }
}
