package websync

import "errors"

// A Place is where a Publisher publishes, and what. Publishers embed it. The Site of
// package publish sets the fields that the Publishers of a site share.
type Place struct {
	// Catalog is what to publish. It is required.
	Catalog Catalog

	// Base is the absolute URL under which documents and bodies lie. It ends in a slash.
	// It is required.
	Base string

	// Own are the sources that are the publisher's own work: their resources keep URLs
	// below Base, see [PathLocator].
	Own []string

	// Sources are the sources that are published; if empty, all. No two of them should
	// have an id in common: readers would see the resources of both under it.
	Sources []string

	// Locator gives bodies their URLs. It must be the one with which they are served. If
	// nil, it is a [PathLocator] with Base, Own and Reserved of the Publisher.
	Locator Locator

	// MaxDescription limits the description of a resource in a document, in bytes, as
	// [Resource.Size] counts them, unless its source is own. What does not fit is left out, which is a finding:
	// first elements, then links other than via and describedby, then the summary; a
	// title is cut. If zero, it is 64 KiB; if negative, there is no limit.
	MaxDescription int

	// Report, if set, receives a finding for each resource that can't be listed, or of
	// which something is left out, and for each whose id another source had first, when a
	// document with it is written for the first time since it has changed. It may be
	// called from several goroutines.
	Report func(Finding)
}

// Settle sets the fields that are not set to those of common. It returns an error if
// Catalog or Locator is set: all that a site publishes comes from one Catalog and has the
// URLs of one Locator, and a Publisher belongs to one site.
func (p *Place) Settle(common Place) error {
	if p.Catalog != nil || p.Locator != nil {
		return errors.New("Publisher.Catalog or Locator is set already: each Site needs Publishers of its own, without these")
	}
	p.Catalog, p.Locator = common.Catalog, common.Locator
	if p.Base == "" {
		p.Base = common.Base
	}
	if p.Own == nil {
		p.Own = common.Own
	}
	if p.Sources == nil {
		p.Sources = common.Sources
	}
	if p.MaxDescription == 0 {
		p.MaxDescription = common.MaxDescription
	}
	if p.Report == nil {
		p.Report = common.Report
	}
	return nil
}
