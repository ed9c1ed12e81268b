package main

import "github.com/websync-go/websync/examples/internal/cli"

// A config is a configuration file, as help/relay.txt explains it.
type config struct {
	Store        string          `json:"store"`
	Addr         string          `json:"addr"`
	Base         string          `json:"base"`
	Publish      []configPublish `json:"publish"`
	Sources      []configSource  `json:"sources"`
	Subscribers  []string        `json:"subscribers"`
	Hubs         []string        `json:"hubs"`
	Rate         float64         `json:"rate"`
	Concurrency  int             `json:"concurrency"`
	AllowPrivate bool            `json:"allow_private"`
	Netrc        string          `json:"netrc"`
	Contact      string          `json:"contact"`
	UserAgent    string          `json:"user_agent"`
	SameHost     bool            `json:"same_host"`
	Status       string          `json:"status"`
	StatusHosts  []string        `json:"status_hosts"`
	Report       string          `json:"report"`
	Quota        configQuota     `json:"quota"`
	Retain       configRetain    `json:"retain"`
}

// A configSource is an element of sources.
type configSource struct {
	URL      string       `json:"url"`
	Protocol string       `json:"protocol"`
	Feed     string       `json:"feed"`
	Complete bool         `json:"complete"`
	Acts     cli.Acts     `json:"acts"`
	Include  []string     `json:"include"`
	Exclude  []string     `json:"exclude"`
	Also     []string     `json:"also"`
	Every    string       `json:"every"`
	Daily    []string     `json:"daily"`
	Zone     string       `json:"zone"`
	Jitter   string       `json:"jitter"`
	Interval string       `json:"interval"`
	Budget   configBudget `json:"budget"`
	Pings    []string     `json:"pings"`
	Hub      string       `json:"hub"`
	Payloads bool         `json:"payloads"`

	Scope       []string `json:"scope"`
	Rank        int      `json:"rank"`
	Quarantined bool     `json:"quarantined"`
	SameHost    bool     `json:"same_host"`
	Credentials []string `json:"credentials"`

	Quota configQuota `json:"quota"`
}

// A configBudget is the field budget of a source. What is zero or empty has no limit.
type configBudget struct {
	Time     string `json:"time"`
	Requests int64  `json:"requests"`
	Bytes    int64  `json:"bytes"`
}

// A configQuota is a field quota. What is zero in that of a source is that of all
// sources, or else of defaultQuota; what is negative has no limit.
type configQuota struct {
	Records      int64 `json:"records"`
	Bodies       int64 `json:"bodies"`
	Descriptions int64 `json:"descriptions"`
	Description  int64 `json:"description"`
	Entries      int64 `json:"entries"`
}

// A configRetain is the field retain, in days: what is zero is the default of
// harvest.Retention, and what is negative stays for ever.
type configRetain struct {
	Log    int `json:"log"`
	Bodies int `json:"bodies"`
}

// A configPublish is an element of publish.
type configPublish struct {
	Protocol string `json:"protocol"`
	Path     string `json:"path"`
	Dumps    string `json:"dumps"`
	Repack   string `json:"repack"`
	ListSize int    `json:"list_size"`
	MaxLists int    `json:"max_lists"`
	Inline   int    `json:"inline"`
}
