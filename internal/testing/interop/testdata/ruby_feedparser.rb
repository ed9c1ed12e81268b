require 'feedparser'
require 'json'
require 'open-uri'

FeedParser::Feed.new(URI.open(ARGV[0]).read).items.each do |e|
  puts JSON.generate(id: e.xml.elements['id']&.text, link: e.link, title: e.title, summary: e.content, updated: e.date&.iso8601,
                     author: e.creator, enclosure: e.enclosures[0]&.at(0))
end
