require 'json'
require 'open-uri'
require 'rss'

RSS::Parser.parse(URI.open(ARGV[0]).read).entries.each do |e|
  link = ->(rel) { e.links.find { |l| (l.rel || 'alternate') == rel }&.href }
  puts JSON.generate(id: e.id.content, link: link['alternate'], title: e.title.content, summary: e.summary&.content,
                     updated: e.updated&.content&.iso8601, published: e.published&.content&.iso8601,
                     author: e.author&.name&.content, lang: e.lang, enclosure: link['enclosure'])
end
