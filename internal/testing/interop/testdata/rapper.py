# What raptor's parser of feeds makes of one, as triples. Links have no order there.
import json, subprocess, sys
import rdflib
from rdflib.namespace import DC, RDF

rss, atom = "http://purl.org/rss/1.0/", "http://www.w3.org/2005/Atom"
command = ["rapper", "-q", "-i", "rss-tag-soup", "-o", "ntriples", sys.argv[1]]
text = subprocess.run(command, capture_output=True, check=True).stdout
g = rdflib.Graph().parse(data=text, format="nt")
for e in g.subjects(RDF.type, rdflib.URIRef(rss + "item")):
    value = lambda s, p: g.value(s, rdflib.URIRef(p))
    links = {str(value(l, atom + "rel")): value(l, atom + "href") for l in g.objects(e, rdflib.URIRef(atom + "link"))}
    print(json.dumps({
        "id": str(e), "title": value(e, rss + "title"), "summary": value(e, rss + "description"),
        "updated": value(e, str(DC.date)), "published": value(e, atom + "published"), "enclosure": links.get("enclosure"),
    }))
