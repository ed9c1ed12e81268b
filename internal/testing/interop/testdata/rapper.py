# What raptor's parser of feeds makes of one, as triples.
import json, subprocess, sys
import rdflib
from rdflib.namespace import RDF

rss, atom, enc = (rdflib.Namespace(n) for n in (
    "http://purl.org/rss/1.0/", "http://www.w3.org/2005/Atom", "http://purl.oclc.org/net/rss_2.0/enc#"))
text = subprocess.run(["rapper", "-q", "-i", "rss-tag-soup", "-o", "ntriples", sys.argv[1]], capture_output=True, check=True).stdout
g = rdflib.Graph().parse(data=text, format="nt")
print("\n".join(sorted(set(str(p) for p in g.predicates()))), file=sys.stderr)
for e in g.subjects(RDF.type, rss.item):
    print(json.dumps({"id": str(e), "link": g.value(e, rss.link), "title": g.value(e, rss.title)}))
