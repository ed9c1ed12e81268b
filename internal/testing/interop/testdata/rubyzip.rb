require 'digest'
require 'json'
require 'zip'

Zip::File.open(ARGV[0]) do |z|
  z.each { |e| puts JSON.generate(id: e.name, sha256: Digest::SHA256.hexdigest(e.get_input_stream.read), updated: e.time.to_i) }
end
