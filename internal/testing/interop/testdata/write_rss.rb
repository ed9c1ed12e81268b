require 'json'
require 'rss'

site = JSON.parse(File.read(ARGV[0]))
{ 'feed.atom' => 'atom', 'feed.rss' => '2.0', 'feed.rdf' => '1.0' }.each do |name, version|
  feed = RSS::Maker.make(version) do |m|
    m.channel.about = m.channel.id = m.channel.link = site['base']
    m.channel.title, m.channel.description, m.channel.author = 'Käse & Brot', 'All', 'Zoë'
    m.channel.updated = '2025-04-01T00:00:00Z'
    site['items'].each do |i|
      m.items.new_item do |e|
        e.id = e.link = i['id']
        e.guid.content = i['id']
        e.title, e.description, e.summary, e.author = i['title'], i['summary'], i['summary'], i['author']
        e.updated, e.published = i[version == 'atom' ? 'updated' : 'published'], i['published']
        e.enclosure.url, e.enclosure.type, e.enclosure.length = i['enclosure'], 'audio/mpeg', 1000
      end
    end
  end
  File.write("#{ARGV[1]}/#{name}", feed)
end
