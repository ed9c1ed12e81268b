package main

// The doc comments of the fields are the reference of the configuration file: -h prints
// them.

// A Config is a configuration file: one JSON object with these fields, all but sources
// optional. Times are texts such as "90s", "15m" or "1h30m". File names are relative to
// the directory in which the program runs.
type Config struct {
	// Where everything is kept: "sqlite:FILE", or "mem", which ends with the program. If
	// empty, it is "sqlite:relay.db".
	Store string `json:"store"`

	// The address to serve at, HOST:PORT. Port 0 is any that is free. If empty, it is
	// "localhost:8080".
	Addr string `json:"addr"`

	// The URL under which readers find the documents, for example that of a proxy in
	// front of the program. If empty, it is http:// and the address.
	Base string `json:"base"`

	// How the store is published: by one protocol or several at once. If empty, it is by
	// ResourceSync.
	Publish []Publish `json:"publish"`

	// What is harvested.
	Sources []Source `json:"sources"`

	// URLs that are posted a form after a run that has changed something: its fields url
	// and feed have the URL at which a reader begins.
	Subscribers []string `json:"subscribers"`

	// WebSub hubs that are notified after a run that has changed something. The documents
	// of feeds and of ResourceSync name them. By ResourceSync they are posted the
	// changes.
	Hubs []string `json:"hubs"`

	// Requests a second and host. If zero, it is 5, and one in five seconds for
	// legislation.
	Rate float64 `json:"rate"`

	// How many sources run at the same time, but only one of each host. If zero, it is 4.
	Concurrency int `json:"concurrency"`

	// Allows private and loopback addresses for all hosts, not only for those of the
	// sources.
	AllowPrivate bool `json:"allow_private"`

	// The address to serve a status page at, HOST:PORT: how far each source lags behind,
	// its runs, what waits and why, pictures, and status.json with the same. It is for
	// those who run the program, and should not be open to others. If empty, there is
	// none.
	Status string `json:"status"`

	// A file for a page of HTML about the runs: in step or not, what to do, pictures,
	// numbers. If empty, there is none.
	Report string `json:"report"`
}

// A Source is an element of sources.
type Source struct {
	// The URL of a document of the source, or of a page or a host that leads to one. A
	// user name and password in it are sent only to its origin, and are not stored. It is
	// required.
	URL string `json:"url"`

	// sitemap, atom, atompmh, resourcesync, rinfo or eli. If empty, it is auto: what the
	// URL offers is found out once, and kept in the store.
	Protocol string `json:"protocol"`

	// The URL of the update feed that belongs to a sitemap of legislation (protocol eli).
	// If empty, it is found out.
	Feed string `json:"feed"`

	// States that the sitemap lists everything: what it no longer lists is deleted.
	Complete bool `json:"complete"`

	// The time from the end of a run to the next, or "never": then the source runs at the
	// start, after notices, and when work is left. If empty, it is "1h".
	Every string `json:"every"`

	// The times of the day at which the source runs instead, such as "03:30" or
	// "03:30:15".
	Daily []string `json:"daily"`

	// The time zone of daily, such as "Europe/Stockholm". If empty, it is UTC.
	Zone string `json:"zone"`

	// Each run that every or daily causes is delayed by a random time up to this. If
	// empty, it is a tenth of every, or "5m" with daily; "0s" is none.
	Jitter string `json:"jitter"`

	// The least time from the end of a run to the beginning of the next, whatever causes
	// it. If empty, it is "10s"; "0s" is none.
	Interval string `json:"interval"`

	// What a run may spend on getting resources. What is left is got after interval.
	Budget Budget `json:"budget"`

	// More URLs of which a ping makes the source run, besides those of its documents.
	Pings []string `json:"pings"`

	// The WebSub hub that announces changes of the source. The program subscribes there;
	// base must be a URL at which the hub reaches it.
	Hub string `json:"hub"`

	// What is subscribed to at the hub: the URL of the link self. If empty, it is url.
	Topic string `json:"topic"`

	// Applies the changes that the hub's signed notices list, without asking the source:
	// the hub is trusted as much as the source is. It is for ResourceSync; for others a
	// notice makes the source run.
	Payloads bool `json:"payloads"`
}

// A Budget is the field budget of a source. What is zero or empty has no limit.
type Budget struct {
	// The time that getting may take.
	Time string `json:"time"`

	// The number of requests for resources.
	Requests int64 `json:"requests"`

	// The bytes of resources.
	Bytes int64 `json:"bytes"`
}

// A Publish is an element of publish.
type Publish struct {
	// sitemap, atom, atompmh, resourcesync or rinfo, each once. It is required.
	Protocol string `json:"protocol"`

	// The path, below base, of the document at which a reader begins. If empty, it is
	// "sitemap.xml", "capabilitylist.xml", or "feed.atom": of several feeds each needs
	// another.
	Path string `json:"path"`

	// A directory for the packages of Resource Dumps and Change Dumps (ResourceSync). If
	// empty, there are no dumps.
	Dumps string `json:"dumps"`

	// The time between two packings of what has changed. If empty, it is "1m".
	Repack string `json:"repack"`

	// After how many changes a Change List is closed (ResourceSync). If zero, it is
	// 10,000.
	ListSize int `json:"list_size"`

	// How many closed Change Lists, and packages of changes, are listed: the latest
	// (ResourceSync). If zero, it is all.
	MaxLists int `json:"max_lists"`
}
